"""The two kinds of hard CutMix samples (Figure 2), and what models make of them."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from openmix_dm.analysis.hard_boxes import HardBox, hardest_box
from openmix_dm.analysis.mixed_images import draw_pairs
from openmix_dm.analysis.models import ModelSelection, NamedModel, check_same_data, load_models
from openmix_dm.errors import ConfigError
from openmix_dm.evaluation.pixels import logits_of
from openmix_dm.mixers.fine_grained_saliency import fine_grained_saliency
from openmix_dm.visualization import charts
from openmix_dm.visualization.sample_images import load_images
from openmix_dm.visualization.style import bare, styled


@dataclass(frozen=True)
class Sample:
    """A hard mixed image (3, H, W) of classes a and b; lam weighs a."""

    image: Tensor
    lam: float
    hard: HardBox
    kind: str


def run(
    selection: ModelSelection, *, images: str | None, weight: float, n: int, seed: int
) -> tuple[Any, dict[str, Any]]:
    """Make both kinds for each pair, show them to the models; return figure and record."""
    if not 0 < weight < 1 or n < 1:
        raise ConfigError(f'--weight must be in (0, 1) and --n at least 1, got {weight} and {n}')
    if selection.runs and images:
        raise ConfigError('--images is for pictures without runs: models are shown their own test images')
    models = load_models(selection) if selection.runs else []
    pairs = test_pairs(models, selection.limit, n, seed) if models else source_pairs(images, n)
    rows, samples = [], []
    for own, partner, a, b, y_a, y_b in pairs:
        made = make_samples(own, partner, weight)
        samples.append((own, partner, made))
        rows.append({'a': a, 'b': b, 'samples': [_describe(each, models, y_a, y_b) for each in made]})
    record = {'weight': weight, 'runs': [model.describe() for model in models], 'pairs': rows}
    return draw(samples, rows), record


Pair = tuple[Tensor, Tensor, str, str, int, int]  # own image, partner, their classes by name and by number


def test_pairs(models: list[NamedModel], limit: int | None, n: int, seed: int) -> list[Pair]:
    """Draw pairs of test images."""
    check_same_data(models)
    data = models[0].data
    pairs = draw_pairs(data.dataset.labels, data.places(limit), seed)
    places = [pairs.own[:n], pairs.partner[:n]]
    (_, own, y_a), (_, partner, y_b) = data.read(places, torch.device('cpu'))
    return [
        (own[i], partner[i], data.name_of(int(y_a[i])), data.name_of(int(y_b[i])), int(y_a[i]), int(y_b[i]))
        for i in range(len(own))
    ]


def source_pairs(source: str | None, n: int) -> list[Pair]:
    """Take neighbours of the images that the command line names."""
    images, labels, names = load_images(source or 'photos', 2 * n)
    return [
        (images[i], images[i + 1], names[int(labels[i])], names[int(labels[i + 1])], int(labels[i]), int(labels[i + 1]))
        for i in range(0, len(images) - 1, 2)
    ]


def make_samples(own: Tensor, partner: Tensor, weight: float) -> list[Sample]:
    """Return both kinds: a small box that shows the partner's salient part, a large one that leaves the own one."""
    saliency = fine_grained_saliency(torch.stack([own, partner]) * 255).numpy()
    small = hardest_box(saliency[1], weight, 'inside')
    large = hardest_box(saliency[0], weight, 'outside')
    return [
        Sample(paste(own, partner, small), 1 - small.weight, small, 'b is small in the label, large in sight'),
        Sample(paste(own, partner, large), large.weight, large, 'a is small in the label, large in sight'),
    ]


def paste(own: Tensor, partner: Tensor, hard: HardBox) -> Tensor:
    """Return the own image with the box of the partner in it."""
    box, mixed = hard.box, own.clone()
    part = (slice(None), slice(box.top, box.bottom), slice(box.left, box.right))
    mixed[part] = partner[part]
    return mixed


def _describe(sample: Sample, models: list[NamedModel], y_a: int, y_b: int) -> dict[str, Any]:
    seen = {}
    for model in models:
        with torch.no_grad():
            p = logits_of(model.network, sample.image[None].to(model.device)).float().softmax(dim=1)[0]
        seen[model.name] = {'p_a': float(p[y_a]), 'p_b': float(p[y_b])}
    box = sample.hard.box
    return {
        'kind': sample.kind,
        'lam': sample.lam,
        'box': {'top': box.top, 'bottom': box.bottom, 'left': box.left, 'right': box.right},
        'label_weight': sample.hard.weight,
        'share_of_saliency': sample.hard.evidence,
        'models': seen,
    }


@styled
def draw(samples: list[tuple[Tensor, Tensor, list[Sample]]], rows: list[dict[str, Any]]) -> Any:
    """Draw a row for each pair: a, b, and the two hard samples."""
    models = len(rows[0]['samples'][0]['models'])
    figure, axes = charts.plain_figure(4, len(rows), width=2.3, height=2.75 + 0.16 * models)
    for axis_row, (own, partner, made), row in zip(axes, samples, rows, strict=True):
        _picture(axis_row[0], own, f'a: {row["a"]}', '')
        _picture(axis_row[1], partner, f'b: {row["b"]}', '')
        for axis, sample, facts in zip(axis_row[2:], made, row['samples'], strict=True):
            lam, side = sample.lam, 'b' if sample is made[0] else 'a'
            words = [f'{sample.hard.evidence:.0%} of the salience of {side}']
            words += [f'{name}: a {p["p_a"]:.2f}, b {p["p_b"]:.2f}' for name, p in facts['models'].items()]
            _picture(axis, sample.image, f'label {lam:.2f} a + {1 - lam:.2f} b', '\n'.join(words))
    return figure


def _picture(axis: Any, image: Tensor, title: str, below: str) -> None:
    axis.imshow(image.permute(1, 2, 0).numpy(), interpolation='nearest', vmin=0, vmax=1)
    bare(axis)
    axis.set_title(title, fontsize=8)
    axis.set_xlabel(below, fontsize=7.5)
