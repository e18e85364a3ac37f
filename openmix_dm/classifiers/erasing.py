"""Random erasing of a normalised batch, on its device."""

import math

import torch
from torch import Tensor

from openmix_dm.utils.checks import in_range, positive_range

TRIES = 10  # to draw a rectangle that fits


class RandomErasing:
    """Overwrite a rectangle of some images with noise (https://arxiv.org/abs/1708.04896), as timm does in mode 'pixel'.

    Draws from torch's default generator of the device, and never waits for the device.

    Args:
        prob: probability of each image to lose a rectangle. Default: 0.25.
        area: range of the rectangle's share of the image. Default: (0.02, 1 / 3).
        aspect: range of its height to its width, drawn on a log scale. Default: (0.3, 1 / 0.3).
    """

    def __init__(
        self,
        prob: float = 0.25,
        area: tuple[float, float] = (0.02, 1 / 3),
        aspect: tuple[float, float] = (0.3, 1 / 0.3),
    ) -> None:
        self.prob = in_range('prob', prob, 0, 1)
        self.area, self.aspect = positive_range('area', area), positive_range('aspect', aspect)
        if self.area[1] > 1:
            raise ValueError(f'area must be shares of the image, at most 1, got {area!r}')

    def __call__(self, images: Tensor) -> Tensor:
        """Return the images (N, C, H, W), some of them with a rectangle of standard normal noise."""
        top, left, height, width = self.draw_rectangles(images)
        inside = _between(top, height, images.shape[2])[:, None, :, None]
        inside = inside & _between(left, width, images.shape[3])[:, None, None, :]
        return torch.where(inside, torch.randn_like(images), images)

    def draw_rectangles(self, images: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Draw top, left, height and width for each image; height and width are 0 where nothing is erased."""
        count, size = images.shape[0], images.shape[2:]
        # All tries at once: to try again only where it is needed, the host would have to wait for the device.
        draws = torch.rand(2, TRIES, count, device=images.device)
        area = (self.area[0] + (self.area[1] - self.area[0]) * draws[0]) * (size[0] * size[1])
        low, high = math.log(self.aspect[0]), math.log(self.aspect[1])
        aspect = torch.exp(low + (high - low) * draws[1])
        heights, widths = (area * aspect).sqrt().round(), (area / aspect).sqrt().round()
        fits = (heights < size[0]) & (widths < size[1])
        first = fits.byte().argmax(dim=0, keepdim=True)  # of equal ones, the first
        erased = fits.any(dim=0) & (torch.rand(count, device=images.device) < self.prob)
        height, width = (sides.gather(0, first)[0] * erased for sides in (heights, widths))
        place = torch.rand(2, count, device=images.device)
        top, left = (place[0] * (size[0] - height + 1)).floor(), (place[1] * (size[1] - width + 1)).floor()
        return top, left, height, width


def _between(start: Tensor, length: Tensor, size: int) -> Tensor:
    """Say for each of `size` places whether it is within each interval, (N, size)."""
    places = torch.arange(size, device=start.device)
    return (places >= start[:, None]) & (places < (start + length)[:, None])
