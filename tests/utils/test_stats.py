import math

import numpy as np
import pytest

from openmix_dm.utils.stats import mcnemar, t_interval, welch_interval


def hits(both, only_first, only_second, neither):
    first = [1] * both + [1] * only_first + [0] * only_second + [0] * neither
    second = [1] * both + [0] * only_first + [1] * only_second + [0] * neither
    return np.array(first, dtype=bool), np.array(second, dtype=bool)


def slow_p(b, c):
    """Both tails of Binomial(b + c, 1/2), by adding up."""
    n = b + c
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(min(b, c) + 1)) / 2**n)


@pytest.mark.parametrize(('b', 'c'), [(0, 0), (3, 3), (1, 9), (12, 5), (40, 61)])
def test_mcnemar_by_adding_up(b, c):
    first, second = hits(70, b, c, 20)
    order = np.random.default_rng(0).permutation(len(first))
    test = mcnemar(first[order], second[order])
    assert (test.both, test.only_first, test.only_second, test.neither) == (70, b, c, 20)
    assert test.p_value == pytest.approx(slow_p(b, c) if b + c else 1.0)
    assert test.difference == pytest.approx(100 * (second.mean() - first.mean()))
    low, high = test.interval()
    differences = second.astype(float) - first.astype(float)
    spread = 1.959964 * differences.std() / math.sqrt(len(differences)) * 100
    assert (low, high) == pytest.approx((test.difference - spread, test.difference + spread), abs=1e-4)


def test_t_interval_from_a_printed_table():
    # t(0.975, 2) = 4.303: the mean of 1, 2, 3 is 2 +- 4.303 * 1 / sqrt(3)
    found = t_interval([1.0, 2.0, 3.0])
    assert (found.mean, found.count) == (2.0, 3)
    assert found.high - found.mean == pytest.approx(4.303 / math.sqrt(3), abs=1e-3)
    assert found.mean - found.low == pytest.approx(found.high - found.mean)
    assert t_interval([5.0]).low is None


def test_welch():
    # equal spreads and sizes: the pooled test with 2n - 2 degrees of freedom; t(0.975, 4) = 2.776
    found = welch_interval([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    assert found.mean == 3.0
    assert found.high - found.mean == pytest.approx(2.776 * math.sqrt(2 / 3), abs=1e-3)
    assert welch_interval([1.0], [2.0, 3.0]).low is None
    assert welch_interval([1.0, 1.0], [2.0, 2.0]).low == 1.0


def test_mistakes_are_refused():
    with pytest.raises(ValueError, match='one length'):
        mcnemar(np.ones(3), np.ones(4))
