"""Gains of runs over those of a baseline, paired by seed, and their average over rows."""

import statistics
from collections.abc import Mapping, Sequence

from openmix_dm.utils.stats import INTERVALS, Interval

Pair = tuple[Mapping[int, float], Mapping[int, float]]  # numbers of a cell and of its baseline, by seed


def paired_differences(ours: Mapping[int, float], baseline: Mapping[int, float]) -> list[float]:
    """Return ours minus the baseline for the seeds that both have: a seed starts both from the same weights."""
    return [ours[seed] - baseline[seed] for seed in sorted(ours.keys() & baseline.keys())]


def paired_gain(ours: Mapping[int, float], baseline: Mapping[int, float], interval: str = 't') -> Interval | None:
    """Return the gain over a baseline from the seeds that both have."""
    differences = paired_differences(ours, baseline)
    return INTERVALS[interval](differences) if differences else None


def average_gain(pairs: Sequence[Pair], interval: str = 't') -> Interval | None:
    """Return the mean over rows of (ours, baseline); the interval is that of the rows' mean over the seeds of all.

    Rows are no independent trials (they share seeds, data and network), so that the seeds are what is counted.
    """
    rows = [gain.mean for ours, base in pairs if (gain := paired_gain(ours, base)) is not None]
    if not rows:
        return None
    by_seed = average_differences(pairs)
    if not by_seed:  # seeds differ between rows: a mean, but no interval for it
        shared = set.intersection(*(ours.keys() & base.keys() for ours, base in pairs if ours.keys() & base.keys()))
        return Interval(statistics.fmean(rows), None, None, len(shared))
    return INTERVALS[interval](by_seed)


def average_differences(pairs: Sequence[Pair]) -> list[float]:
    """Return for each seed the mean over rows of ours minus baseline; nothing where rows have different seeds."""
    seeds = [ours.keys() & base.keys() for ours, base in pairs if ours.keys() & base.keys()]
    if not seeds or any(each != seeds[0] for each in seeds):
        return []
    used = [(ours, base) for ours, base in pairs if ours.keys() & base.keys()]
    return [statistics.fmean(ours[seed] - base[seed] for ours, base in used) for seed in sorted(seeds[0])]
