"""Which images make up which batch. Batch samplers, because a batch is what all ranks have to agree on."""

from collections.abc import Iterator, Sized

import numpy as np
import torch
from mmengine.dist import get_dist_info

from openmix_dm.datasets.samplers.sample_index import SampleBatch
from openmix_dm.errors import ConfigError
from openmix_dm.registry import DATA_SAMPLERS
from openmix_dm.utils.checks import in_range
from openmix_dm.utils.keys import AUGMENTATION, PERMUTATION, SUBSET, key, keys


@DATA_SAMPLERS.register_module()
class TrainBatches:
    """Cut the permutation of an epoch into batches that the ranks share, place by place in turn.

    The permutation is a function of (seed, epoch), the same on all ranks, and any batch of any epoch can be the first:
    nothing has to be replayed to get there. The last batch is left out if it would be smaller than the others.

    Args:
        dataset: the images, of which only the number is used; filled in by the loader.
        batch_size: images of a batch on one rank; filled in by the loader.
        seed: of the run; filled in by the loader.
        shuffle: whether the order is a new permutation in each epoch, instead of that of the data set. Default: True.
        repeats: how often each image stands in the list of the epoch, in a row (repeated augmentation,
            https://arxiv.org/abs/1901.09335). A global batch then holds fewer images, each augmented several times, on
            different ranks. An epoch is not longer for it: it shows a share of the images. Filled in by the loader if
            train_dataloader sets it. Default: 1.
        multiple_of: makes the number of batches divisible by it, so that no accumulated gradient reaches over the end
            of an epoch. Filled in with the number of accumulated steps. Default: 1.

    Example:
        sampler = dict(type='TrainBatches', shuffle=True)
    """

    def __init__(
        self,
        dataset: Sized,
        batch_size: int,
        seed: int,
        shuffle: bool = True,
        repeats: int = 1,
        multiple_of: int = 1,
    ) -> None:
        if not isinstance(repeats, int) or isinstance(repeats, bool) or repeats < 1:
            raise ValueError(f'repeats must be a whole number, 1 or more, got {repeats!r}')
        self.rank, self.world_size = get_dist_info()
        self.repeats = repeats
        self.images, self.batch_size, self.seed, self.shuffle = len(dataset), batch_size, seed, shuffle
        self.epoch, self.first, self.multiple_of = 0, 0, multiple_of
        if len(self) == 0:
            raise ConfigError(
                f'{multiple_of} batches of {batch_size} images on each of {self.world_size} ranks are more than the '
                f'{self.images} images of the training set; lower global_batch_size'
            )

    def start_at(self, epoch: int, batch: int = 0) -> None:
        """Make the next pass start at a batch of an epoch."""
        self.epoch, self.first = epoch, batch

    def __len__(self) -> int:
        whole = self.images // (self.batch_size * self.world_size)
        return whole - whole % self.multiple_of

    def __iter__(self) -> Iterator[SampleBatch]:
        epoch, order = self.epoch, self._order(self.epoch)
        for batch in range(self.first, len(self)):
            yield self._samples(epoch, batch, order)

    def batch(self, epoch: int, batch: int) -> SampleBatch:
        """Return one batch of an epoch."""
        return self._samples(epoch, batch, self._order(epoch))

    def _samples(self, epoch: int, batch: int, order: torch.Tensor) -> SampleBatch:
        whole = self.batch_size * self.world_size
        places = np.arange(batch * whole + self.rank, (batch + 1) * whole, self.world_size)
        images = order[torch.from_numpy(places // self.repeats)].numpy()
        return SampleBatch(images, keys(AUGMENTATION, self.seed, epoch, places))

    def _order(self, epoch: int) -> torch.Tensor:
        if not self.shuffle:
            return torch.arange(self.images)
        generator = torch.Generator().manual_seed(key(PERMUTATION, self.seed, epoch))
        return torch.randperm(self.images, generator=generator)


@DATA_SAMPLERS.register_module()
class EvalBatches:
    """Give every image to exactly one rank, in order and without padding; the last batch may be smaller.

    Args:
        dataset: the images, of which only the number is used; filled in by the loader.
        batch_size: images of a batch on one rank; filled in by the loader.
        seed: of the run, not used: nothing is drawn; filled in by the loader.

    Example:
        sampler = dict(type='EvalBatches')
    """

    def __init__(self, dataset: Sized, batch_size: int, seed: int) -> None:
        rank, world_size = get_dist_info()
        self.places, self.batch_size = range(rank, len(dataset), world_size), batch_size

    def __len__(self) -> int:
        return -(-len(self.places) // self.batch_size)

    def __iter__(self) -> Iterator[list[int]]:
        for start in range(0, len(self.places), self.batch_size):
            yield list(self.places[start : start + self.batch_size])


@DATA_SAMPLERS.register_module()
class SubsetBatches(TrainBatches):
    """Make batches of the same random share of the images in every epoch; test images are not touched.

    The draw follows the run's seed alone: two configs with one seed train on the same images. The rest is as
    TrainBatches.

    Args:
        dataset: the images, of which only the number is used; filled in by the loader.
        batch_size: images of a batch on one rank; filled in by the loader.
        seed: of the run; filled in by the loader.
        fraction: share of all images, drawn without regard to their classes.
        shuffle: whether the order is a new permutation in each epoch, instead of that of the data set. Default: True.
        repeats: how often each image stands in the list of the epoch, in a row (repeated augmentation,
            https://arxiv.org/abs/1901.09335). A global batch then holds fewer images, each augmented several times, on
            different ranks. An epoch is not longer for it: it shows a share of the images. Filled in by the loader if
            train_dataloader sets it. Default: 1.
        multiple_of: makes the number of batches divisible by it, so that no accumulated gradient reaches over the end
            of an epoch. Filled in with the number of accumulated steps. Default: 1.

    Example:
        sampler = dict(type='SubsetBatches', fraction=0.15)
    """

    def __init__(
        self,
        dataset: Sized,
        batch_size: int,
        seed: int,
        fraction: float,
        shuffle: bool = True,
        repeats: int = 1,
        multiple_of: int = 1,
    ) -> None:
        in_range('fraction', fraction, 0, 1, open_low=True)
        generator = torch.Generator().manual_seed(key(SUBSET, seed))
        drawn = torch.randperm(len(dataset), generator=generator)[: round(fraction * len(dataset))]
        self.chosen = drawn.sort().values
        # TrainBatches asks a data set for its length alone, so the drawn indices can stand for one.
        super().__init__(self.chosen, batch_size, seed, shuffle, repeats, multiple_of)

    def _order(self, epoch: int) -> torch.Tensor:
        return self.chosen[super()._order(epoch)]
