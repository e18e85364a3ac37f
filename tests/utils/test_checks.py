import numpy as np
import pytest

from openmix_dm.utils.checks import in_range, non_negative, one_of, positive, positive_range


def test_good_values_come_back():
    assert positive('a', 0.1) == 0.1
    assert positive('a', np.float32(2)) == 2
    assert non_negative('a', 0) == 0
    assert in_range('a', 1, 0, 1) == 1
    assert one_of('a', 'x', ('x', 'y')) == 'x'


@pytest.mark.parametrize('value', [0, -1, float('nan'), float('inf'), '1', None, True])
def test_positive_refuses(value):
    with pytest.raises(ValueError, match='alpha must be'):
        positive('alpha', value)


def test_ranges_refuse():
    for value in (-0.1, 1.1, float('nan'), '0'):
        with pytest.raises(ValueError, match=r'\[0, 1\]'):
            in_range('a', value, 0, 1)
    with pytest.raises(ValueError, match=r'\(0, 1\]'):
        in_range('a', 0, 0, 1, open_low=True)
    with pytest.raises(ValueError, match="'x', 'y'"):
        one_of('a', 'z', ('x', 'y'))
    with pytest.raises(ValueError, match='0 or above'):
        non_negative('a', -1e-9)


def test_pairs():
    assert positive_range('a', [1, 2]) == (1, 2)
    for ends in ((2, 1), (0, 1), (1,), 3, (1, float('nan'))):
        with pytest.raises(ValueError, match='sigma must be'):
            positive_range('sigma', ends)
