"""How much each block of an image matters: to the model, or, without one, to the eye."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from openmix_dm.mixers.partner import Given, Partner
from openmix_dm.mixers.puzzle.energy import normalised
from openmix_dm.structures import Probe

Measure = Callable[[Tensor], Tensor]


def saliency_of(partner: Partner, labels: Tensor | None, probe: Probe | None, grid: int) -> Measure:
    """Return a function from images to the saliency of each block, (N, g, g) float32, its sum 1 for each image.

    A given partner has no labels here, so that the model cannot be asked about it: then both sides go by contrast.
    """

    def measure(images: Tensor) -> Tensor:
        if probe is None or labels is None or isinstance(partner, Given):
            each = local_contrast(images)
        else:
            each = gradient_norm(probe.saliency(images, labels))
        return normalised(F.adaptive_avg_pool2d(each, grid)).float()

    return measure


def gradient_norm(gradient: Tensor) -> Tensor:
    """Return the norm over channels, (N, H, W), relative to each image's largest value.

    Relative, because the squares of what a well-trained model gives are below the smallest float32; summed channel by
    channel, because a reduction over a dimension in the middle is slow on the CPU.
    """
    largest = gradient.amax(dim=(1, 2, 3), keepdim=True).float().clamp_(min=torch.finfo(torch.float32).tiny)
    total, *others = (gradient / largest).square_().unbind(1)
    for channel in others:
        total.add_(channel)
    return total.sqrt()


def local_contrast(images: Tensor, window: int = 5) -> Tensor:
    """Return how far each pixel's brightness is from the mean of those around it, (N, H, W)."""
    grey = images.mean(dim=1, dtype=torch.float32)
    around = F.avg_pool2d(grey, window, stride=1, padding=window // 2, count_include_pad=False)
    return (grey - around).abs()
