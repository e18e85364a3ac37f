"""What a sampler asks a data set for, and what is drawn for it."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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


_ASKED_FOR: list[int | None] = [None]  # the key of the sample that a foreign data set is being asked for


def key_of(sample: 'SampleIndex | int') -> int | None:
    """Return the key of a sample's draws; None in evaluation.

    A plain number has the key of the sample that a data set of another package, such as mmengine's ConcatDataset, is
    being asked for: it knows numbers only.
    """
    return sample.key if isinstance(sample, SampleIndex) else _ASKED_FOR[0]


@contextmanager
def asked_for(draw_key: int) -> Iterator[None]:
    """Let the data sets inside of a foreign one draw by a key; what it draws itself is seeded by the key, too."""
    _ASKED_FOR[0] = draw_key
    seed_draws(draw_key)
    try:
        yield
    finally:
        _ASKED_FOR[0] = None


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
