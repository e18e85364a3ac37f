"""Reliability diagrams and expected calibration error."""

from dataclasses import asdict
from typing import Any

import torch

from openmix_dm.analysis.models import ModelSelection, NamedModel, load_models
from openmix_dm.errors import ConfigError
from openmix_dm.evaluation.pixels import logits_of, probabilities_of
from openmix_dm.evaluation.reliability import Reliability, confidence_of, reliability
from openmix_dm.utils.progress import track
from openmix_dm.visualization import charts
from openmix_dm.visualization.style import COLOURS, new_figure, styled

COLUMNS = 4  # diagrams beside each other


def run(selection: ModelSelection, *, bins: int) -> tuple[Any, dict[str, Any]]:
    """Measure every model; return figure and record."""
    if bins < 1:
        raise ConfigError(f'--bins must be at least 1, got {bins}')
    models = load_models(selection)
    measured = [measure(model, bins, selection.limit) for model in models]
    rows = [
        {**model.describe(), 'accuracy_percent': each.accuracy_percent} | asdict(each)
        for model, each in zip(models, measured, strict=True)
    ]
    return draw([model.name for model in models], measured), {'ece': 'percent', 'runs': rows}


def measure(model: NamedModel, bins: int, limit: int | None) -> Reliability:
    """Return the reliability of one model on its test images."""
    batches, total = model.batches(limit, crops=True)
    sure, right = [], []
    for _, shown, labels in track(batches, total, f'calibration {model.name}'):
        with torch.no_grad():
            confidence, best = confidence_of(probabilities_of(model.network, logits_of(model.network, shown)))
        sure.append(confidence.cpu())
        right.append((best == labels).cpu())
    return reliability(torch.cat(sure), torch.cat(right), bins)


@styled
def draw(names: list[str], measured: list[Reliability]) -> Any:
    """Draw one diagram a model: accuracy and mean confidence of each bin, and below how many images it has."""
    columns = min(len(names), COLUMNS)
    bands = -(-len(names) // columns)
    figure = new_figure(3.2 * columns, 4.0 * bands)
    axes = figure.subplots(2 * bands, columns, squeeze=False, sharex=True, height_ratios=[3.2, 1] * bands)
    for axis in axes.flat:
        axis.set_visible(False)
    for number, (name, each) in enumerate(zip(names, measured, strict=True)):
        band, column = divmod(number, columns)
        above, below = axes[2 * band][column], axes[2 * band + 1][column]
        _diagram(above, below, each)
        charts.finish(above, f'{name}\nECE {each.ece:.2f} %, accuracy {each.accuracy_percent:.2f} %', '', 'accuracy')
        charts.finish(below, '', 'confidence', 'images')
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc='outside lower center', ncols=len(labels))
    return figure


def _diagram(above: Any, below: Any, each: Reliability) -> None:
    filled = [number for number, count in enumerate(each.counts) if count]
    width = 0.92 * (each.edges[1] - each.edges[0])
    centres = [(each.edges[number] + each.edges[number + 1]) / 2 for number in filled]
    accuracy, confidence = ([values[number] for number in filled] for values in (each.accuracy, each.confidence))
    above.bar(centres, accuracy, width=width, color=COLOURS[4], label='accuracy')
    above.vlines(centres, accuracy, confidence, color=COLOURS[1], linewidth=1.2, label='gap')
    above.plot(centres, confidence, 'o', color=COLOURS[1], markersize=3.5, label='mean confidence')
    above.plot([0, 1], [0, 1], color=COLOURS[7], linewidth=0.8, linestyle=':')
    below.bar(centres, [each.counts[i] / sum(each.counts) for i in filled], width=width, color=COLOURS[7])
    for axis in (above, below):
        axis.set_visible(True)
        axis.set_xlim(0, 1)
        axis.set_ylim(0, 1.03)
