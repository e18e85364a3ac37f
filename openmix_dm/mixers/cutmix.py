"""CutMix (https://arxiv.org/abs/1905.04899): a box of the partner pasted into the own image.

As in the paper's code the box shrinks where it meets the border, and lam is what is left of the own image.
"""

import torch
from torch import Tensor

from openmix_dm.mixers.base import Lam, MaskMixer
from openmix_dm.mixers.boxes import draw_box
from openmix_dm.registry import MIXERS


@MIXERS.register_module()
class CutMix(MaskMixer):
    """Paste a box of the partner over each image (https://arxiv.org/abs/1905.04899).

    The box has about (1 - lam) of the area, the aspect of the image and a uniform centre, and is cut off at the border.
    lam in the labels is what is left of the own image, as in the paper's code.

    Args:
        alpha: lam is drawn from Beta(alpha, alpha).
        per_sample: draw lam and the box for each sample instead of once for the batch. Default: False.
        partner: who is mixed with whom: 'shift' (a random cyclic shift: no sample is mixed with itself, nothing is
            gathered) or 'permutation' (a random permutation). Default: 'shift'.

    Example:
        mixer = dict(type='CutMix', alpha=1.0)
    """

    def draw_mask(self, lam: Lam, height: int, width: int, device: torch.device) -> tuple[Tensor, Lam]:
        """Return the mask of a random box, or of one box for each sample, and the share outside."""
        return draw_box(lam, height, width).mask(height, width, device)
