"""A few numbers and what they allow to say: means, t-intervals over seeds, McNemar's test on the same images."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CONFIDENCE = 0.95


@dataclass(frozen=True)
class McNemar:
    """Two models on the same images: how many each alone gets right, and how likely so unequal a split is by chance."""

    both: int
    only_first: int
    only_second: int
    neither: int
    p_value: float

    @property
    def images(self) -> int:
        """Return how many images there are."""
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def difference(self) -> float:
        """Return the accuracy of the second minus that of the first, in percent."""
        return 100 * (self.only_second - self.only_first) / self.images

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """Return the ends of a Wald interval of the difference, in percent."""
        from scipy.stats import norm

        b, c, n = self.only_first, self.only_second, self.images
        half = 100 * float(norm.ppf((1 + confidence) / 2)) * math.sqrt(max(b + c - (c - b) ** 2 / n, 0)) / n
        return self.difference - half, self.difference + half


def mcnemar(first: np.ndarray, second: np.ndarray) -> McNemar:
    """Test whether two models differ, by their hits (N,) on the same images; exact (binomial), two-sided."""
    if first.shape != second.shape or first.ndim != 1 or not len(first):
        raise ValueError(f'hits must be two vectors of one length, 1 or more, got {first.shape} and {second.shape}')
    from scipy.stats import binomtest

    first, second = first.astype(bool), second.astype(bool)
    only_first, only_second = int((first & ~second).sum()), int((~first & second).sum())
    differ = only_first + only_second
    p_value = float(binomtest(only_first, differ, 0.5).pvalue) if differ else 1.0
    return McNemar(int((first & second).sum()), only_first, only_second, int((~first & ~second).sum()), p_value)


@dataclass(frozen=True)
class Mean:
    """Mean and sample deviation; one number alone has no deviation."""

    value: float
    std: float | None
    count: int


def mean_of(values: Sequence[float]) -> Mean | None:
    """Return the mean of a few numbers, None without any."""
    if not values:
        return None
    std = statistics.stdev(values) if len(values) > 1 else None
    return Mean(statistics.fmean(values), std, len(values))


@dataclass(frozen=True)
class Interval:
    """A mean, and the ends of its confidence interval; None for the ends where one number has no spread."""

    mean: float
    low: float | None
    high: float | None
    count: int


def t_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Return mean and t-interval of a few numbers, such as the differences of paired seeds."""
    mean = mean_of(values)
    if mean is None:
        raise ValueError('an interval needs at least one number, got none')
    if mean.std is None:
        return Interval(mean.value, None, None, mean.count)
    half = _t_quantile(mean.count - 1, confidence) * mean.std / math.sqrt(mean.count)
    return Interval(mean.value, mean.value - half, mean.value + half, mean.count)


def welch_interval(first: Sequence[float], second: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Return second minus first with Welch's interval: seeds that are not paired, spreads that may differ."""
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    mean = float(b.mean() - a.mean())
    if min(len(a), len(b)) < 2:
        return Interval(mean, None, None, min(len(a), len(b)))
    va, vb = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    if va + vb == 0:
        return Interval(mean, mean, mean, len(a) + len(b))
    freedom = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    half = _t_quantile(float(freedom), confidence) * math.sqrt(va + vb)
    return Interval(mean, mean - half, mean + half, len(a) + len(b))


def _t_quantile(freedom: float, confidence: float) -> float:
    """Return the two-sided quantile of Student's t."""
    from scipy.special import stdtrit  # takes a while to import

    return float(stdtrit(freedom, (1 + confidence) / 2))
