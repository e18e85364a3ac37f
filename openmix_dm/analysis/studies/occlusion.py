"""Accuracy against the share of hidden patches (Figure 6)."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from openmix_dm.analysis.models import ModelSelection, NamedModel, load_models
from openmix_dm.errors import ConfigError
from openmix_dm.evaluation.hidden_patches import hidden_mask, hiding_order, occlude, patch_grid, usual_patch
from openmix_dm.evaluation.pixels import normalise
from openmix_dm.utils.progress import track
from openmix_dm.visualization import charts
from openmix_dm.visualization.style import styled


def run(
    selection: ModelSelection, *, ratios: Sequence[float], patch: int | None, fill: str, seed: int
) -> tuple[Any, dict[str, Any]]:
    """Hide patches from every model; return figure and record."""
    if patch is not None and patch < 1:
        raise ConfigError(f'--patch must be at least 1 pixel, got {patch}')
    if min(ratios) < 0 or max(ratios) > 1:
        raise ConfigError(f'--ratios must be in [0, 1], got {ratios}')
    models, shares = load_models(selection), sorted(set(ratios))
    rows = [{**model.describe(), **hide(model, shares, selection.limit, patch, fill, seed)} for model in models]
    record = {'ratios': shares, 'fill': fill, 'seed': seed, 'runs': rows}
    return draw(shares, rows), record


def hide(
    model: NamedModel, ratios: list[float], limit: int | None, side: int | None, fill: str, seed: int
) -> dict[str, Any]:
    """Return the accuracies of one model in percent, one for each ratio; each image has its own hidden patches."""
    batches, total = model.batches(limit)
    hits, images, patch = torch.zeros(len(ratios)), 0, 0
    for places, shown, labels in track(batches, total, f'occlusion {model.name}'):
        height, width = shown.shape[-2:]
        patch = side or usual_patch(height, width)
        if patch > min(height, width):
            raise ConfigError(f'--patch must be at most the {min(height, width)} pixels of the images, got {patch}')
        rows, columns = patch_grid(height, width, patch)
        order = hiding_order(places, rows * columns, seed)
        inputs = normalise(model.network, shown)
        cover: float | Tensor = 0.0 if fill == 'mean' else normalise(model.network, torch.zeros_like(shown))
        for number, ratio in enumerate(ratios):
            with torch.no_grad():
                logits = model.network(occlude(inputs, hidden_mask(order, ratio, height, width, patch), cover))
            hits[number] += (logits.argmax(1) == labels).sum().cpu()
        images += len(labels)
    return {'images': images, 'patch': patch, 'accuracy': (100 * hits.double() / images).tolist()}


@styled
def draw(ratios: list[float], rows: list[dict[str, Any]]) -> Any:
    """Draw the accuracy against the hidden share."""
    figure, axes = charts.plain_figure()
    axis = axes[0][0]
    for number, row in enumerate(rows):
        axis.plot(ratios, row['accuracy'], label=row['name'], **charts.line_style(number))
    charts.finish(axis, 'Accuracy under occlusion', 'share of patches that are hidden', 'top-1 in %')
    axis.set_ylim(bottom=0)
    charts.add_legend(figure, axis)
    return figure
