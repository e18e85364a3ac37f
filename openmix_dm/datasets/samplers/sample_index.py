"""What a sampler asks a data set for, and what is drawn for it."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, overload

import numpy as np
import torch


class SampleIndex(NamedTuple):
    """One sample of an epoch: which image, and the key of its random augmentation.

    The key belongs to the place in the epoch, not to the image: the same image drawn twice is augmented twice.
    """

    image: int
    key: int


class SampleBatch(Sequence[SampleIndex]):
    """The samples of a batch as two arrays: what a sequence of SampleIndex is, without an object for each sample.

    Args:
        images: which images, (N,) int64.
        keys: of their random augmentations, (N,) int64.
    """

    def __init__(self, images: np.ndarray, keys: np.ndarray) -> None:
        self.images, self.keys = images, keys

    @classmethod
    def of(cls, samples: Sequence[SampleIndex]) -> 'SampleBatch':
        """Return samples as a batch; one that is a batch already stays as it is."""
        if isinstance(samples, SampleBatch):
            return samples
        rows = np.array(samples, dtype=np.int64).reshape(-1, 2)
        return cls(rows[:, 0], rows[:, 1])

    def __len__(self) -> int:
        return len(self.images)

    @overload
    def __getitem__(self, place: int) -> SampleIndex: ...
    @overload
    def __getitem__(self, place: slice) -> 'SampleBatch': ...
    def __getitem__(self, place: int | slice) -> 'SampleIndex | SampleBatch':
        if isinstance(place, slice):
            return SampleBatch(self.images[place], self.keys[place])
        return SampleIndex(int(self.images[place]), int(self.keys[place]))

    def __iter__(self) -> Iterator[SampleIndex]:
        return map(SampleIndex, self.images.tolist(), self.keys.tolist())

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f'SampleBatch({list(self)})'


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
    """The random numbers of a batch: one generator for all of it, and `keys`, one of each sample, (N,) int64."""

    keys: np.ndarray

    def __new__(cls, keys: Sequence[int] | np.ndarray) -> 'BatchDraws':
        """Make a generator that is seeded with the first key."""
        draws = super().__new__(cls)
        draws.keys = np.asarray(keys, dtype=np.int64)
        draws.manual_seed(int(draws.keys[0]))
        return draws

    def __init__(self, keys: Sequence[int] | np.ndarray) -> None:
        super().__init__()


def seed_draws(draw_key: int) -> None:
    """Seed all that transforms may draw from: the same sample is augmented alike in any worker of any run."""
    random.seed(draw_key)
    np.random.seed(draw_key & 0xFFFFFFFF)
    torch.default_generator.manual_seed(draw_key)
