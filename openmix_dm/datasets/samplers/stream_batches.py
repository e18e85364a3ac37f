"""The endless order in which a stream of images is drawn."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from mmengine.dist import get_dist_info
from torch import Tensor

from openmix_dm.datasets.samplers.sample_index import SampleBatch
from openmix_dm.datasets.streams import Streams
from openmix_dm.errors import ConfigError
from openmix_dm.registry import DATA_SAMPLERS
from openmix_dm.utils.keys import AUGMENTATION, PERMUTATION, key, keys


class EndlessOrder:
    """One permutation of the images after the other, each a function of (seed, stream, its number).

    Every image comes once before any comes again, and any place can be the first: nothing is replayed to get there.
    """

    def __init__(self, images: int, seed: int, stream: int) -> None:
        self.images, self.seed, self.stream = images, seed, stream
        self._permutation = lru_cache(maxsize=2)(self._draw)  # a batch may reach from one into the next

    def take(self, start: int, count: int) -> np.ndarray:
        """Return the images at `count` places from `start` on."""
        taken = np.empty(count, dtype=np.int64)
        done = 0
        while done < count:
            number, place = divmod(start + done, self.images)
            more = self._permutation(number)[place : place + count - done]
            taken[done : done + len(more)] = more
            done += len(more)
        return taken

    def _draw(self, number: int) -> Tensor:
        generator = torch.Generator().manual_seed(key(PERMUTATION, self.seed, self.stream, number))
        return torch.randperm(self.images, generator=generator)


LABELLED, UNLABELLED = 1, 2  # parts of keys: the streams never share a draw


class StreamSamples(NamedTuple):
    """The samples of one batch; the index of an image counts within its stream."""

    labelled: SampleBatch
    unlabelled: SampleBatch


@DATA_SAMPLERS.register_module()
class StreamBatches:
    """Draw both streams independently of each other, without end, each rank its slice of each batch.

    A batch is a function of (seed, iteration): the place in a stream is the iteration times the global batch, and there
    is no other state. Every image of a stream comes once before any comes again.

    Args:
        dataset: of type Streams; filled in by the loader.
        batch_size: labelled images of a batch on one rank; the data set's `ratio` gives the number of unlabelled ones.
            Filled in by the loader.
        seed: of the run; filled in by the loader.

    Example:
        sampler = dict(type='StreamBatches')
    """

    def __init__(self, dataset: Streams, batch_size: int, seed: int) -> None:
        if not isinstance(dataset, Streams):
            raise ConfigError(
                f'StreamBatches draws from a data set of type Streams, got {type(dataset).__name__}; '
                'use dataset=dict(type="Streams", dataset=...), or sampler=dict(type="TrainBatches")'
            )
        self.rank, self.world_size = get_dist_info()
        self.seed = seed
        labelled, unlabelled = dataset.sizes
        self.batch_size, self.unlabelled_size = batch_size, 0
        self._labelled = EndlessOrder(labelled, seed, LABELLED)
        self._unlabelled = EndlessOrder(unlabelled, seed, UNLABELLED)
        if unlabelled:
            self.unlabelled_size = whole_batch(dataset.ratio, batch_size)
        self.first, self.length, self.total = 0, 1, 1

    def in_rounds(self, length: int, total: int) -> None:
        """Say how many iterations lie between two validations and how many there are in all."""
        self.length, self.total = length, total

    def start_at(self, iteration: int) -> None:
        """Make the next pass start at an iteration."""
        self.first = iteration

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[StreamSamples]:
        for iteration in range(self.first, self.total):
            yield self.batch(iteration)

    def batch(self, iteration: int) -> StreamSamples:
        """Return the batch of an iteration."""
        return StreamSamples(
            self._samples(self._labelled, iteration, self.batch_size),
            self._samples(self._unlabelled, iteration, self.unlabelled_size),
        )

    def _samples(self, order: EndlessOrder, iteration: int, size: int) -> SampleBatch:
        start = (iteration * self.world_size + self.rank) * size
        places = np.arange(start, start + size)
        return SampleBatch(order.take(start, size), keys(AUGMENTATION, self.seed, order.stream, places))


def whole_batch(ratio: float, batch_size: int) -> int:
    """Return how many unlabelled images belong to a labelled batch."""
    size = ratio * batch_size
    if size < 1 or round(size) != size:
        raise ConfigError(
            f'ratio={ratio} unlabelled images for each of {batch_size} labelled ones on a rank make {size:g} images, '
            'which is not a whole number; change ratio, global_batch_size or the number of ranks'
        )
    return round(size)
