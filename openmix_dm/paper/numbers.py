"""The statistics of a table: means over trials, and gains paired by seed with a 95 % interval."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LEVEL = 0.95


@dataclass(frozen=True)
class Mean:
    """Mean and sample deviation; one number alone has no deviation."""

    value: float
    std: float | None
    count: int


@dataclass(frozen=True)
class Gain:
    """A mean difference and its 95 % t-interval; one pair alone has no interval."""

    value: float
    low: float | None
    high: float | None
    pairs: int


def mean_of(values: Sequence[float]) -> Mean | None:
    """Return the mean of trials, None without any."""
    if not values:
        return None
    std = statistics.stdev(values) if len(values) > 1 else None
    return Mean(statistics.fmean(values), std, len(values))


def gain_of(differences: Sequence[float]) -> Gain | None:
    """Return the mean of differences with its interval, None without any."""
    mean = mean_of(differences)
    if mean is None:
        return None
    if mean.std is None:
        return Gain(mean.value, None, None, 1)
    half = quantile(mean.count - 1) * mean.std / math.sqrt(mean.count)
    return Gain(mean.value, mean.value - half, mean.value + half, mean.count)


def paired_gain(ours: Mapping[int, float], baseline: Mapping[int, float]) -> Gain | None:
    """Return the gain over a baseline from the seeds that both have: a seed starts both from the same weights."""
    return gain_of([ours[seed] - baseline[seed] for seed in sorted(ours.keys() & baseline.keys())])


def average_gain(pairs: Sequence[tuple[Mapping[int, float], Mapping[int, float]]]) -> Gain | None:
    """Return the mean over rows of (ours, baseline); the interval is that of the rows' mean over the seeds of all.

    Rows are no independent trials (they share seeds, data and network), so that the seeds are what is counted.
    """
    rows = [gain.value for ours, base in pairs if (gain := paired_gain(ours, base)) is not None]
    if not rows:
        return None
    used = [(ours, base) for ours, base in pairs if ours.keys() & base.keys()]
    shared = set.intersection(*(set(ours) & set(base) for ours, base in used))
    interval = gain_of([statistics.fmean(ours[seed] - base[seed] for ours, base in used) for seed in sorted(shared)])
    complete = interval is not None and all(ours.keys() & base.keys() == shared for ours, base in used)
    if interval is None or not complete:  # seeds differ between rows: a mean, but no interval for it
        return Gain(statistics.fmean(rows), None, None, len(shared))
    return interval


def quantile(freedom: int) -> float:
    """Return the two-sided quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + LEVEL) / 2))
