"""Transforms of torchvision v2 by their names: `dict(type='torchvision/ColorJitter', brightness=0.4)`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from openmix_dm.datasets.transforms.foreign import Bridge, ForeignTransform
from openmix_dm.registry import TRANSFORMS

_FLOATS = 'it makes floats, and images stay bytes until the model normalises them; see model.data_preprocessor'
_MIXES = 'it mixes the images of a batch; use model.mixer=dict(type={!r}, alpha=...)'
_BOXES = 'it is for bounding boxes and key points, and a sample here has none'
REFUSED = {
    'ClampBoundingBoxes': _BOXES,
    'ClampKeyPoints': _BOXES,
    'ConvertBoundingBoxFormat': _BOXES,
    'CutMix': _MIXES.format('CutMix'),
    'JPEG': "it needs torchvision's own codecs, which not every build of it has",
    'Lambda': 'a config holds no functions; register a transform of your own with TRANSFORMS.register_module()',
    'LinearTransformation': _FLOATS,
    'MixUp': _MIXES.format('Mixup'),
    'Normalize': _FLOATS,
    'RandomIoUCrop': _BOXES,
    'SanitizeBoundingBoxes': _BOXES,
    'SanitizeKeyPoints': _BOXES,
    'SetClampingMode': _BOXES,
    'ToTensor': _FLOATS,
    'UniformTemporalSubsample': 'it is for videos',
}
DETERMINISTIC = frozenset(
    (
        'CenterCrop', 'Compose', 'ConvertImageDtype', 'FiveCrop', 'Grayscale', 'Identity', 'Pad', 'PILToTensor',
        'Resize', 'RGB', 'TenCrop', 'ToDtype', 'ToImage', 'ToPILImage', 'ToPureTensor',
    )
)  # fmt: skip
FOR_FLOATS = ('GaussianNoise',)  # gets an image in [0, 1]: noise that is cut off to whole numbers would be weaker
RESIZING = ('nearest', 'nearest-exact', 'bilinear', 'bicubic')  # what torchvision has for tensors
WARPING = ('nearest', 'bilinear')


def classes() -> dict[str, type]:
    """Return all transforms of torchvision v2."""
    from torchvision.transforms import v2  # takes a second

    found = {name: each for name, each in vars(v2).items() if isinstance(each, type) and issubclass(each, v2.Transform)}
    return {name: each for name, each in found.items() if each is not v2.Transform}


class TorchvisionTransform(ForeignTransform):
    """Apply a transform of torchvision v2 to an image, which it sees as a tensor of bytes (3, H, W)."""

    def prepare(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Turn names into interpolations, types of numbers and policies; build nested transforms."""
        known = {**arguments}
        if 'dtype' in self.signature(self.original).parameters:
            known['dtype'] = _bytes(known.get('dtype', 'float32'))
        if isinstance(known.get('interpolation'), str):
            known['interpolation'] = self._interpolation(known['interpolation'])
        if isinstance(known.get('policy'), str):
            known['policy'] = _policy(known['policy'])
        if 'transforms' in known and not isinstance(known['transforms'], dict):
            known['transforms'] = [TRANSFORMS.build(each) for each in known['transforms']]
        if known.get('mode', 'RGB') not in ('RGB', None):
            raise ValueError(f"mode must be 'RGB' or None, as images here are, got {known['mode']!r}")
        if known.get('value') == 'random':
            raise ValueError(
                "value='random' is noise for normalised floats; it is what model.data_preprocessor.erasing does"
            )
        return known

    def apply(self, image: np.ndarray) -> np.ndarray:
        """Return the transformed image, or crops of it."""
        if self.builds:  # the transforms inside are adapted themselves
            return self.transform(image)
        pixels = to_pixels(image)
        if self.name not in FOR_FLOATS:
            return from_pixels(self.transform(pixels))
        # noise is drawn in the order of the memory, which must not depend on what came before
        floats = pixels.to(torch.float32, memory_format=torch.contiguous_format) / 255
        noisy = self.transform(floats)
        return from_pixels((noisy * 255).round().clamp(0, 255).to(torch.uint8))

    def _interpolation(self, name: str) -> Any:
        from torchvision.transforms import InterpolationMode

        allowed = RESIZING if 'antialias' in self.signature(self.original).parameters else WARPING
        if name not in allowed:
            raise ValueError(f'interpolation must be one of {", ".join(allowed)}, got {name!r}')
        return InterpolationMode(name)


def _bytes(name: Any) -> torch.dtype:
    if name not in ('uint8', torch.uint8):
        raise ValueError(f"dtype must be 'uint8', got {str(name)!r}: {_FLOATS}")
    return torch.uint8


def _policy(name: str) -> Any:
    from torchvision.transforms import AutoAugmentPolicy

    policies = [each.value for each in AutoAugmentPolicy]
    if name not in policies:
        raise ValueError(f'policy must be one of {", ".join(policies)}, got {name!r}')
    return AutoAugmentPolicy(name)


def to_pixels(image: np.ndarray) -> Tensor:
    """Return an image as a tensor (3, H, W) over the same memory, where torch can write to it."""
    if not image.flags.writeable or min(image.strides) < 0:
        image = image.copy()
    return torch.from_numpy(image).permute(2, 0, 1)


def from_pixels(result: Any) -> np.ndarray:
    """Return an image of torchvision, a tensor or Pillow's, as an array (H, W, C); several as (crops, H, W, C)."""
    if isinstance(result, tuple | list):
        return np.stack([from_pixels(each) for each in result])
    return result.movedim(-3, -1).numpy() if isinstance(result, Tensor) else np.array(result)


BRIDGE = Bridge(
    'torchvision',
    classes,
    REFUSED,
    DETERMINISTIC,
    TorchvisionTransform,
    wider={'RandomErasing': {'value': float | Sequence[float]}},
)
