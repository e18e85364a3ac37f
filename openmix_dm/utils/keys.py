"""Keys for random draws: a draw is a function of where it happens, so that no random state has to be saved."""

MASK = (1 << 64) - 1


def key(*parts: int) -> int:
    """Mix integers into 63 well-spread bits (splitmix64, one round a part); the order of the parts counts."""
    state = 0
    for part in parts:
        state = (state + part + 0x9E3779B97F4A7C15) & MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
        state ^= state >> 31
    return state >> 1


# What the first part of a key stands for: two kinds of draws never share a key.
PERMUTATION, AUGMENTATION, ITERATION, SUBSET, COMMON = range(1, 6)
