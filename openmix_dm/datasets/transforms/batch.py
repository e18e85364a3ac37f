"""Augmentations of a whole batch of small uint8 images in tensors: `transform(images, generator) -> images`."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from openmix_dm.registry import TRANSFORMS
from openmix_dm.utils.checks import in_range, non_negative, one_of, positive_range

PADDINGS = ('reflect', 'constant', 'replicate')


@TRANSFORMS.register_module()
class BatchRandomCrop:
    """Pad each image of a batch and cut a window of its old size out at a random place.

    This is a shift of up to `padding` pixels; each image (N, C, H, W) has its own.

    Args:
        padding: pixels added to each edge. Default: 4.
        mode: what is added: 'reflect' (the image mirrored, its edge not repeated; padding must be below its side),
            'constant' (zeros) or 'replicate' (the edge). Default: 'reflect'.

    Example:
        transforms = [dict(type='BatchRandomCrop', padding=4, mode='reflect')]
    """

    takes_batches = True
    needs_draws = True

    def __init__(self, padding: int = 4, mode: str = 'reflect') -> None:
        if padding < 0:
            raise ValueError(f'padding must be 0 or more pixels, got {padding}')
        self.padding, self.mode = padding, one_of('mode', mode, PADDINGS)

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Return shifted images; each has its own shift."""
        count, channels, height, width = images.shape
        top, left = torch.randint(2 * self.padding + 1, (2, count), generator=generator)
        if self.mode == 'constant':
            images = F.pad(images, [self.padding] * 4)
        # Gathering whole rows first is three times as fast as gathering pixels, or as cutting out of padded images.
        rows = self._sources(height)[top[:, None] + torch.arange(height)]
        columns = self._sources(width)[left[:, None] + torch.arange(width)]
        first_rows = torch.arange(count * channels).view(count, channels, 1) * images.shape[2]
        lines = images.reshape(-1, images.shape[3]).index_select(0, (first_rows + rows[:, None]).flatten())
        return lines.view(count, channels, height, -1).gather(
            3, columns[:, None, None].expand(-1, channels, height, -1)
        )

    def _sources(self, length: int) -> Tensor:
        """Return where each place of a padded edge comes from."""
        places = torch.arange(-self.padding, length + self.padding)
        if self.mode == 'constant':
            return places + self.padding  # zeros are there already
        if self.mode == 'replicate':
            return places.clamp(0, length - 1)
        if self.padding >= length:
            raise ValueError(f'{length} pixels cannot be reflected by padding={self.padding}; it has to be smaller')
        return (length - 1) - ((length - 1) - places.abs()).abs()


@TRANSFORMS.register_module()
class BatchRandomFlip:
    """Mirror each image of a batch left to right with a probability.

    Args:
        prob: probability of each image to be mirrored. Default: 0.5.

    Example:
        transforms = [dict(type='BatchRandomFlip', prob=0.5)]
    """

    takes_batches = True
    needs_draws = True

    def __init__(self, prob: float = 0.5) -> None:
        if not 0 <= prob <= 1:
            raise ValueError(f'prob must be in [0, 1], got {prob}')
        self.prob = prob

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Return the images, some of them mirrored."""
        flipped = (torch.rand(images.shape[0], generator=generator) < self.prob).numpy()
        pixels = images.numpy().copy()  # several times as fast with bytes as torch
        pixels[flipped] = pixels[flipped][..., ::-1]
        return torch.from_numpy(pixels)


AFFINE_PADDINGS = ('zeros', 'border', 'reflection')


@TRANSFORMS.register_module()
class BatchRandomAffine:
    """Turn, shift and scale each image of a batch on its own, by bilinear interpolation.

    All draws are uniform; the size of the images stays.

    Args:
        degrees: largest angle, either way. Default: 15.0.
        shift: largest shift as a share of the side, either way and along both axes. Default: 0.1.
        scale: range of the factor of size; above 1 enlarges. Default: (1.0, 1.0).
        mode: what is uncovered at the edges: 'zeros', 'border' (the edge goes on) or 'reflection'. Default: 'zeros'.

    Example:
        transforms = [dict(type='BatchRandomAffine', degrees=15.0, shift=0.1, scale=(0.9, 1.1))]
    """

    takes_batches = True

    def __init__(
        self,
        degrees: float = 15.0,
        shift: float = 0.1,
        scale: tuple[float, float] = (1.0, 1.0),
        mode: str = 'zeros',
    ) -> None:
        self.degrees, self.shift = non_negative('degrees', degrees), in_range('shift', shift, 0, 1)
        self.scale, self.mode = positive_range('scale', scale), one_of('mode', mode, AFFINE_PADDINGS)

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Return the moved images."""
        draws = torch.rand(4, len(images), generator=generator)
        angle = (2 * draws[0] - 1) * math.radians(self.degrees)
        size = self.scale[0] + (self.scale[1] - self.scale[0]) * draws[1]
        shift = (2 * draws[2:] - 1) * self.shift * 2  # positions run from -1 to 1
        cos, sin = angle.cos() / size, angle.sin() / size
        rows = torch.stack([cos, -sin, shift[0], sin, cos, shift[1]], dim=1).view(-1, 2, 3)
        grid = F.affine_grid(rows, list(images.shape), align_corners=False)
        moved = F.grid_sample(images.float(), grid, mode='bilinear', padding_mode=self.mode, align_corners=False)
        return moved.round().clamp(0, 255).to(images.dtype)


@TRANSFORMS.register_module()
class BatchRandomContrast:
    """Change contrast and brightness of each image of a batch on its own.

    An image is multiplied by its contrast around its mean (over all channels), then by its brightness. Both are drawn
    uniformly.

    Args:
        contrast: range of the factor around the mean. Default: (0.5, 1.5).
        brightness: range of the factor of the result. Default: (0.7, 1.3).

    Example:
        transforms = [dict(type='BatchRandomContrast', contrast=(0.7, 1.3), brightness=(0.8, 1.2))]
    """

    takes_batches = True

    def __init__(
        self, contrast: tuple[float, float] = (0.5, 1.5), brightness: tuple[float, float] = (0.7, 1.3)
    ) -> None:
        self.contrast = positive_range('contrast', contrast)
        self.brightness = positive_range('brightness', brightness)

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Return the images with their new contrast."""
        draws = torch.rand(2, len(images), 1, 1, 1, generator=generator)
        contrast = self.contrast[0] + (self.contrast[1] - self.contrast[0]) * draws[0]
        brightness = self.brightness[0] + (self.brightness[1] - self.brightness[0]) * draws[1]
        pixels = images.float()
        mean = pixels.mean(dim=(1, 2, 3), keepdim=True)
        changed = ((pixels - mean) * contrast + mean) * brightness
        return changed.round().clamp(0, 255).to(images.dtype)


@TRANSFORMS.register_module()
class BatchCutout:
    """Cover a square of each image of a batch (Cutout, https://arxiv.org/abs/1708.04552).

    The square is centred anywhere and clipped at the edges. Unlike the paper's, its side is random: uniform up to
    `size`.

    Args:
        size: largest side of the square, as a share of the side of the image. Default: 0.5.
        fill: value of the covered pixels, 0 to 255. Default: 0.

    Example:
        transforms = [dict(type='BatchCutout', size=0.5)]
    """

    takes_batches = True

    def __init__(self, size: float = 0.5, fill: int = 0) -> None:
        self.size, self.fill = in_range('size', size, 0, 1), int(in_range('fill', fill, 0, 255))

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Return the images, each with a square covered."""
        height, width = images.shape[-2:]
        draws = torch.rand(3, len(images), 1, generator=generator)
        half = draws[0] * self.size / 2
        rows = (torch.arange(height) + 0.5) / height
        columns = (torch.arange(width) + 0.5) / width
        inside = ((rows - draws[1]).abs() < half)[:, None, :, None] & ((columns - draws[2]).abs() < half)[:, None, None]
        return images.masked_fill(inside, self.fill)
