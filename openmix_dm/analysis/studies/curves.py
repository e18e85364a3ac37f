"""Metrics over epochs, many runs in one figure, with bands over seeds (Figures 3 left and A1 right)."""

import statistics
from collections.abc import Sequence
from typing import Any

from openmix_dm.analysis.run_groups import Run, find_runs, group_by_name
from openmix_dm.errors import ConfigError
from openmix_dm.utils.suggest import did_you_mean
from openmix_dm.visualization import charts
from openmix_dm.visualization.style import styled

BESIDE = {'kind', 'iter', 'epoch'}  # keys of a record that are no metric
VALIDATED = 'val_'  # before a metric: that of the validations, where training has one of this name, too


def run(runs: Sequence[str], metrics: Sequence[str], last: int | None) -> tuple[Any, dict[str, Any]]:
    """Read the runs; return figure and record."""
    if last is not None and last < 1:
        raise ConfigError(f'--last must be at least 1 epoch, got {last}')
    groups = group_by_name(find_runs(runs))
    everything = [each for group in groups.values() for each in group]
    for metric in metrics:
        check_metric(metric, everything)
    curves = {metric: {name: curve(group, metric, last) for name, group in groups.items()} for metric in metrics}
    return draw(curves), {'band': 'mean and standard deviation over seeds', 'metrics': curves}


def check_metric(metric: str, runs: list[Run]) -> None:
    """Refuse a metric that no run has."""
    records = [record for each in runs for record in each.folder.records()]
    known = {key for record in records for key in record} - BESIDE
    known |= {f'{VALIDATED}{key}' for record in records if record['kind'] == 'val' for key in record.keys() - BESIDE}
    if metric not in known:
        raise ConfigError(f'no record has {metric!r}{did_you_mean(metric, known)}')


def values_of(run: Run, metric: str) -> dict[int, Any]:
    """Return a metric of a run by epoch; `loss` is that of the training, `val_loss` that of the validations."""
    name, records = metric, run.folder.records()
    if metric.startswith(VALIDATED):
        name, records = metric.removeprefix(VALIDATED), run.folder.records('val')
    found = [record for record in records if record.get(name) is not None]
    trained = [record for record in found if record['kind'] == 'train']
    return {record['epoch']: record[name] for record in trained or found}


def curve(runs: list[Run], metric: str, last: int | None = None) -> dict[str, Any]:
    """Return epoch by epoch the mean over seeds, their deviation, and how many there are.

    Of an epoch with several records, as training writes them, the last counts.
    """
    by_epoch: dict[int, list[float]] = {}
    for each in runs:
        for epoch, value in values_of(each, metric).items():
            by_epoch.setdefault(int(epoch), []).append(float(value))
    epochs = sorted(by_epoch)[-last if last else 0 :]
    return {
        'seeds': [each.seed for each in runs],
        'epochs': epochs,
        'mean': [statistics.fmean(by_epoch[epoch]) for epoch in epochs],
        'deviation': [statistics.stdev(by_epoch[epoch]) if len(by_epoch[epoch]) > 1 else 0.0 for epoch in epochs],
        'runs': [len(by_epoch[epoch]) for epoch in epochs],
    }


@styled
def draw(curves: dict[str, dict[str, dict[str, Any]]]) -> Any:
    """Draw a panel for each metric."""
    figure, axes = charts.plain_figure(len(curves))
    for axis, (metric, groups) in zip(axes[0], curves.items(), strict=True):
        for number, (name, found) in enumerate(groups.items()):
            colour, seeds = charts.line_style(number)['color'], len(found['seeds'])
            axis.plot(found['epochs'], found['mean'], color=colour, label=f'{name} ({seeds})' if seeds > 1 else name)
            low, high = (
                [m + sign * d for m, d in zip(found['mean'], found['deviation'], strict=True)] for sign in (-1, 1)
            )
            if seeds > 1:
                axis.fill_between(found['epochs'], low, high, color=colour, alpha=0.18, linewidth=0)
        words = f'{metric} in %' if 'top' in metric else metric
        charts.finish(axis, words, 'epoch', words)
        charts.whole_numbers(axis)
    charts.add_legend(figure, axes[0][0])
    return figure
