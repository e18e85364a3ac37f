import numpy as np

from openmix_dm.utils.keys import AUGMENTATION, ITERATION, PERMUTATION, key, keys


def test_keys_are_stable_and_spread():
    """The numbers are part of what a seed means: a change here changes every run."""
    assert key(1, 2, 3) == 3851293329796251419
    keys = {
        key(kind, seed, i) for kind in (PERMUTATION, AUGMENTATION, ITERATION) for seed in range(20) for i in range(50)
    }
    assert len(keys) == 3000
    assert all(0 <= value < 2**63 for value in keys)
    assert key(1, 2) != key(2, 1)


def test_many_keys_at_once_are_the_same_keys():
    places = np.array([0, 1, 255, 2**31, 2**40 + 7, 2**63 - 1, -3])
    for seed in (0, 5, -1, 2**63, 2**64 + 3):
        assert keys(AUGMENTATION, seed, places).tolist() == [key(AUGMENTATION, seed, int(p)) for p in places]
        assert keys(places, seed).tolist() == [key(int(p), seed) for p in places]
    nested = keys(keys(3, places), places)
    assert nested.tolist() == [key(key(3, int(p)), int(p)) for p in places]
    assert nested.dtype == np.int64
    assert keys(3, places[:0]).tolist() == []
