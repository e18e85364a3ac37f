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

    def draw_mask(self, lam: Lam, height: int, width: int, device: torch.device) -> tuple[Tensor, Lam]:
        """Return the mask of a random box, or of one box for each sample, and the share outside."""
        if isinstance(lam, Tensor):
            rows = _inside(*_draw_interval(lam, height), height, device)
            columns = _inside(*_draw_interval(lam, width), width, device)
            return boxes_mask(rows, columns), 1 - rows.mean(dim=1) * columns.mean(dim=1)
        side = math.sqrt(1 - lam)
        centre_y, centre_x = divmod(int(torch.randint(height * width, (), device='cpu')), width)
        top, bottom = interval(centre_y, int(height * side), height)
        left, right = interval(centre_x, int(width * side), width)
        shown = 1 - (bottom - top) * (right - left) / (height * width)
        return box_mask(top, bottom, left, right, height, width, device), shown


def box_mask(top: int, bottom: int, left: int, right: int, height: int, width: int, device: torch.device) -> Tensor:
    """Return a mask (1, 1, H, W) that is 0 inside the box and 1 outside."""
    mask = torch.ones(1, 1, height, width, device=device)
    mask.narrow(2, top, bottom - top).narrow(3, left, right - left).zero_()
    return mask


def interval(centre: int, length: int, size: int) -> tuple[int, int]:
    """Return the ends of an interval around centre, cut off at 0 and size."""
    return max(centre - length // 2, 0), min(centre + length // 2, size)


def boxes_mask(rows: Tensor, columns: Tensor) -> Tensor:
    """Return masks (N, 1, H, W) that are 0 where both rows (N, H) and columns (N, W) are 1, and 1 elsewhere."""
    return torch.addcmul(rows.new_ones(()), rows[:, None, :, None], columns[:, None, None, :], value=-1)


def _inside(start: Tensor, stop: Tensor, size: int, device: torch.device) -> Tensor:
    positions = torch.arange(size, device=start.device)
    return ((positions >= start[:, None]) & (positions < stop[:, None])).to(device, torch.float32, non_blocking=True)


def _draw_interval(lam: Tensor, size: int) -> tuple[Tensor, Tensor]:
    # float64: int(size * sqrt(1 - lam)) has to come out as it does for one lam
    half = (size * (1 - lam.double()).sqrt()).long() // 2
    centre = torch.randint(size, lam.shape, device=lam.device)
    return (centre - half).clamp(min=0), (centre + half).clamp(max=size)
