"""Is the second better than the first? McNemar's test on the same images, and a t-interval over seeds."""

import argparse
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from openmix_dm.analysis import figures
from openmix_dm.analysis.answers import answer_all
from openmix_dm.analysis.studies.cost import METRICS
from openmix_dm.analysis.subjects import add_subject_arguments, load_subjects
from openmix_dm.engine.run_folder import RunFolder
from openmix_dm.errors import ConfigError
from openmix_dm.evaluation.paired import Interval, McNemar, mcnemar, t_interval, welch_interval
from openmix_dm.evaluation.predictions import Answers, read_answers


@dataclass(frozen=True)
class Side:
    """One of the runs that are compared: its answers and, of a run folder, its seed and final number."""

    name: str
    answers: Answers
    seed: int | None
    final: float | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this study takes."""
    add_subject_arguments(parser)
    parser.add_argument(
        '--against', nargs='+', required=True, metavar='RUN', help='the second side: as many runs as the first has'
    )
    parser.add_argument(
        '--metric', choices=METRICS, default='median_last10', help='top-1 for the t-interval over seeds'
    )


def run(args: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """Test pair by pair, and over all seeds; return figure and record."""
    if args.names is not None:
        raise ConfigError('compare names each pair by its seed: leave --names out')
    first, second = (read_sides(args, runs) for runs in (args.runs, args.against))
    pairs = match(first, second)
    tests = [mcnemar(a.answers.hits, b.answers.hits) for a, b in pairs]
    over_seeds, paired = interval_over_seeds(first, second)
    rows = [
        {
            'first': a.name,
            'second': b.name,
            'accuracy': [100 * float(side.answers.hits.mean()) for side in (a, b)],
            'difference': test.difference,
            'interval': list(test.interval()),
            **asdict(test),
        }
        for (a, b), test in zip(pairs, tests, strict=True)
    ]
    record = {
        'difference': 'second minus first, percent',
        'metric': args.metric,
        'paired_by_seed': paired,
        'pairs': rows,
    }
    record['over_seeds'] = asdict(over_seeds) if over_seeds else None
    report(rows, over_seeds)
    return draw(rows, tests, over_seeds, args.metric), record


def read_sides(args: argparse.Namespace, runs: list[str]) -> list[Side]:
    """Read answers from .npz files, or ask the models of run folders for them."""
    files = [run.endswith('.npz') for run in runs]
    if all(files):
        return [Side(Path(run).stem, read_answers(Path(run)), None, None) for run in runs]
    if any(files):
        raise ConfigError('a side is either files of test.py --hits or runs, not both')
    subjects = load_subjects(argparse.Namespace(**{**vars(args), 'runs': runs}))
    sides = []
    for subject in subjects:
        summary = RunFolder(subject.trained.checkpoint.parent).read()
        final = summary.get('final', {}).get(args.metric)
        sides.append(Side(subject.name, answer_all(subject, args.limit), summary.get('seed'), final))
    return sides


def match(first: list[Side], second: list[Side]) -> list[tuple[Side, Side]]:
    """Pair the runs of one seed, or in the order given; refuse answers to different images."""
    if len(first) != len(second):
        raise ConfigError(f'--against must name as many runs as the first side has ({len(first)}), got {len(second)}')
    if _paired_by_seed(first, second):
        by_seed = {side.seed: side for side in second}
        pairs = [(side, by_seed[side.seed]) for side in first]
    else:
        pairs = list(zip(first, second, strict=True))
    for a, b in pairs:
        if not np.array_equal(a.answers.labels, b.answers.labels):
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


def draw(rows: list[dict[str, Any]], tests: list[McNemar], over_seeds: Interval | None, metric: str) -> Any:
    """Draw the differences with their intervals, one line for each pair and one for all seeds."""
    figure, axes = figures.plain_figure(width=6.4, height=1.5 + 0.42 * (len(rows) + 1))
    axis, labels = axes[0][0], []
    for place, (row, test) in enumerate(zip(rows, tests, strict=True)):
        _line(axis, place, test.difference, test.interval(), figures.COLOURS[0])
        labels.append(f'{row["second"]} - {row["first"]}\np = {test.p_value:.2g}')
    if over_seeds is not None and over_seeds.low is not None and over_seeds.high is not None:
        _line(axis, len(rows), over_seeds.mean, (over_seeds.low, over_seeds.high), figures.COLOURS[1])
        labels.append(f'all seeds\n({metric})')
    axis.axvline(0, color=figures.COLOURS[7], linewidth=0.8, linestyle=':')
    axis.set_yticks(range(len(labels)), labels, fontsize=7)
    axis.set_ylim(len(labels) - 0.4, -0.6)
    figures.finish(axis, 'Difference of top-1, 95 % intervals', 'points', '')
    return figure


def _line(axis: Any, place: int, middle: float, ends: tuple[float, float], colour: str) -> None:
    axis.plot(ends, [place, place], color=colour, linewidth=1.5)
    axis.plot([middle], [place], 'o', color=colour, markersize=5)
