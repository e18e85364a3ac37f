"""What a sampler asks a data set for."""

from typing import NamedTuple


class Pick(NamedTuple):
    """One sample of an epoch: which image, and the key of its random augmentation.

    The key belongs to the place in the epoch, not to the image: the same image drawn twice is augmented twice.
    """

    image: int
    key: int


def index_of(pick: 'Pick | int') -> int:
    """Return the index of a pick, or of a plain number as evaluation uses it."""
    return pick.image if isinstance(pick, Pick) else pick
