"""Small images that live in memory as one tensor and are augmented a whole batch at a time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from openmix_dm.datasets.samplers.sample_index import BatchDraws, SampleBatch, SampleIndex, index_of, key_of
from openmix_dm.registry import TRANSFORMS


class TensorImages(Dataset):
    """Serve images in memory with their labels, a whole batch at a time.

    Args:
        images: uint8, (N, 3, H, W).
        labels: of the images, (N,).
        transforms: configs of batch transforms, applied in order. They draw from the keys of the samples (training);
            for plain indices, which carry none (evaluation), those that draw are left out. Default: ().
    """

    num_classes: int
    metainfo: dict[str, Any] = {}  # mmengine asks for it
    builds = {'transforms': TRANSFORMS}
    takes_samples = True  # asked by SampleIndex, with the key of its draws

    def __init__(self, images: Tensor, labels: Tensor, transforms: Sequence[dict[str, Any]] = ()) -> None:
        if images.dtype != torch.uint8 or images.dim() != 4 or len(images) != len(labels):
            raise ValueError(
                f'images must be uint8 (N, C, H, W) with one label each, got {images.dtype} {tuple(images.shape)} '
                f'with {len(labels)} labels'
            )
        self.images, self.labels = images, labels
        self.transforms = [TRANSFORMS.build(transform) for transform in transforms]

    def full_init(self) -> None:
        """Do nothing: all is there. mmengine's ConcatDataset and its other wrappers ask for it."""

    def __len__(self) -> int:
        return len(self.labels)

    def __getitems__(self, samples: Sequence[SampleIndex | int]) -> dict[str, Tensor]:
        """Return a whole batch; torch's loader calls this instead of __getitem__ where it exists."""
        keys: Sequence[int] | np.ndarray
        if isinstance(samples, SampleBatch):
            index, keys = torch.from_numpy(samples.images), samples.keys
        else:
            index = torch.tensor([index_of(sample) for sample in samples])
            keys = [key for sample in samples if (key := key_of(sample)) is not None]
        images = self.images.index_select(0, index)
        draws = BatchDraws(keys) if len(keys) else None
        images = transform_batch(self.transforms, images, draws)
        return {'inputs': images, 'labels': self.labels.index_select(0, index)}

    def __getitem__(self, sample: SampleIndex | int) -> dict[str, Tensor]:
        return {name: values[0] for name, values in self.__getitems__([sample]).items()}


def transform_batch(transforms: Sequence[Any], images: Tensor, draws: BatchDraws | None) -> Tensor:
    """Apply batch transforms in order; those that draw are left out where there are no draws."""
    for transform in transforms:
        if draws is not None or not getattr(transform, 'needs_draws', True):
            images = transform(images, draws)
    return images
