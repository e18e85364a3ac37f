"""SMMix (https://arxiv.org/abs/2212.12977): the window that patches of the partner attend to most, over the least one.

Differs from released code: the grid is that of the attention, of any shape (the authors' default of 14 is wrong for
pyramids); the network is asked in eval mode; partners are a cyclic shift, so that a batch may be odd (in a reversed one
the middle image meets itself); lam can be given, or drawn for each sample. OpenMixup's version takes the class token's
attention and trains without the two further losses, which are all there here. The authors' fair coin between this and
Mixup is the business of RandomMixer.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from openmix_dm.mixers.base import Lam, Mixer, per_row
from openmix_dm.mixers.boxes import inside, outside_mask
from openmix_dm.mixers.partner import Partner
from openmix_dm.mixers.transmix import require_attention
from openmix_dm.registry import MIXERS
from openmix_dm.structures import AfterForward, Finished, MixedPair, Outputs, Probe
from openmix_dm.utils.checks import in_range, non_negative, positive_range
from openmix_dm.utils.modules import full_precision
from openmix_dm.utils.transfers import to_device

Side = int | Tensor  # patches on a side of a window: one for the batch, or (N,) for each sample
NOT_DRAWN = math.nan  # in place of lam: the side is drawn when the grid is known
ROUNDING = 1e-4  # of a patch: a lam that is a whole number of patches may come as a float32 number


@dataclass(frozen=True)
class Windows:
    """Square windows on a grid of patches, one for each sample: the first row and column of each, (N,), and the side.

    Rows and columns are counted in patches.
    """

    top: Tensor
    left: Tensor
    side: Side

    def spans(self, height: int, width: int, patch: tuple[int, int] = (1, 1)) -> tuple[Tensor, Tensor]:
        """Return (N, height) and (N, width), 1 where a window is, with so many places for a patch."""
        device = self.top.device
        return (
            inside(self.top * patch[0], (self.top + self.side) * patch[0], height, device),
            inside(self.left * patch[1], (self.left + self.side) * patch[1], width, device),
        )


@MIXERS.register_module()
class SMMix(Mixer):
    """Paste the partner's most attended window over the own least attended one (https://arxiv.org/abs/2212.12977).

    Attention is what each patch gets from all patches in the last block, in a pass over the unmixed images. The window
    is copied as it is, and lam is the share of the own pixels. Two further losses: the mean token outside of the window
    has to tell the own class and the one inside of it the partner's, by a linear head of the mixer's own; and the
    prediction has to agree with the mixture of those for the unmixed images. The model has to be a Vision Transformer
    with a class token; another one is refused when it is built. There are no pairs of two streams. The authors mix half
    of the batches so and half by Mixup: `RandomMixer`.

    Args:
        sides: smallest and largest side of the window, as shares of the shorter side of the grid, rounded down to whole
            patches. Each whole number from the one to the other is drawn as often. Default: (0.25, 0.75).
        token_weight: weight of the loss on the mean tokens; 0 leaves it out, with its head. Default: 1.0.
        agree_weight: weight of the divergence from the mixed predictions; 0 leaves it out. Default: 1.0.
        label_smoothing: of the loss on the mean tokens; that of the classification is the loss's own. Default: 0.1.
        per_sample: draw the side for each sample instead of once for the batch; each has its own windows anyway.
            Default: False.
        partner: who is mixed with whom: 'shift' (a random cyclic shift: no sample is mixed with itself, nothing is
            gathered) or 'permutation' (a random permutation). Default: 'shift'.

    Example:
        mixer = dict(type='RandomMixer', mixers=[dict(type='Mixup', alpha=0.8), dict(type='SMMix')])
    """

    def __init__(
        self,
        sides: Sequence[float] = (0.25, 0.75),
        token_weight: float = 1.0,
        agree_weight: float = 1.0,
        label_smoothing: float = 0.1,
        per_sample: bool = False,
        partner: str = 'shift',
    ) -> None:
        super().__init__(1.0, per_sample, partner)  # alpha is never drawn from
        self.sides = positive_range('sides', sides)
        in_range('sides', self.sides[1], 0, 1)
        self.token_weight = non_negative('token_weight', token_weight)
        self.agree_weight = non_negative('agree_weight', agree_weight)
        self.label_smoothing = in_range('label_smoothing', label_smoothing, 0, 1)
        self.token_head: nn.Linear | None = None

    def attach(self, model: nn.Module) -> None:
        """Make the head for mean tokens; refuse a model whose patches show no attention."""
        whole: Any = model
        if not hasattr(whole, 'backbone'):
            return
        require_attention(model, 'SMMix', takes='windows', kind='received')
        if self.token_weight and self.token_head is None:
            _ = whole.backbone.token_norm  # raises with the reason where there are no tokens
            weight: Tensor = next(whole.backbone.parameters())
            self.token_head = nn.Linear(whole.backbone.num_features, whole.head.num_classes, device=weight.device)

    def draw_lam(self, size: int, device: torch.device) -> Lam:
        """Draw nothing yet: how many patches a side may have is known when the attention is."""
        return NOT_DRAWN

    def choose_side(self, lam: Lam, size: int, shortest: int, device: torch.device) -> Side:
        """Return the patches on a side of the window: as lam says, if one was given, and else drawn, on the CPU."""
        if isinstance(lam, Tensor):
            return ((1 - lam.double()).sqrt() * shortest + ROUNDING).long().to(device)
        if not math.isnan(lam):
            return int(math.sqrt(1 - lam) * shortest + ROUNDING)
        high = int(self.sides[1] * shortest)
        low = min(max(1, int(self.sides[0] * shortest)), high)
        drawn = torch.randint(low, high + 1, (size if self.per_sample else 1,), device='cpu')
        return to_device(drawn, device) if self.per_sample else int(drawn)

    def mix(
        self, inputs: Tensor, partner: Partner, lam: Lam, labels: Tensor | None = None, probe: Probe | None = None
    ) -> MixedPair:
        """Mix inputs with their partners, by windows that the model chooses."""
        if labels is None or probe is None:
            raise ValueError(
                'SMMix needs labels and a model: call it in the training step, with a probe of the model; it has no '
                'pairs, for which take CutMix'
            )
        (height, width), seen = inputs.shape[-2:], probe.outputs(inputs, ('received',))
        attention = seen.get('received').float()
        rows, columns = attention.shape[1:]
        side = self.choose_side(lam, len(inputs), min(rows, columns), inputs.device)
        with full_precision(inputs.device):
            onto = choose_windows(-attention, side)
            source = choose_windows(partner.take(attention), side)
        patch = height // rows, width // columns
        mask = outside_mask(*onto.spans(height, width, patch))
        shown = per_row(1 - side * side * (patch[0] * patch[1] / (height * width)), inputs)
        mixed = paste_windows(inputs, partner, source, onto, mask, patch)
        finish = partial(self.finish, seen.logits, partner, labels, onto, shown, (rows, columns))
        after = AfterForward(finish, wants=('tokens',) if self.token_weight else ())
        return MixedPair(mixed, shown, mask, after=after if self.token_weight or self.agree_weight else None)

    def finish(
        self,
        clean_logits: Tensor,
        partner: Partner,
        labels: Tensor,
        windows: Windows,
        lam: Tensor,
        grid: tuple[int, int],
        outputs: Outputs,
    ) -> Finished:
        """Return the two further losses, now that the model has seen the mixed images."""
        losses = {}
        if self.token_weight:
            if self.token_head is None:
                raise ValueError('SMMix has no head yet: call attach(model) first, or take token_weight=0')
            there = torch.einsum('nh,nw->nhw', *windows.spans(*grid)).flatten(1)
            means, counts = mean_tokens(outputs.get('tokens'), torch.stack((1 - there, there), dim=1))
            classes = torch.stack((labels, partner.take(labels)), dim=1)
            told = self.token_head(means).float()
            each = F.cross_entropy(told.mT, classes, reduction='none', label_smoothing=self.label_smoothing)
            losses['loss_tokens'] = self.token_weight * (each * (counts > 0)).sum(dim=1).mean() / 2
        if self.agree_weight:
            clean = clean_logits.detach().float()
            wanted = torch.lerp(partner.take(clean), clean, lam[:, None])
            losses['loss_agree'] = self.agree_weight * divergence(wanted, outputs.logits.float())
        return Finished(losses=losses)

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        return (
            f'sides={self.sides}, token_weight={self.token_weight}, agree_weight={self.agree_weight}, '
            f'per_sample={self.per_sample}, partner={self.partner!r}'
        )


def choose_windows(scores: Tensor, side: Side) -> Windows:
    """Return the window with the largest sum of scores (N, h, w); of several, the first in reading order."""
    _, height, width = scores.shape
    if isinstance(side, Tensor):
        side = side.expand(len(scores))
    reach = side[:, None, None] if isinstance(side, Tensor) else side
    down, across = (torch.arange(size, device=scores.device) for size in (height, width))
    # Sums by two products of matrices: of running sums, a GPU can promise no order.
    sums = _covered(down, reach) @ scores @ _covered(across, reach).mT
    fits = (down[:, None] + reach <= height) & (across + reach <= width)
    first = sums.masked_fill(~fits, -torch.inf).flatten(1).argmax(dim=1)
    return Windows(first // width, first % width, side)


def _covered(places: Tensor, reach: Side) -> Tensor:
    """Return (N or none, places, places): 1 where a window that begins at the one place covers the other."""
    steps = places - places[:, None]
    return ((steps >= 0) & (steps < reach)).float()


def paste_windows(
    inputs: Tensor, partner: Partner, source: Windows, onto: Windows, mask: Tensor, patch: tuple[int, int]
) -> Tensor:
    """Return the images with a window of their partners moved to another place; the mask is 0 there."""
    others, order = partner.locate(inputs)
    channels = torch.arange(inputs.shape[1], device=inputs.device)
    rows = _moved(source.top - onto.top, patch[0], inputs.shape[2])
    columns = _moved(source.left - onto.left, patch[1], inputs.shape[3])
    index = order[:, None, None, None], channels[:, None, None], rows[:, None, :, None], columns[:, None, None, :]
    return others[index].lerp_(inputs, mask.to(inputs.dtype))  # what is gathered is ours to write into


def _moved(steps: Tensor, patch: int, size: int) -> Tensor:
    """Return the place that each of so many places takes its pixel from, (N, size), some patches away."""
    return (torch.arange(size, device=steps.device) + steps[:, None] * patch).clamp(0, size - 1)


def mean_tokens(tokens: Tensor, regions: Tensor) -> tuple[Tensor, Tensor]:
    """Return means of tokens (N, P, C) over regions (N, R, P) of zeros and ones, (N, R, C), and their sizes, (N, R)."""
    counts = regions.sum(dim=2)
    with full_precision(tokens.device):
        return regions @ tokens.float() / counts.clamp(min=1)[:, :, None], counts


def divergence(wanted: Tensor, given: Tensor) -> Tensor:
    """Return KL(softmax(wanted) || softmax(given)) of logits (N, K), summed over classes, averaged over samples."""
    return F.kl_div(given.log_softmax(dim=1), wanted.log_softmax(dim=1), reduction='batchmean', log_target=True)
