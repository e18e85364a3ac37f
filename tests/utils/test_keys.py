from openmix_dm.utils.keys import AUGMENTATION, ITERATION, PERMUTATION, key


def test_keys_are_stable_and_spread():
    """The numbers are part of what a seed means: a change here changes every run."""
    assert key(1, 2, 3) == 3851293329796251419
    keys = {
        key(kind, seed, i) for kind in (PERMUTATION, AUGMENTATION, ITERATION) for seed in range(20) for i in range(50)
    }
    assert len(keys) == 3000
    assert all(0 <= value < 2**63 for value in keys)
    assert key(1, 2) != key(2, 1)
