"""AttentiveMix+ (https://arxiv.org/abs/2003.13048): the cells that a pretrained network attends to, on the partner.

Differs from released code: the teacher is in eval mode (in training mode its batch norm follows the mixed data), sees
images normalised as it was trained with (not as the data set of the model is), and lam is the share of the pixels.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from openmix_dm.mixers.base import Lam, Mixer, per_row
from openmix_dm.mixers.partner import Partner
from openmix_dm.mixers.teacher import IMAGENET_MEAN, IMAGENET_STD, leave_out_teacher, pixels_of
from openmix_dm.registry import BACKBONES, MIXERS
from openmix_dm.structures import MixedPair, Probe
from openmix_dm.utils.modules import full_precision
from openmix_dm.utils.transfers import to_device


@MIXERS.register_module()
class AttentiveMix(Mixer):
    """Keep the cells that a teacher attends to and show the partner elsewhere (https://arxiv.org/abs/2003.13048).

    The grid is the last feature map of the teacher, the attention of a cell its mean over channels. lam in the labels
    is the share of the own pixels. The teacher stays in eval mode, gets no gradient and is in no checkpoint.

    Args:
        alpha: lam is drawn from Beta(alpha, alpha); it has no effect on the mask if `top_k` is given.
        teacher: config of a frozen backbone with its `pretrained` weights: any timm name or a checkpoint of ours. Its
            last stage is the grid.
        input_size: what images are resized to for the teacher, in pixels a side. Default: 224.
        top_k: number of own cells that are kept. None keeps lam of all cells, rounded down, at least one.
            Default: None.
        mean: mean of the teacher's training images per channel, for pixels in [0, 1]. Default: (0.485, 0.456, 0.406).
        std: standard deviation of these images per channel, for pixels in [0, 1]. Default: (0.229, 0.224, 0.225).
        per_sample: draw lam for each sample instead of once for the batch; each has its own mask anyway.
            Default: False.
        partner: who is mixed with whom: 'shift' (a random cyclic shift: no sample is mixed with itself, nothing is
            gathered) or 'permutation' (a random permutation). Default: 'shift'.

    Example:
        mixer = dict(type='AttentiveMix', alpha=2.0, teacher=dict(type='CifarResNet', depth=18, pretrained='r18.pth'))
    """

    mean: Tensor
    std: Tensor

    example = {'teacher': {'type': 'ThinResNet', 'depth': 8}, 'input_size': 64}
    builds = {'teacher': BACKBONES}

    def __init__(
        self,
        alpha: float,
        teacher: dict[str, Any],
        input_size: int = 224,
        top_k: int | None = None,
        mean: Sequence[float] = IMAGENET_MEAN,
        std: Sequence[float] = IMAGENET_STD,
        per_sample: bool = False,
        partner: str = 'shift',
    ) -> None:
        super().__init__(alpha, per_sample, partner)
        if top_k is not None and top_k < 1:
            raise ValueError(f'top_k must be None or at least 1 cell, got {top_k}')
        self.input_size, self.top_k = input_size, top_k
        self.teacher = BACKBONES.build(teacher).eval().requires_grad_(False)
        self.register_state_dict_post_hook(leave_out_teacher)
        self._last_stage = list(self.teacher.stages)[-1]
        self.register_buffer('mean', torch.tensor(mean).view(-1, 1, 1), persistent=False)
        self.register_buffer('std', torch.tensor(std).view(-1, 1, 1), persistent=False)

    def init_weights(self) -> None:
        """Load the teacher's weights."""
        self.teacher.init_weights()

    def train(self, mode: bool = True) -> 'AttentiveMix':
        """Switch the mode of everything but the teacher."""
        super().train(mode)
        self.teacher.eval()
        return self

    def mix(
        self, inputs: Tensor, partner: Partner, lam: Lam, labels: Tensor | None = None, probe: Probe | None = None
    ) -> MixedPair:
        """Mix inputs with their partners."""
        scores = self.attention(pixels_of(inputs, probe))
        count = self.top_k if self.top_k is not None else lam
        mask = cells_mask(scores, count, inputs.shape[-2], inputs.shape[-1])
        rows = per_row(mask.mean(dim=(1, 2, 3)), inputs)
        return MixedPair(partner.blend(inputs, mask.to(inputs.dtype)), rows, mask)

    @torch.no_grad()
    def attention(self, images: Tensor) -> Tensor:
        """Return the mean over channels of the teacher's last features, (N, h, w)."""
        size = (self.input_size, self.input_size)
        resized = F.interpolate(images, size, mode='bilinear', align_corners=False)
        kept: list[Tensor] = []
        handle = self.teacher.stage(self._last_stage).register_forward_hook(lambda m, args, out: kept.append(out))
        try:
            with full_precision(images.device):
                self.teacher((resized - self.mean) / self.std)
        finally:
            handle.remove()
        return kept[0].float().mean(dim=1)


def cells_mask(scores: Tensor, count: Lam, height: int, width: int) -> Tensor:
    """Return masks (N, 1, H, W) that are 1 in the cells with the highest scores.

    count: how many cells (a whole number), or which share of them, for the batch or for each sample; at least one.
    """
    cells = scores[0].numel()
    if isinstance(count, int):
        if count > cells:
            raise ValueError(f'top_k={count} is more than the {cells} cells of the grid of {tuple(scores.shape[1:])}')
        wanted: int | Tensor = count
    elif isinstance(count, Tensor):
        wanted = (to_device(count, scores.device) * cells).long().clamp(min=1)[:, None]
    else:
        wanted = max(1, int(count * cells))
    # By rank, not by a threshold on the scores: with ties that would keep more cells than wanted.
    rank = scores.flatten(1).argsort(dim=1, descending=True, stable=True).argsort(dim=1)
    chosen = (rank < wanted).float().view(len(scores), 1, *scores.shape[1:])
    return F.interpolate(chosen, (height, width), mode='nearest')
