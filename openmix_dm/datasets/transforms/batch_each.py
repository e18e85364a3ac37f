"""Transforms of one image, and a resize, for data that come in whole batches."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from openmix_dm.datasets.samplers.sample_index import BatchDraws, seed_draws
from openmix_dm.datasets.transforms.image import check_interpolation, check_size, to_tensor
from openmix_dm.registry import TRANSFORMS


@TRANSFORMS.register_module()
class BatchEach:
    """Apply transforms of one image to each image of a batch, each by the key of its sample.

    Where there are no keys (evaluation), transforms that draw are left out.

    Args:
        transforms: configs of transforms of one RGB uint8 array (H, W, 3), applied in order. The results must have one
            size.

    Example:
        transforms = [dict(type='BatchEach', transforms=[dict(type='RandAugment')])]
    """

    takes_batches = True
    needs_draws = False
    builds = {'transforms': TRANSFORMS}

    def __init__(self, transforms: Sequence[dict[str, Any]]) -> None:
        self.transforms = [TRANSFORMS.build(transform) for transform in transforms]

    def __call__(self, images: Tensor, generator: torch.Generator | None) -> Tensor:
        """Return the transformed images."""
        arrays = images.permute(0, 2, 3, 1).contiguous().numpy()
        if generator is None:
            done = [self._transform(array, drawing=False) for array in arrays]
        else:
            done = [self._drawn(array, key) for array, key in zip(arrays, keys_of(generator, len(images)), strict=True)]
        return torch.stack([to_tensor(array) for array in done])

    def _drawn(self, image: np.ndarray, draw_key: int) -> np.ndarray:
        seed_draws(draw_key)
        return self._transform(image, drawing=True)

    def _transform(self, image: np.ndarray, drawing: bool) -> np.ndarray:
        for transform in self.transforms:
            if drawing or not getattr(transform, 'needs_draws', True):
                image = transform(image)
        return image


@TRANSFORMS.register_module()
class BatchResize:
    """Resize all images of a batch to a square, smoothing where they get smaller, as Pillow does.

    Args:
        size: side of the square in pixels.
        interpolation: 'bilinear', 'bicubic', or 'nearest', which does not smooth. Default: 'bicubic'.

    Example:
        transforms = [dict(type='BatchResize', size=224)]
    """

    takes_batches = True
    needs_draws = False

    def __init__(self, size: int, interpolation: str = 'bicubic') -> None:
        self.size, self.interpolation = check_size(size), check_interpolation(interpolation)

    def __call__(self, images: Tensor, generator: torch.Generator | None) -> Tensor:
        """Return the resized images."""
        size, smooth = (self.size, self.size), self.interpolation != 'nearest'
        return F.interpolate(images, size, mode=self.interpolation if smooth else 'nearest-exact', antialias=smooth)


def keys_of(generator: torch.Generator, count: int) -> list[int]:
    """Return the keys of the samples of a batch; a plain generator draws them."""
    if isinstance(generator, BatchDraws):
        return generator.keys.tolist()
    return torch.randint(1 << 62, (count,), generator=generator).tolist()
