"""Keys for random draws: a draw is a function of where it happens, so that no random state has to be saved."""

from typing import Any

import numpy as np

MASK = (1 << 64) - 1


def key(*parts: int) -> int:
    """Mix integers into 63 well-spread bits (splitmix64, one round a part); the order of the parts counts."""
    return _mixed(parts)


def keys(*parts: int | np.ndarray) -> np.ndarray:
    """Return the `key` of each row as int64, where at least one part is an array with one whole number a row."""
    whole = [part.astype(np.uint64) if isinstance(part, np.ndarray) else int(part) & MASK for part in parts]
    return _mixed(whole).astype(np.int64)


def _mixed(parts: Any) -> Any:
    """Mix numbers, or arrays of uint64, whose sums and products drop what is above 64 bits by themselves."""
    state = 0
    for part in parts:
        state = (state + part + 0x9E3779B97F4A7C15) & MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
        state ^= state >> 31
    return state >> 1


# What the first part of a key stands for: two kinds of draws never share a key.
PERMUTATION, AUGMENTATION, ITERATION, SUBSET, COMMON = range(1, 6)
