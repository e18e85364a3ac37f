"""Boxes that cutting mixers paste: drawn as CutMix draws them, for a batch or for each sample.

A box of about (1 - lam) of the area has the aspect of the image and a uniform centre, and is cut off at the border.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from openmix_dm.mixers.base import Lam
from openmix_dm.utils.transfers import to_device


class Box(NamedTuple):
    """Rows top to bottom and columns left to right, the ends excluded: numbers, or (N,) tensors for a box a sample."""

    top: int
    bottom: int
    left: int
    right: int

    def mask(self, height: int, width: int, device: torch.device) -> tuple[Tensor, Lam]:
        """Return a mask (1, 1, H, W) that is 0 inside the box and 1 outside, and the share outside."""
        mask = torch.ones(1, 1, height, width, device=device)
        mask.narrow(2, self.top, self.bottom - self.top).narrow(3, self.left, self.right - self.left).zero_()
        return mask, 1 - (self.bottom - self.top) * (self.right - self.left) / (height * width)


class Boxes(NamedTuple):
    """A box for each sample: (N,) tensors."""

    top: Tensor
    bottom: Tensor
    left: Tensor
    right: Tensor

    def mask(self, height: int, width: int, device: torch.device) -> tuple[Tensor, Tensor]:
        """Return masks (N, 1, H, W) that are 0 inside the box of each sample and 1 outside, and the shares outside."""
        rows = inside(self.top, self.bottom, height, device)
        columns = inside(self.left, self.right, width, device)
        return outside_mask(rows, columns), 1 - rows.mean(dim=1) * columns.mean(dim=1)


def draw_box(lam: Lam, height: int, width: int) -> Box | Boxes:
    """Draw a box for one lam, on the CPU, or boxes for a lam of each sample, where lam is."""
    if isinstance(lam, Tensor):
        centres = [torch.randint(size, lam.shape, device=lam.device) for size in (height, width)]
        return boxes_around(centres[0], centres[1], lam, height, width)
    centre_y, centre_x = divmod(int(torch.randint(height * width, (), device='cpu')), width)
    side = math.sqrt(1 - lam)
    return Box(*interval(centre_y, int(height * side), height), *interval(centre_x, int(width * side), width))


def boxes_around(centre_y: Tensor, centre_x: Tensor, lam: Tensor, height: int, width: int) -> Boxes:
    """Return boxes of about (1 - lam) of the area around given centres, cut off at the border."""
    side = (1 - lam.double()).sqrt()  # float64: int(height * side) has to come out as it does for one lam
    half_y, half_x = (height * side).long() // 2, (width * side).long() // 2
    return Boxes(
        (centre_y - half_y).clamp(min=0),
        (centre_y + half_y).clamp(max=height),
        (centre_x - half_x).clamp(min=0),
        (centre_x + half_x).clamp(max=width),
    )


def interval(centre: int, length: int, size: int) -> tuple[int, int]:
    """Return the ends of an interval around centre, cut off at 0 and size."""
    # Half a length to either side, as in the code of CutMix: an odd length loses a pixel, and lam counts what is left.
    return max(centre - length // 2, 0), min(centre + length // 2, size)


def inside(start: Tensor, stop: Tensor, size: int, device: torch.device) -> Tensor:
    """Return (N, size), 1 from start to stop and 0 elsewhere."""
    positions = torch.arange(size, device=start.device)
    return to_device((positions >= start[:, None]) & (positions < stop[:, None]), device, torch.float32)


def outside_mask(rows: Tensor, columns: Tensor) -> Tensor:
    """Return masks (N, 1, H, W), 1 minus the product of rows (N, H) and columns (N, W): 0 where both are 1.

    As a step from 1 towards 1 - columns, both as whole rows: a fifth of the time of the product.
    """
    nothing = torch.ones_like(columns[:1])[:, None, None, :]
    return torch.lerp(nothing, (1 - columns)[:, None, None, :], rows[:, None, :, None])
