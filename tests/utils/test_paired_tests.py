"""Bootstrap, Holm's correction and power against loops, hand-computed numbers, integrals and simulation."""

import itertools
import math
import statistics
import warnings

import numpy as np
import pytest
from scipy import integrate, stats

from openmix_dm.utils.stats import (
    Interval,
    bootstrap_interval,
    gain_found,
    holm,
    power_of,
    t_interval,
    t_test,
)

SKEWED = [0.1, 0.3, 0.2, 0.9, 0.25, 2.4]


def exact_bca(values, confidence=0.95):
    """BCa by its definition (Efron 1987), over all n^n resamples instead of random ones."""
    normal, n, mean = statistics.NormalDist(), len(values), statistics.fmean(values)
    means = sorted(statistics.fmean(drawn) for drawn in itertools.product(values, repeat=n))
    below = sum(each < mean - 1e-12 for each in means) + 0.5 * sum(abs(each - mean) <= 1e-12 for each in means)
    bias = normal.inv_cdf(below / len(means))
    left_out = [statistics.fmean(values[:i] + values[i + 1 :]) for i in range(n)]
    centre = statistics.fmean(left_out)
    skew = sum((centre - each) ** 3 for each in left_out)
    acceleration = skew / (6 * sum((centre - each) ** 2 for each in left_out) ** 1.5)
    ends = []
    for share in ((1 - confidence) / 2, (1 + confidence) / 2):
        z = bias + normal.inv_cdf(share)
        ends.append(means[int(normal.cdf(bias + z / (1 - acceleration * z)) * (len(means) - 1))])
    return ends


def test_bootstrap_is_bca_over_all_resamples():
    found = bootstrap_interval(SKEWED)
    low, high = exact_bca(SKEWED)
    assert (found.mean, found.count) == (pytest.approx(statistics.fmean(SKEWED)), 6)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.04)
    plain = sorted(
        statistics.fmean(np.random.default_rng(k).choice(SKEWED, 6)) for k in range(2000)
    )  # a percentile interval, which BCa must not be
    assert found.high - plain[1949] > 0.1


def test_bootstrap_repeats_and_knows_what_has_no_spread():
    assert bootstrap_interval(SKEWED) == bootstrap_interval(SKEWED)
    assert bootstrap_interval([0.5]) == Interval(0.5, None, None, 1)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert bootstrap_interval([0.25, 0.25, 0.25]) == Interval(0.25, 0.25, 0.25, 3)
        nearly = bootstrap_interval([90.3 - 90.1, 80.3 - 80.1, 70.3 - 70.1])  # 0.2, up to rounding
        two = bootstrap_interval([1.0, 2.0])
    assert nearly.low == nearly.high == pytest.approx(0.2)
    assert 1.0 <= two.low < two.high <= 2.0
    with pytest.raises(ValueError, match='at least one number'):
        bootstrap_interval([])


def test_p_value_is_that_of_scipy_and_fits_the_interval():
    ours, base = np.array([71.2, 70.4, 72.9, 71.1]), np.array([70.1, 70.9, 71.3, 70.0])
    assert t_test(list(ours - base)) == pytest.approx(stats.ttest_rel(ours, base).pvalue)
    half = t_interval([1.0, 2.0, 3.0]).high - 2
    assert t_test([half - 1, half, half + 1]) == pytest.approx(0.05)  # the interval just touches 0
    assert t_test([1.0]) is None
    assert t_test([]) is None
    assert (t_test([0.5, 0.5]), t_test([0.0, 0.0]), t_test([-1.0, 1.0])) == (0.0, 1.0, 1.0)


def test_holm_by_hand():
    # 0.01 x 4, 0.02 x 3, 0.03 x 2 = 0.06 (not below the one before), 0.5 x 1
    assert holm([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.06, 0.04, 0.5, 0.06])
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.4, 0.6]) == pytest.approx([0.8, 0.8])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([0.2]) == [0.2]
    assert holm([]) == []


@pytest.mark.parametrize(
    ('shift', 'count'), [(0.0, 5), (2.8, 2), (2.8, 12), (3.5, 48), (17.0, 4), (40.0, 24), (1e4, 3)]
)
def test_power_is_an_integral_over_deviations(shift, count):
    """Given the deviation found, the t statistic is normal: no noncentral t is needed, which scipy has gaps in."""
    freedom, edge = count - 1, stats.t.ppf(0.975, count - 1)

    def part(found):  # found: the sample's deviation over the true one
        density = stats.chi2.pdf(freedom * found**2, freedom) * 2 * freedom * found
        return (stats.norm.cdf(shift - edge * found) + stats.norm.cdf(-shift - edge * found)) * density

    expected = integrate.quad(part, 0, 8, points=[0.5, 1, 1.5], limit=400)[0]
    assert power_of(shift, count) == pytest.approx(expected, abs=1e-6)


def test_the_gain_that_is_found_is_that_of_the_studys_plan():
    # docs/study.md: a deviation of 0.30 and 12 seeds find 0.27 points; 0.64 find 0.57
    assert gain_found(0.30, 12) == pytest.approx(0.27, abs=0.005)
    assert gain_found(0.64, 12) == pytest.approx(0.57, abs=0.005)
    for count in (2, 3, 5, 12, 1000):
        assert power_of(gain_found(2.0, count) * math.sqrt(count) / 2.0, count) == pytest.approx(0.8)
    assert gain_found(0.0, 12) == 0.0
    with pytest.raises(ValueError, match='two pairs'):
        gain_found(1.0, 1)


@pytest.mark.parametrize('count', [3, 12, 24])
def test_power_by_simulation(count):
    draws = np.random.default_rng(0).normal(gain_found(0.7, count), 0.7, size=(40_000, count))
    found = stats.ttest_1samp(draws, 0, axis=1).pvalue < 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.01)  # its own deviation is 0.002
