"""CutMix (https://arxiv.org/abs/1905.04899): a box of the partner pasted into the own image."""

import math

import torch
from torch import Tensor

from openmix_dm.mixers.base import Lam, MaskMixer
from openmix_dm.registry import MIXERS


@MIXERS.register_module()
class CutMix(MaskMixer):
    """Paste a box of about (1 - lam) of the area at a uniform centre, cut off at the border.

    As in the paper's code the box shrinks where it meets the border, and lam is what is left of the own image.
    """

    def draw_mask(self, lam: Lam, height: int, width: int, device: torch.device) -> Tensor:
        """Return the mask of a random box, or of one box for each sample."""
        if isinstance(lam, Tensor):
            top, bottom = _draw_interval(lam, height)
            left, right = _draw_interval(lam, width)
            return boxes_mask(top, bottom, left, right, height, width, device)
        side = math.sqrt(1 - lam)
        centre_y, centre_x = (int(torch.randint(size, ())) for size in (height, width))
        top, bottom = interval(centre_y, int(height * side), height)
        left, right = interval(centre_x, int(width * side), width)
        mask = torch.ones(1, 1, height, width, device=device)
        mask[..., top:bottom, left:right] = 0
        return mask


def interval(centre: int, length: int, size: int) -> tuple[int, int]:
    """Return the ends of an interval around centre, cut off at 0 and size."""
    return max(centre - length // 2, 0), min(centre + length // 2, size)


def boxes_mask(
    top: Tensor, bottom: Tensor, left: Tensor, right: Tensor, height: int, width: int, device: torch.device
) -> Tensor:
    """Return masks (N, 1, H, W) that are 0 inside the box of each sample and 1 outside."""
    inside_rows = _inside(top, bottom, height, device)[:, None, :, None]
    inside_columns = _inside(left, right, width, device)[:, None, None, :]
    return torch.addcmul(inside_rows.new_ones(()), inside_rows, inside_columns, value=-1)


def _inside(start: Tensor, stop: Tensor, size: int, device: torch.device) -> Tensor:
    positions = torch.arange(size, device=start.device)
    return ((positions >= start[:, None]) & (positions < stop[:, None])).to(device, torch.float32, non_blocking=True)


def _draw_interval(lam: Tensor, size: int) -> tuple[Tensor, Tensor]:
    # float64: int(size * sqrt(1 - lam)) has to come out as it does for one lam
    half = (size * (1 - lam.double()).sqrt()).long() // 2
    centre = torch.randint(size, lam.shape, device=lam.device)
    return (centre - half).clamp(min=0), (centre + half).clamp(max=size)
