"""Error under FGSM, and under PGD if asked for, against the strength of the attack (Table A7)."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch

from openmix_dm.analysis.models import ModelSelection, NamedModel, load_models
from openmix_dm.errors import ConfigError
from openmix_dm.evaluation import attacks
from openmix_dm.evaluation.pixels import logits_of
from openmix_dm.utils.keys import key
from openmix_dm.utils.progress import track
from openmix_dm.visualization import charts
from openmix_dm.visualization.style import styled


def run(selection: ModelSelection, *, eps: Sequence[float], pgd: int, seed: int) -> tuple[Any, dict[str, Any]]:
    """Attack every model; return figure and record."""
    if min(eps) < 0 or max(eps) > 255 or pgd < 0:
        raise ConfigError(f'--eps must be in [0, 255] and --pgd 0 or above, got {eps} and {pgd}')
    models, strengths = load_models(selection), sorted(set(eps))
    rows = [{**model.describe(), **attack(model, strengths, pgd, selection.limit, seed)} for model in models]
    record = {'eps_255': strengths, 'pgd_steps': pgd, 'error': 'percent of attacked test images', 'runs': rows}
    return draw(strengths, rows), record


def attack(model: NamedModel, eps: list[float], pgd_steps: int, limit: int | None, seed: int) -> dict[str, Any]:
    """Return the errors of one model in percent, one for each strength."""
    batches, total = model.batches(limit)
    wrong = {'fgsm': torch.zeros(len(eps)), 'pgd': torch.zeros(len(eps))}
    images = 0
    for places, shown, labels in track(batches, total, f'fgsm {model.name}'):
        sign = attacks.ascent_sign(
            model.network, shown, labels
        )  # one for all strengths: the gradient is at the image itself
        for number, strength in enumerate(eps):
            moved = {'fgsm': attacks.step_up(shown, sign, strength / 255)}
            if pgd_steps:
                draws = torch.Generator().manual_seed(key(seed, places[0]))
                moved['pgd'] = attacks.pgd(
                    model.network, shown, labels, strength / 255, steps=pgd_steps, generator=draws if strength else None
                )
            for kind, attacked in moved.items():
                with torch.no_grad():
                    wrong[kind][number] += (logits_of(model.network, attacked).argmax(1) != labels).sum().cpu()
        images += len(labels)
    kinds = ('fgsm', 'pgd') if pgd_steps else ('fgsm',)
    return {'images': images, **{kind: (100 * wrong[kind].double() / images).tolist() for kind in kinds}}


@styled
def draw(eps: list[float], rows: list[dict[str, Any]]) -> Any:
    """Draw the error against the strength: solid lines for FGSM, dashed ones for PGD."""
    figure, axes = charts.plain_figure()
    axis = axes[0][0]
    for number, row in enumerate(rows):
        line = partial(axis.plot, eps, **charts.line_style(number))
        line(row['fgsm'], label=row['name'] + (' FGSM' if 'pgd' in row else ''))
        if 'pgd' in row:
            line(row['pgd'], linestyle='--', label=f'{row["name"]} PGD')
    charts.finish(axis, 'Error under attack (lower is better)', 'eps in 1/255', 'error in %')
    axis.set_ylim(bottom=0)
    charts.add_legend(figure, axis)
    return figure
