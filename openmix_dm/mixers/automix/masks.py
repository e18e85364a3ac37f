"""What is asked of learned masks, and what is done to them. A mask (N, 1, h, w) weighs the own image."""

import torch
from torch import Tensor

from openmix_dm.mixers.base import Lam


def mask_loss(mask: Tensor, lam: Lam, margin: float, variance: float) -> Tensor:
    """Return how far the mean of the mask is from lam, beyond a margin, less `variance` times its variance.

    One lam for the batch is compared with the mean over the batch; a lam for each sample with the mean of each.
    """
    if isinstance(lam, Tensor):
        loss = ((mask.mean(dim=(1, 2, 3)) - lam).abs() - margin).clamp(min=0).mean()
    else:
        loss = ((mask.mean() - lam).abs() - margin).clamp(min=0)
    return loss - variance * (mask - mask.mean()).square().mean() if variance else loss


def with_mean(mask: Tensor, lam: Tensor) -> Tensor:
    """Return masks whose means are lam (N,): scaled towards 0 where they were above it, towards 1 where below."""
    lam, mean = lam[:, None, None, None], mask.mean(dim=(1, 2, 3), keepdim=True)
    tiny = torch.finfo(mask.dtype).tiny
    lower, higher = mask * (lam / mean.clamp(min=tiny)), 1 - (1 - mask) * ((1 - lam) / (1 - mean).clamp(min=tiny))
    return torch.where(mean > lam, lower, higher)


def plain_near_ends(masks: Tensor, lam: Lam, margin: float, weights: Tensor | None = None) -> Tensor:
    """Return masks that are lam everywhere, as for Mixup, where lam is within the margin of 0 or 1.

    Masks (N, images, H, W) of several images take the weights of these, (N, images).
    """
    if not isinstance(lam, Tensor):
        if not (lam <= margin or 1 - lam <= margin):
            return masks
        return torch.full_like(masks, lam) if weights is None else weights[:, :, None, None].expand_as(masks)
    near = (lam <= margin) | (1 - lam <= margin)
    plain = lam[:, None] if weights is None else weights
    return torch.where(near[:, None, None, None], plain[:, :, None, None], masks)
