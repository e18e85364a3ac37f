"""Is the second better than the first? McNemar's test on the same images, and a t-interval over seeds."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from openmix_dm.analysis.models import ModelSelection, load_models, predict_all
from openmix_dm.errors import ConfigError
from openmix_dm.evaluation.predictions import SavedPredictions, read_predictions
from openmix_dm.runs.folder import RunFolder
from openmix_dm.utils.stats import Interval, McNemar, mcnemar, t_interval, welch_interval
from openmix_dm.visualization import charts
from openmix_dm.visualization.style import COLOURS, styled


@dataclass(frozen=True)
class Side:
    """One of the runs that are compared: its predictions and, of a run folder, its seed and final number."""

    name: str
    predictions: SavedPredictions
    seed: int | None
    final: float | None


def run(selection: ModelSelection, *, against: Sequence[str], metric: str) -> tuple[Any, dict[str, Any]]:
    """Test pair by pair, and over all seeds; return figure and record."""
    if selection.names is not None:
        raise ConfigError('compare names each pair by its seed: leave --names out')
    first, second = (read_sides(replace(selection, runs=runs), metric) for runs in (selection.runs, against))
    pairs = match(first, second)
    tests = [mcnemar(a.predictions.hits, b.predictions.hits) for a, b in pairs]
    over_seeds, paired = interval_over_seeds(first, second)
    rows = [
        {
            'first': a.name,
            'second': b.name,
            'accuracy': [100 * float(side.predictions.hits.mean()) for side in (a, b)],
            'difference': test.difference,
            'interval': list(test.interval()),
            **asdict(test),
        }
        for (a, b), test in zip(pairs, tests, strict=True)
    ]
    record = {
        'difference': 'second minus first, percent',
        'metric': metric,
        'paired_by_seed': paired,
        'pairs': rows,
    }
    record['over_seeds'] = asdict(over_seeds) if over_seeds else None
    report(rows, over_seeds)
    return draw(rows, tests, over_seeds, metric), record


def read_sides(selection: ModelSelection, metric: str) -> list[Side]:
    """Read predictions from .npz files, or ask the models of run folders for them."""
    runs = selection.runs
    files = [run.endswith('.npz') for run in runs]
    if all(files):
        return [Side(Path(run).stem, read_predictions(Path(run)), None, None) for run in runs]
    if any(files):
        raise ConfigError('a side is either files of test.py --hits or runs, not both')
    models = load_models(selection)
    sides = []
    for model in models:
        summary = RunFolder(model.trained.checkpoint.parent).read()
        final = summary.get('final', {}).get(metric)
        sides.append(Side(model.name, predict_all(model, selection.limit), summary.get('seed'), final))
    return sides


def match(first: list[Side], second: list[Side]) -> list[tuple[Side, Side]]:
    """Pair the runs of one seed, or in the order given; refuse predictions to different images."""
    if len(first) != len(second):
        raise ConfigError(f'--against must name as many runs as the first side has ({len(first)}), got {len(second)}')
    if _paired_by_seed(first, second):
        by_seed = {side.seed: side for side in second}
        pairs = [(side, by_seed[side.seed]) for side in first]
    else:
        pairs = list(zip(first, second, strict=True))
    for a, b in pairs:
        if not np.array_equal(a.predictions.labels, b.predictions.labels):
            raise ConfigError(f'{a.name} and {b.name} were tested on different images: their labels differ')
    return pairs


def interval_over_seeds(first: list[Side], second: list[Side]) -> tuple[Interval | None, bool]:
    """Return the interval of the final numbers' difference, paired by seed where seeds are the same."""
    paired = _paired_by_seed(first, second)
    finals = [[side.final for side in side_ if side.final is not None] for side_ in (first, second)]
    if len(finals[0]) != len(first) or len(finals[1]) != len(second):
        return None, paired
    if not paired:
        return welch_interval(finals[0], finals[1]), paired
    differences = [b.final - a.final for a, b in match(first, second) if a.final is not None and b.final is not None]
    return t_interval(differences), paired


def _paired_by_seed(first: list[Side], second: list[Side]) -> bool:
    seeds = [sorted(str(side.seed) for side in sides) for sides in (first, second)]
    return seeds[0] == seeds[1] and len(set(seeds[0])) == len(first) and 'None' not in seeds[0]


def report(rows: list[dict[str, Any]], over_seeds: Interval | None) -> None:
    """Print the results in words."""
    for row in rows:
        low, high = row['interval']
        print(
            f'{row["second"]} minus {row["first"]}: {row["difference"]:+.2f} points [{low:+.2f}, {high:+.2f}]; '
            f'only the second is right on {row["only_second"]} images, only the first on {row["only_first"]}: '
            f'p = {row["p_value"]:.3g} (McNemar)'
        )
    if over_seeds is not None and over_seeds.low is not None and over_seeds.high is not None:
        print(
            f'over {len(rows)} seeds: {over_seeds.mean:+.2f} points, 95 % interval [{over_seeds.low:+.2f}, '
            f'{over_seeds.high:+.2f}]'
        )


@styled
def draw(rows: list[dict[str, Any]], tests: list[McNemar], over_seeds: Interval | None, metric: str) -> Any:
    """Draw the differences with their intervals, one line for each pair and one for all seeds."""
    figure, axes = charts.plain_figure(width=6.4, height=1.5 + 0.42 * (len(rows) + 1))
    axis, labels = axes[0][0], []
    for place, (row, test) in enumerate(zip(rows, tests, strict=True)):
        _line(axis, place, test.difference, test.interval(), COLOURS[0])
        labels.append(f'{row["second"]} - {row["first"]}\np = {test.p_value:.2g}')
    if over_seeds is not None and over_seeds.low is not None and over_seeds.high is not None:
        _line(axis, len(rows), over_seeds.mean, (over_seeds.low, over_seeds.high), COLOURS[1])
        labels.append(f'all seeds\n({metric})')
    axis.axvline(0, color=COLOURS[7], linewidth=0.8, linestyle=':')
    axis.set_yticks(range(len(labels)), labels, fontsize=7)
    axis.set_ylim(len(labels) - 0.4, -0.6)
    charts.finish(axis, 'Difference of top-1, 95 % intervals', 'points', '')
    return figure


def _line(axis: Any, place: int, middle: float, ends: tuple[float, float], colour: str) -> None:
    axis.plot(ends, [place, place], color=colour, linewidth=1.5)
    axis.plot([middle], [place], 'o', color=colour, markersize=5)
