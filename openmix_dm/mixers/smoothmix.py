"""SmoothMix (Lee et al., CVPR workshops 2020): a soft blob of the partner laid over the own image.

https://openaccess.thecvf.com/content_CVPRW_2020/html/w45/Lee_SmoothMix_A_Simple_Yet_Effective_Data_Augmentation_to_Train_Robust_CVPRW_2020_paper.html

Where we differ from the released code: it gives the own label the weight that the partner has in the pixels, and a
given lam is thrown away. Here the label follows the pixels, and a given lam sets the size of the blob.
"""

import math

import torch
from torch import Tensor

from openmix_dm.mixers.base import Lam, MaskMixer
from openmix_dm.mixers.boxes import outside_mask
from openmix_dm.registry import MIXERS
from openmix_dm.utils.checks import positive_range
from openmix_dm.utils.transfers import to_device

AREA = 2 * math.pi  # of a blob of sigma 1


@MIXERS.register_module()
class SmoothMix(MaskMixer):
    """Lay a soft blob of the partner over each image (Lee et al., CVPR workshops 2020).

    The weight of the partner is a Gaussian of height 1 at a uniform centre, cut off at the border. The labels follow
    the pixels; the released code gives the own label the partner's weight.

    Width and lam stand for each other by lam = exp(-area), where area = 2 pi sigma^2 is that of the blob without
    borders in units of the image's: lam is about 1 - area for small blobs, and 0 for one that covers everything. In the
    middle of the image a blob shows at most 0.04 more of the partner than 1 - lam; towards the border it shows less.

    Args:
        alpha: lam is drawn from Beta(alpha, alpha) if `sigma` is None; otherwise it has no effect.
        sigma: range from which the width of the blob is drawn uniformly, as in the paper, in units of the image's
            sides. None: the width follows lam. Default: (0.25, 0.5).
        per_sample: draw the width and the blob for each sample instead of once for the batch. Default: False.
        partner: who is mixed with whom: 'shift' (a random cyclic shift: no sample is mixed with itself, nothing is
            gathered) or 'permutation' (a random permutation). Default: 'shift'.

    Example:
        mixer = dict(type='SmoothMix', alpha=1.0, sigma=(0.25, 0.5))
    """

    def __init__(
        self,
        alpha: float,
        sigma: tuple[float, float] | None = (0.25, 0.5),
        per_sample: bool = False,
        partner: str = 'shift',
    ) -> None:
        super().__init__(alpha, per_sample, partner)
        self.sigma = None if sigma is None else positive_range('sigma', sigma)

    def draw_lam(self, size: int, device: torch.device) -> Lam:
        """Draw the width of the blobs, and return the lam that stands for it."""
        if self.sigma is None:
            return super().draw_lam(size, device)
        low, high = self.sigma
        drawn = low + (high - low) * torch.rand(size if self.per_sample else 1, dtype=torch.float32, device='cpu')
        lam = torch.exp(-AREA * drawn.square())
        return to_device(lam, device) if self.per_sample else float(lam)

    def draw_mask(self, lam: Lam, height: int, width: int, device: torch.device) -> tuple[Tensor, Lam]:
        """Return the mask of one blob, or of one for each sample, and the share of the own image."""
        rows = lam.float() if isinstance(lam, Tensor) else torch.tensor([lam], dtype=torch.float32, device='cpu')
        centre_y, centre_x = torch.rand(2, len(rows), 1, dtype=rows.dtype, device=rows.device)
        down, across = profiles(rows[:, None], centre_y, centre_x, height, width)
        shown = 1 - down.mean(dim=1) * across.mean(dim=1)
        mask = outside_mask(to_device(down, device), to_device(across, device))
        return mask, shown if isinstance(lam, Tensor) else float(shown)

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        return f'{super().extra_repr()}, sigma={self.sigma}'


def profiles(lam: Tensor, centre_y: Tensor, centre_x: Tensor, height: int, width: int) -> tuple[Tensor, Tensor]:
    """Return the factors (N, H) and (N, W) of blobs of the width that lam stands for, around centres in [0, 1).

    lam and centres are (N, 1); blob i is the outer product of both rows i.
    """
    area = -lam.log()
    sharpness = -math.pi / area.clamp(min=1e-30)  # -1 / (2 sigma^2)
    down, across = _bell(centre_y, sharpness, height), _bell(centre_x, sharpness, width)
    return down * (area > 0), across  # a centre on a pixel would show it even in a blob without width


def _bell(centre: Tensor, sharpness: Tensor, size: int) -> Tensor:
    pixels = torch.arange(0.5, size, dtype=centre.dtype, device=centre.device) / size
    return (pixels - centre).square_().mul_(sharpness).exp_()
