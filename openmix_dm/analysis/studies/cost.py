"""Accuracy against the time and the memory that training took (Figure 3 middle)."""

import statistics
from collections.abc import Sequence
from typing import Any

from openmix_dm.analysis.run_groups import Run, find_runs, group_by_name
from openmix_dm.errors import ConfigError
from openmix_dm.visualization import charts
from openmix_dm.visualization.style import styled


def run(runs: Sequence[str], metric: str) -> tuple[Any, dict[str, Any]]:
    """Read the runs; return figure and record."""
    groups = group_by_name(find_runs(runs))
    rows = [row for name, group in groups.items() if (row := cost(name, group, metric)) is not None]
    if not rows:
        raise ConfigError(f'none of the runs is done and has {metric}')
    hardware = sorted({_machine(each) for group in groups.values() for each in group})
    return draw(rows, metric), {'metric': metric, 'hardware': hardware, 'runs': rows}


def cost(name: str, runs: list[Run], metric: str) -> dict[str, Any] | None:
    """Return mean accuracy, hours and memory over the seeds that are done; None if none is."""
    done = [each.summary for each in runs if each.summary.get('state') == 'done' and metric in each.summary['final']]
    if not done:
        return None
    accuracy = [summary['final'][metric] for summary in done]
    memory = [summary['peak_memory_mb'] for summary in done if summary.get('peak_memory_mb')]
    return {
        'name': name,
        'seeds': len(done),
        'top1': statistics.fmean(accuracy),
        'top1_deviation': statistics.stdev(accuracy) if len(done) > 1 else 0.0,
        'hours': statistics.fmean(summary['hours'] for summary in done),
        'memory_mb': statistics.fmean(memory) if memory else None,
    }


@styled
def draw(rows: list[dict[str, Any]], metric: str) -> Any:
    """Draw accuracy against time and against memory."""
    figure, axes = charts.plain_figure(2, width=4.2)
    minutes = max(row['hours'] for row in rows) < 1
    panels = (
        (axes[0][0], 'minutes' if minutes else 'hours', lambda row: row['hours'] * (60 if minutes else 1)),
        (axes[0][1], 'peak memory in MB', lambda row: row['memory_mb']),
    )
    for axis, words, value in panels:
        for number, row in enumerate(rows):
            if value(row) is not None:
                spread = row['top1_deviation'] or None
                axis.errorbar(
                    value(row), row['top1'], yerr=spread, linestyle='', capsize=2, label=row['name'],
                    **{**charts.line_style(number), 'markersize': 6},
                )  # fmt: skip
        charts.finish(axis, f'top-1 ({metric}) against {words.split(" in ")[0]}', words, 'top-1 in %')
    charts.add_legend(figure, axes[0][0])
    return figure


def _machine(run: Run) -> str:
    hardware = run.summary.get('hardware', {})
    gpus = hardware.get('gpus') or []
    return f'{run.summary.get("world_size", 1)} x {gpus[0]}' if gpus else f'{hardware.get("cpu", "CPU")} CPU'
