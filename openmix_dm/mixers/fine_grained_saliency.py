"""Fine-grained saliency (Montabone and Soto, https://doi.org/10.1016/j.imavis.2009.06.006) for whole batches, in torch.

A pixel is salient where it differs from its surround: the mean of the window around it, at six reaches. How much
brighter ("on") and how much darker ("off") it is are added up over the reaches, each brought to 0..255, and summed.

The numbers are those of OpenCV's StaticSaliencyFineGrained (times 255), with its fixed-point grey and blur, its windows
that lean by one pixel, and every rounding. All are whole numbers that float32 holds exactly, except in two places:
* Where on + off passes 255, OpenCV's byte starts again at 0: its most salient pixel becomes its least. Here it keeps
  its value. It happened to 1 of 600 crops of two photographs at 32 to 224 pixels.
* OpenCV adds corners of a float32 integral image, which rounds above 2^24: beyond 181 x 181 pixels a few pixels of the
  last rows can differ by one. Here sums are exact up to 256 x 256 pixels, and rounded above.
"""

from collections import Counter
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

REACHES = (12, 24, 48, 28, 56, 112)  # of the surround, in pixels
GREY = (9798, 19235, 3735)  # red, green and blue in 1 / 32768
SMALLEST = 3  # pixels a side: the blur looks two pixels over the border


@torch.no_grad()
def fine_grained_saliency(images: Tensor) -> Tensor:
    """Return the saliency (N, H, W) of images (N, 1 or 3, H, W): whole numbers in float32, 0 to 510, mostly to 255.

    The images hold grey or RGB values from 0 to 255, of any dtype; they are rounded to bytes.
    """
    _check(images)
    grey = _smooth(_smooth(F.pad(_grey(images), (2, 2, 2, 2), mode='reflect')))
    on, net = torch.zeros_like(grey), torch.zeros_like(grey)
    for difference, times in _centre_minus_surround(grey):
        net.add_(difference, alpha=times)
        on.add_(difference.relu_(), alpha=times)
    return _levels(on).add_(_levels(on - net))


def _check(images: Tensor) -> None:
    fits = images.dim() == 4 and images.shape[1] in (1, len(GREY)) and min(images.shape[2:]) >= SMALLEST
    if not fits:
        raise ValueError(
            f'saliency takes images of shape (N, 1 or 3, H, W), H and W at least {SMALLEST}, got {tuple(images.shape)}'
        )


def _grey(images: Tensor) -> Tensor:
    channels = images.to(torch.float32).clamp(0, 255).round_().unbind(1)
    if len(channels) == 1:
        return channels[0]
    red, green, blue = channels
    grey = (red * GREY[0]).add_(green, alpha=GREY[1]).add_(blue, alpha=GREY[2])
    return _round(grey, sum(GREY))


def _smooth(grey: Tensor) -> Tensor:
    """Blur by 1 2 1 down and across; the result is a pixel smaller on each side.

    Reflecting the image first is the same as reflecting it before each blur: a blurred reflection is a reflection.
    """
    down = (grey[:, :-2] + grey[:, 2:]).add_(grey[:, 1:-1], alpha=2)
    across = (down[..., :-2] + down[..., 2:]).add_(down[..., 1:-1], alpha=2)
    return _round(across, 16)


def _round(values: Tensor, unit: int) -> Tensor:
    """Divide by a power of two in place and round, halves up."""
    return values.mul_(1 / unit).add_(0.5).floor_()


def _centre_minus_surround(grey: Tensor) -> Iterator[tuple[Tensor, int]]:
    """Yield each pixel minus the mean of the others in its window, towards zero, and how many reaches have this window.

    With n the pixels of the window and s their sum, the difference (n * grey - s) / (n - 1) is one division of whole
    numbers below 2^24, further from the next whole number than a rounding could reach: n is at most 224 * 224.
    """
    height, width = grey.shape[1:]
    down, across = (torch.arange(1, size + 1, device=grey.device) for size in (height, width))
    integral = _integral(grey)
    # windows that reach over the longer side all hold the whole image
    for reach, times in Counter(min(reach, max(height, width)) for reach in REACHES).items():
        sums = _windows(_windows(integral, 1, reach), 2, reach)
        area = (_windows(down, 0, reach)[:, None] * _windows(across, 0, reach)).to(grey.dtype)
        yield sums.addcmul_(grey, area, value=-1).div_(1 - area, rounding_mode='trunc'), times


def _integral(grey: Tensor) -> Tensor:
    """Return the sums of all pixels above and to the left of each, itself included.

    On a GPU in whole numbers: there torch refuses running sums of floats where a run is to be deterministic. The CPU
    adds up in float64 and rounds once, so that both come to the same.
    """
    if grey.device.type == 'cpu':
        return grey.cumsum(1).cumsum(2)
    whole = grey.to(torch.int32).cumsum(1, dtype=torch.int32).cumsum(2, dtype=torch.int32)
    return whole.to(grey.dtype)


def _windows(cumulative: Tensor, dim: int, reach: int) -> Tensor:
    """Return the sums from reach - 1 before to reach behind each position, of values whose running sum is given."""
    size = cumulative.shape[dim]
    inner = max(size - reach, 0)  # windows that end before the border; as many start behind the other one
    total = cumulative.narrow(dim, size - 1, 1)
    total = total.expand([size - inner if axis == dim else -1 for axis in range(total.dim())])
    sums = torch.cat([cumulative.narrow(dim, size - inner, inner), total], dim)
    sums.narrow(dim, size - inner, inner).sub_(cumulative.narrow(dim, 0, inner))
    return sums


def _levels(values: Tensor) -> Tensor:
    """Bring the largest value of each image to 255 and cut off fractions."""
    peak = values.amax(dim=(1, 2), keepdim=True).clamp(min=1)
    # OpenCV multiplies in float64; for all whole numbers up to 6 * 255 float32 comes out the same
    return (values / peak).mul_(255).floor_()
