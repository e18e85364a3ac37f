"""Against numbers computed by hand, and against scipy's own tests."""

import math

import pytest
from scipy import stats

from openmix_dm.utils.stats import Interval, Mean, average_gain, mean_of, paired_gain, t_interval


def test_mean_and_deviation_by_hand():
    # mean 3, squares of the differences 4 + 1 + 9 = 14, over n - 1 = 2
    assert mean_of([1.0, 2.0, 6.0]) == Mean(3.0, math.sqrt(7), 3)
    assert mean_of([5.0]) == Mean(5.0, None, 1)
    assert mean_of([]) is None


def test_interval_by_hand():
    gain = t_interval([1.0, 2.0, 3.0])
    # t with 2 degrees of freedom at 97.5 %: 4.302653; deviation 1, over the root of 3
    half = 4.302653 / math.sqrt(3)
    assert (gain.mean, gain.count) == (2.0, 3)
    assert (gain.low, gain.high) == pytest.approx((2 - half, 2 + half), abs=1e-5)
    assert t_interval([0.5]) == Interval(0.5, None, None, 1)
    with pytest.raises(ValueError, match='at least one number'):
        t_interval([])


def test_interval_is_that_of_the_paired_t_test():
    ours, base = {0: 71.2, 1: 70.4, 2: 72.9, 3: 71.1}, {0: 70.1, 1: 70.9, 2: 71.3, 3: 70.0}
    gain = paired_gain(ours, base)
    interval = stats.ttest_rel(list(ours.values()), list(base.values())).confidence_interval(0.95)
    assert (gain.low, gain.high) == pytest.approx((interval.low, interval.high))


def test_only_seeds_that_both_have_count():
    assert paired_gain({0: 5.0, 2: 9.0}, {0: 4.0, 1: 0.0}) == Interval(1.0, None, None, 1)
    assert paired_gain({0: 5.0}, {1: 4.0}) is None


def test_average_gain_by_hand():
    rows = [({0: 2.0, 1: 4.0}, {0: 1.0, 1: 1.0}), ({0: 5.0, 1: 5.0}, {0: 6.0, 1: 4.0})]
    # gains of seed 0: 1 and -1, mean 0; of seed 1: 3 and 1, mean 2
    gain = average_gain(rows)
    assert gain.mean == 1.0
    half = 12.7062 / math.sqrt(2) * math.sqrt(2)
    assert (gain.low, gain.high) == pytest.approx((1 - half, 1 + half), abs=1e-3)


def test_average_gain_of_rows_with_other_seeds_has_no_interval():
    rows = [({0: 2.0, 1: 4.0}, {0: 1.0, 1: 1.0}), ({0: 5.0}, {0: 6.0}), ({0: 1.0}, {})]
    assert average_gain(rows) == Interval(0.5, None, None, 1)  # rows: 2 and -1; the third has no pair
    assert average_gain([({}, {})]) is None
