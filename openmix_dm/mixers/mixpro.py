"""MixPro (https://arxiv.org/abs/2304.12043): cells of whole patches, and labels by attention as far as it is sure.

Differs from released code: labels by attention are on (in every released config they are off); the attention is that of
the mixed images, without a pass more (OpenMixup's is that of the unmixed ones); how far the prediction agrees with the
label gets no gradient; lam counts the pixels that are there, where a cell is cut off by the border; lam stays one
number a sample up to the loss; a cell that cuts patches is refused. The authors' fair coin between this and DeiT's
Mixup and CutMix is the business of RandomMixer.
"""

import math
from dataclasses import replace
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from openmix_dm.mixers.base import LabelSource, Lam, MaskMixer
from openmix_dm.mixers.partner import Partner
from openmix_dm.mixers.transmix import attended_share, require_attention
from openmix_dm.registry import MIXERS
from openmix_dm.structures import AfterForward, Finished, MixedPair, MixTarget, Outputs, Probe
from openmix_dm.utils.checks import in_range
from openmix_dm.utils.transfers import to_device

ROUNDING = 1e-4  # of a cell: a lam that is a whole number of cells may come as a float32 number


@MIXERS.register_module()
class MixPro(MaskMixer):
    """Mix by a random grid and weigh labels by attention, progressively (https://arxiv.org/abs/2304.12043).

    Cells of the grid show the own image, in each sample others: lam of them, rounded up (MaskMix in the paper). The
    label goes from the share of the own pixels to the share of the class token's attention on them, in the mixed image,
    as far as the prediction agrees with the label by pixels (PAL): by the cosine of the two. A model without a class
    token is refused when it is built, and so is one whose patches a cell would cut. `pair` labels by pixels. The
    authors mix half of the batches so and half by Mixup or CutMix: `RandomMixer`.

    Args:
        alpha: lam is drawn from Beta(alpha, alpha). Default: 1.0.
        cell_size: pixels on a side of a cell, a multiple of the model's patch. The authors take 56 with patches of 14
            pixels; 64 is as near as patches of 16 come. Default: 56.
        by_attention: False labels by pixels, which is MaskMix alone: for models without a class token. Default: True.
        label_smoothing: of the label that predictions are compared with, and of nothing else. Default: 0.1.
        per_sample: draw lam for each sample instead of once for the batch; each has its own cells anyway.
            Default: False.
        partner: who is mixed with whom: 'shift' (a random cyclic shift: no sample is mixed with itself, nothing is
            gathered) or 'permutation' (a random permutation). Default: 'shift'.

    Example:
        mixer = dict(type='MixPro', alpha=1.0, cell_size=64)
    """

    label_from: LabelSource = 'attention'
    example = {'cell_size': 8}

    def __init__(
        self,
        alpha: float = 1.0,
        cell_size: int = 56,
        by_attention: bool = True,
        label_smoothing: float = 0.1,
        per_sample: bool = False,
        partner: str = 'shift',
    ) -> None:
        super().__init__(alpha, per_sample, partner)
        in_range('cell_size', cell_size, 1, math.inf)
        self.cell_size, self.by_attention = cell_size, by_attention
        self.label_smoothing = in_range('label_smoothing', label_smoothing, 0, 1)
        if not by_attention:
            self.label_from = 'pixels'

    def attach(self, model: nn.Module) -> None:
        """Refuse a model without class-token attention, or with patches that cells cut."""
        backbone: Any = getattr(model, 'backbone', None)
        if backbone is None or not self.by_attention:
            return
        require_attention(model, 'MixPro')
        size = backbone.example_size
        grid = backbone.attention(torch.zeros(1, 3, *size, device=next(backbone.parameters()).device)).shape[1:]
        for patch in (pixels // patches for pixels, patches in zip(size, grid, strict=True)):
            if self.cell_size % patch:
                nearest = max(1, round(self.cell_size / patch)) * patch
                raise ValueError(
                    f'cells of {self.cell_size} pixels cut the patches of {patch} pixels of the model, so that a patch '
                    f'would show two images; take cell_size={nearest}'
                )

    def mix(
        self, inputs: Tensor, partner: Partner, lam: Lam, labels: Tensor | None = None, probe: Probe | None = None
    ) -> MixedPair:
        """Mix inputs with their partners; lam is the share of the pixels until the attention is known."""
        mask = self.draw_cells(lam, inputs.shape[-2], inputs.shape[-1], len(inputs), inputs.device)
        pair = MixedPair(partner.blend(inputs, mask.to(inputs.dtype)), mask.mean(dim=(1, 2, 3)), mask)
        if labels is None or not self.by_attention:
            return pair
        target = MixTarget(labels, partner.take(labels), pair.lam)
        return replace(pair, after=AfterForward(partial(self.finish, mask, target), wants=('attention',)))

    def draw_cells(self, lam: Lam, height: int, width: int, size: int, device: torch.device) -> Tensor:
        """Return masks (N, 1, H, W), 1 in the cells of each sample that show the own image; drawn on the CPU."""
        rows, columns = -(-height // self.cell_size), -(-width // self.cell_size)
        order = torch.rand(size, rows * columns, device='cpu').argsort(dim=1)
        if isinstance(lam, Tensor):
            order = to_device(order, lam.device)
            own = order < (lam.double() * (rows * columns) - ROUNDING).ceil()[:, None]
        else:
            own = order < math.ceil(lam * rows * columns - ROUNDING)
        cells = to_device(own, device, torch.float32).view(size, 1, rows, columns)
        mask = cells.repeat_interleave(self.cell_size, 2)[:, :, :height]
        return mask.repeat_interleave(self.cell_size, 3)[..., :width]

    def finish(self, mask: Tensor, target: MixTarget, outputs: Outputs) -> Finished:
        """Return lam between the share of the pixels and that of the attention, as far as the prediction agrees."""
        logits, area = outputs.logits.detach().float(), target.lam
        sure = agreement(target.dense(logits.shape[1]), logits, self.label_smoothing)
        return Finished(torch.lerp(area, attended_share(mask, outputs.get('attention')), sure))

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        return f'{super().extra_repr()}, cell_size={self.cell_size}, by_attention={self.by_attention}'


def agreement(rows: Tensor, logits: Tensor, label_smoothing: float) -> Tensor:
    """Return the cosine (N,), from 0 to 1, of smoothed labels (N, K) and of what logits (N, K) predict."""
    smoothed = (1 - label_smoothing) * rows + label_smoothing / rows.shape[1]
    return F.cosine_similarity(smoothed, logits.softmax(dim=1)).clamp(0, 1)
