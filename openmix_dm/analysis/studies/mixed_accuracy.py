"""Top-1 and top-2 accuracy on mixed test images by lam, the same images for all models (Figures 3, 5 and A1)."""

from collections.abc import Sequence
from typing import Any

import torch

from openmix_dm.analysis.mix_blocks import NamedBlock, check_block, load_blocks
from openmix_dm.analysis.mixed_images import Pairs, draw_pairs, mix_pixels, pixel_mixer
from openmix_dm.analysis.models import ModelSelection, NamedModel, check_same_data, load_models
from openmix_dm.errors import ConfigError
from openmix_dm.evaluation.mixed_hits import count_by_bin, mixed_hits, nearest_bin
from openmix_dm.evaluation.pixels import logits_of
from openmix_dm.mixers import Mixer
from openmix_dm.utils.progress import track
from openmix_dm.visualization import charts
from openmix_dm.visualization.lone_mixers import named_mixer
from openmix_dm.visualization.style import styled

KINDS = ('top1', 'top2')
FEW = 30  # images: an accuracy over fewer is in the record, but not in the figure


def run(
    selection: ModelSelection, *, mixers: Sequence[str], lams: Sequence[float], seed: int, mix_block: Sequence[str]
) -> tuple[Any, dict[str, Any]]:
    """Count for every model and mixer; return figure and record."""
    if min(lams) < 0 or max(lams) > 1:
        raise ConfigError(f'--lams must be in [0, 1], got {lams}')
    learned = [name for name in dict.fromkeys(mixers) if named_mixer(name).needs_model]
    mixing: dict[str, Mixer | NamedBlock] = {name: pixel_mixer(name) for name in mixers if name not in learned}
    blocks = load_blocks(mix_block, learned, selection)
    models, weights = load_models(selection), sorted(set(lams))
    check_same_data(models)
    for block in blocks.values():
        check_block(block, models[0])
    data = models[0].data
    pairs = draw_pairs(data.dataset.labels, data.places(selection.limit), seed)
    mixed = {name: count(models, name, {**mixing, **blocks}[name], pairs, weights, seed) for name in mixers}
    record: dict[str, Any] = {
        'lams': weights,
        'bins': 'each image counts for the lam that is nearest to what its pixels really show',
        'pairs': len(pairs.own),
        'seed': seed,
        'mix_blocks': {name: block.owner.describe() for name, block in blocks.items()},
        'runs': [
            {**model.describe(), 'mixers': {name: result[number] for name, result in mixed.items()}}
            for number, model in enumerate(models)
        ],
    }
    if blocks:
        record['bins'] += f', one of {", ".join(blocks)} for the lam that its mask was asked for'
    return draw(weights, record['runs'], {name: blocks.get(name) for name in mixers}), record


def count(
    models: list[NamedModel], name: str, mixer: Mixer | NamedBlock, pairs: Pairs, lams: list[float], seed: int
) -> list[dict[str, Any]]:
    """Return for each model the accuracies in percent by bin of lam, and how many images each bin has."""
    data, centres = models[0].data, torch.tensor(lams)
    batches = pairs.cut(data.batch_size)
    hits = torch.zeros(len(models), len(KINDS), len(lams), dtype=torch.int64)
    images = torch.zeros(len(lams), dtype=torch.int64)
    for places, shown, labels in track(data.read(batches, models[0].device), len(batches), f'mixed-accuracy {name}'):
        y_a, y_b = labels.chunk(2)
        for number, lam in enumerate(lams):
            mixed = mix_pixels(mixer, shown, lam, seed, number, places[0])
            bins = nearest_bin(mixed.lam.cpu(), centres)
            images += count_by_bin(torch.ones_like(y_a), bins, len(lams))
            for row, model in enumerate(models):
                with torch.no_grad():
                    found = mixed_hits(logits_of(model.network, mixed.inputs), y_a, y_b)
                for kind, each in enumerate(found):
                    hits[row, kind] += count_by_bin(each, bins, len(lams))
    return [_percent(hits[row], images) for row in range(len(models))]


def _percent(hits: torch.Tensor, images: torch.Tensor) -> dict[str, Any]:
    by_kind: dict[str, Any] = {
        kind: [100 * hit / total if total else None for hit, total in zip(row, images.tolist(), strict=True)]
        for kind, row in zip(KINDS, hits.tolist(), strict=True)
    }
    total = max(int(images.sum()), 1)
    means = {f'{kind}_mean': 100 * int(row.sum()) / total for kind, row in zip(KINDS, hits, strict=True)}
    return {**by_kind, 'images': images.tolist(), **means}


@styled
def draw(lams: list[float], rows: list[dict[str, Any]], mixers: dict[str, NamedBlock | None]) -> Any:
    """Draw a row of two panels for each mixer; a learned one with the name of the run whose block has mixed."""
    figure, axes = charts.plain_figure(len(KINDS), len(mixers), width=4.2, height=3.0)
    for band, (mixer, block) in enumerate(mixers.items()):
        whose = f'\nmix block of {charts.end_of(block.owner.name)}' if block else ''
        for column, kind in enumerate(KINDS):
            axis = axes[band][column]
            for number, row in enumerate(rows):
                found = row['mixers'][mixer]
                drawn = [(lam, y) for lam, y, n in zip(lams, found[kind], found['images'], strict=True) if n >= FEW]
                axis.plot(
                    [lam for lam, _ in drawn], [y for _, y in drawn], label=row['name'], **charts.line_style(number)
                )
            axis.set_xlim(lams[0] - 0.03, lams[-1] + 0.03)  # one for all mixers, wherever they have enough images
            if not drawn:
                axis.text(0.5, 0.5, f'fewer than {FEW} images at each lam', transform=axis.transAxes, ha='center')
            words = 'best class is one of the two' if kind == 'top1' else 'two best classes are the two'
            charts.finish(axis, f'{mixer}, top-{kind[-1]}: {words}{whose}', 'lam', f'{kind[:3]}-{kind[-1]} in %')
    charts.add_legend(figure, axes[0][0])
    return figure
