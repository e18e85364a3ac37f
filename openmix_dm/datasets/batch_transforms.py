"""Augmentations of a whole batch of small uint8 images in tensors: `transform(images, generator) -> images`."""

import torch
import torch.nn.functional as F
from torch import Tensor

from openmix_dm.checks import one_of
from openmix_dm.registry import TRANSFORMS

PADDINGS = ('reflect', 'constant', 'replicate')


@TRANSFORMS.register_module()
class BatchRandomCrop:
    """Pad each image and cut a window of its old size out at a random place: a shift of up to `padding` pixels."""

    needs_draws = True

    def __init__(self, padding: int = 4, mode: str = 'reflect') -> None:
        if padding < 0:
            raise ValueError(f'padding must be 0 or more pixels, got {padding}')
        self.padding, self.mode = padding, one_of('mode', mode, PADDINGS)

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Return shifted images; each has its own shift."""
        size, (height, width) = images.shape[0], images.shape[-2:]
        padded = F.pad(images.float(), [self.padding] * 4, mode=self.mode).to(images.dtype)
        top, left = torch.randint(2 * self.padding + 1, (2, size), generator=generator)
        windows = padded.unfold(2, height, 1).unfold(3, width, 1)  # a view: every window of every image
        return windows[torch.arange(size), :, top, left]


@TRANSFORMS.register_module()
class BatchRandomFlip:
    """Mirror each image left to right with a probability."""

    needs_draws = True

    def __init__(self, prob: float = 0.5) -> None:
        if not 0 <= prob <= 1:
            raise ValueError(f'prob must be in [0, 1], got {prob}')
        self.prob = prob

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Return the images, some of them mirrored."""
        flipped = torch.rand(images.shape[0], generator=generator) < self.prob
        return torch.where(flipped[:, None, None, None], images.flip(-1), images)
