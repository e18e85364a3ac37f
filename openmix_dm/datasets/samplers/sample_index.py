"""What a sampler asks a data set for, and what is drawn for it."""

import random
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch


class SampleIndex(NamedTuple):
    """One sample of an epoch: which image, and the key of its random augmentation.

    The key belongs to the place in the epoch, not to the image: the same image drawn twice is augmented twice.
    """

    image: int
    key: int


def index_of(sample: 'SampleIndex | int') -> int:
    """Return the index of a sample, or of a plain number as evaluation uses it."""
    return sample.image if isinstance(sample, SampleIndex) else sample


class BatchDraws(torch.Generator):
    """The random numbers of a batch: one generator for all of it, and `keys`, one of each sample."""

    keys: list[int]

    def __new__(cls, keys: Sequence[int]) -> 'BatchDraws':
        """Make a generator that is seeded with the first key."""
        draws = super().__new__(cls)
        draws.keys = list(keys)
        draws.manual_seed(draws.keys[0])
        return draws

    def __init__(self, keys: Sequence[int]) -> None:
        super().__init__()


def seed_draws(draw_key: int) -> None:
    """Seed all that transforms may draw from: the same sample is augmented alike in any worker of any run."""
    random.seed(draw_key)
    np.random.seed(draw_key & 0xFFFFFFFF)
    torch.default_generator.manual_seed(draw_key)
