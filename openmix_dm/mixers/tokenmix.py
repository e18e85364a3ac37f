"""TokenMix (https://arxiv.org/abs/2207.08409): several blocks of patches of the partner, labels by clean attention.

Where we differ from released code, and why:
* each side scores by its attention where it is SHOWN, normalised to lam and 1 - lam; OpenMixup scores what is hidden;
* attention comes from a network in eval mode: no dropout in the labels;
* blocks cover what lam asks for, to the token: each starts from a token that is still free, where released code tries
  at random, gives up after ten failures, and takes `minimum_tokens` more than lam says;
* the grid follows the image and the size of a patch, instead of 14 x 14 cells for all.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from openmix_dm.mixers.base import Lam, MaskMixer
from openmix_dm.mixers.boxes import inside
from openmix_dm.mixers.partner import Partner
from openmix_dm.mixers.teacher import IMAGENET_MEAN, IMAGENET_STD, leave_out_teacher, pixels_of
from openmix_dm.mixers.transmix import distribution, require_attention
from openmix_dm.registry import BACKBONES, MIXERS
from openmix_dm.structures import MixedPair, Probe
from openmix_dm.utils.checks import in_range, one_of
from openmix_dm.utils.modules import full_precision
from openmix_dm.utils.transfers import to_device

BLOCKS = 8  # leave over half a token of 14 x 14 on average; these are taken one by one
ASPECT = 1 / 0.3  # sides differ by at most this factor


@MIXERS.register_module()
class TokenMix(MaskMixer):
    """Show the partner in blocks of patches and label by clean attention (https://arxiv.org/abs/2207.08409).

    The partner takes (1 - lam) of the patches, rounded down. lam in the labels is the own share of the attention that
    each clean image gets where it is shown; OpenMixup scores what is hidden. Without a teacher and without a probe
    (`pair`, or used by hand) every patch counts the same. The teacher stays in eval mode, gets no gradient and is in no
    checkpoint.

    Args:
        alpha: lam is drawn from Beta(alpha, alpha).
        patch_size: pixels on a side of a patch of the trained model. A run whose images it does not divide is refused;
            used by hand, the last patches are cut off at the border. Default: 16.
        minimum_tokens: patches of the smallest block, except for the last one of a mask. Default: 14.
        mask: 'block', or 'random' for single patches. Default: 'block'.
        teacher: config of a frozen Vision Transformer with its `pretrained` weights, whose class token attends. None
            asks the trained model itself, which then needs a class token. Default: None.
        input_size: what images are resized to for the teacher, in pixels a side. Default: 224.
        mean: mean of the teacher's training images per channel, for pixels in [0, 1]. Default: (0.485, 0.456, 0.406).
        std: standard deviation of these images per channel, for pixels in [0, 1]. Default: (0.229, 0.224, 0.225).
        per_sample: draw lam and the blocks for each sample instead of once for the batch. Default: False.
        partner: who is mixed with whom: 'shift' (a random cyclic shift: no sample is mixed with itself, nothing is
            gathered) or 'permutation' (a random permutation). Default: 'shift'.

    Example:
        mixer = dict(type='TokenMix', alpha=1.0, patch_size=16)
    """

    label_from = 'attention'
    example = {'patch_size': 4, 'minimum_tokens': 4}
    mean: Tensor
    std: Tensor
    builds = {'teacher': BACKBONES}

    def __init__(
        self,
        alpha: float,
        patch_size: int = 16,
        minimum_tokens: int = 14,
        mask: str = 'block',
        teacher: dict[str, Any] | None = None,
        input_size: int = 224,
        mean: Sequence[float] = IMAGENET_MEAN,
        std: Sequence[float] = IMAGENET_STD,
        per_sample: bool = False,
        partner: str = 'shift',
    ) -> None:
        super().__init__(alpha, per_sample, partner)
        in_range('patch_size', patch_size, 1, math.inf)
        in_range('minimum_tokens', minimum_tokens, 1, math.inf)
        self.patch_size, self.minimum_tokens, self.input_size = patch_size, minimum_tokens, input_size
        self.blocks = BLOCKS if one_of('mask', mask, ('block', 'random')) == 'block' else 0
        self.teacher: Any = None if teacher is None else BACKBONES.build(teacher).eval().requires_grad_(False)
        if self.teacher is not None:
            self.teacher.capture_attention()  # raises with the reason where there is none
        self.register_state_dict_post_hook(leave_out_teacher)
        self.register_buffer('mean', torch.tensor(mean).view(-1, 1, 1), persistent=False)
        self.register_buffer('std', torch.tensor(std).view(-1, 1, 1), persistent=False)

    def init_weights(self) -> None:
        """Load the teacher's weights."""
        if self.teacher is not None:
            self.teacher.init_weights()

    def train(self, mode: bool = True) -> 'TokenMix':
        """Switch the mode of everything but the teacher."""
        super().train(mode)
        if self.teacher is not None:
            self.teacher.eval()
        return self

    def attach(self, model: nn.Module) -> None:
        """Refuse a model without class-token attention, unless a teacher has it."""
        if self.teacher is None:
            require_attention(model, 'TokenMix without a teacher')

    def check_size(self, height: int, width: int) -> None:
        """Refuse images that are no whole number of patches."""
        if height % self.patch_size or width % self.patch_size:
            raise ValueError(
                f'patches of {self.patch_size} pixels do not divide images of {height} x {width}; set patch_size to '
                'that of the model, or resize the images'
            )

    def mix(
        self, inputs: Tensor, partner: Partner, lam: Lam, labels: Tensor | None = None, probe: Probe | None = None
    ) -> MixedPair:
        """Mix inputs with their partners."""
        height, width = inputs.shape[-2:]
        own = self.draw_tokens(lam, -(-height // self.patch_size), -(-width // self.patch_size))
        own = to_device(own, inputs.device, torch.float32)
        others, rows = partner.locate(inputs)
        attention = self.attention(inputs, probe)
        theirs = attention if others is inputs else self.attention(others, probe)
        shown = score_share(own, attention, theirs.index_select(0, rows))
        mask = own.repeat_interleave(self.patch_size, 1)[:, None, :height]
        mask = mask.repeat_interleave(self.patch_size, 3)[..., :width]
        return MixedPair(partner.blend(inputs, mask.to(inputs.dtype)), shown, mask)

    def draw_tokens(self, lam: Lam, rows: int, columns: int) -> Tensor:
        """Draw which tokens stay, (N, rows, columns): on the CPU for one lam, then N = 1, else where lam is."""
        each = lam if isinstance(lam, Tensor) else torch.full((1,), lam, dtype=torch.float64, device='cpu')
        count = ((1 - each.double()) * (rows * columns)).long()
        order = to_device(torch.rand(len(each), rows * columns, device='cpu'), each.device)
        blocks = to_device(torch.rand(self.blocks, 4, len(each), device='cpu'), each.device)
        return ~take_tokens(count, order, blocks, (rows, columns), self.minimum_tokens)

    @torch.no_grad()
    def attention(self, images: Tensor, probe: Probe | None) -> Tensor:
        """Return the class token's attention to the patches of clean images, (N, h, w)."""
        if self.teacher is not None:
            resized = F.interpolate(pixels_of(images, probe), [self.input_size] * 2, mode='bilinear')
            with full_precision(images.device):
                return self.teacher.attention((resized - self.mean) / self.std)
        return images.new_ones(len(images), 1, 1) if probe is None else probe.attention(images)


def take_tokens(count: Tensor, order: Tensor, blocks: Tensor, grid: tuple[int, int], minimum: int) -> Tensor:
    """Return (N, rows, columns), True at the `count` (N,) tokens of each sample that the partner takes.

    order: (N, tokens), unlike numbers; each block covers the free token with the highest, and what the blocks leave
    over goes by it too. blocks: (B, 4, N) in [0, 1): area, aspect and place of each block.
    """
    taken = torch.zeros(len(order), *grid, dtype=torch.bool, device=order.device)
    for draws in blocks.double():
        left, free = count - taken.sum(dim=(1, 2)), order.masked_fill(taken.flatten(1), -1)
        new = _block(free.argmax(dim=1), left, draws, grid, minimum) & ~taken
        # cut off, row by row, what is more than is left to take
        taken = taken | (new & (new.flatten(1).cumsum(dim=1) <= left[:, None]).view_as(new))
    left, free = count - taken.sum(dim=(1, 2)), order.masked_fill(taken.flatten(1), -1)
    rank = free.argsort(dim=1, descending=True, stable=True).argsort(dim=1)
    return taken | (rank < left[:, None]).view_as(taken)


def _block(token: Tensor, left: Tensor, draws: Tensor, grid: tuple[int, int], minimum: int) -> Tensor:
    """Return (N, rows, columns), True in a block around each token of between `minimum` and `left` tokens."""
    low = left.clamp(max=minimum)
    area, aspect = low + draws[0] * (left - low), ASPECT ** (2 * draws[1] - 1)
    places = (token // grid[1], token % grid[1])
    spans = []
    for place, side, draw, size in zip(places, (area * aspect, area / aspect), draws[2:], grid, strict=True):
        length = side.sqrt().round().long().clamp(1, size)
        start = (place - (draw * length).long()).clamp(min=0).minimum(size - length)
        spans.append(inside(start, start + length, size, token.device) > 0)
    return spans[0][:, :, None] & spans[1][:, None, :]


def score_share(own: Tensor, attention_a: Tensor, attention_b: Tensor) -> Tensor:
    """Return lam (N,): of the attention that each clean image gets where it is shown, the share of the own one.

    own: (N or 1, rows, columns), 1 where the own image is shown; its mean is lam if neither has attention in its place.
    """
    score_a = (own * distribution(attention_a, *own.shape[1:])).sum(dim=(1, 2))
    score_b = ((1 - own) * distribution(attention_b, *own.shape[1:])).sum(dim=(1, 2))
    total = score_a + score_b
    return torch.where(total > 0, score_a / total, own.mean(dim=(1, 2)))
