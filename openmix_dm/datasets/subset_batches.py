"""Training on a share of the images, for studies of little data."""

from collections.abc import Sized

import torch

from openmix_dm.checks import in_range
from openmix_dm.datasets.samplers import TrainBatches
from openmix_dm.keys import SUBSET, key
from openmix_dm.registry import DATA_SAMPLERS


@DATA_SAMPLERS.register_module()
class SubsetBatches(TrainBatches):
    """Make batches of the same random share of the images in every epoch; test images are not touched.

    fraction: of all images, drawn without regard to their classes. The draw follows the run's seed alone: two configs
    with one seed train on the same images.
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
        super().__init__(self.chosen, batch_size, seed, shuffle, repeats, multiple_of)

    def _order(self, epoch: int) -> torch.Tensor:
        return self.chosen[super()._order(epoch)]
