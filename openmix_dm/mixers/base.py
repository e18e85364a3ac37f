"""The contract that every mixer keeps; the promises themselves are tests over the whole registry (tests/mixers)."""

from functools import partial
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from openmix_dm.mixers.partner import PARTNERS, Given, Partner, Reordering, draw_partner
from openmix_dm.structures import MixedBatch, MixedPair, MixTarget, Probe
from openmix_dm.utils.checks import one_of, positive
from openmix_dm.utils.transfers import to_device

LabelSource = Literal['pixels', 'drawn', 'attention', 'class_map']
Lam = float | Tensor  # one for the batch, or (N,): one for each sample


class Mixer(nn.Module):
    """Mix each sample of a batch with a partner from the same batch.

    A subclass says how two aligned images become one, in `mix`, which never gets an empty batch: that comes back as it
    is. All draws come from torch's default generators.

    Args:
        alpha: lam is drawn from Beta(alpha, alpha).
        per_sample: draw lam for each sample instead of once for the batch. Default: False.
        partner: who is mixed with whom: 'shift' (a random cyclic shift: no sample is mixed with itself, nothing is
            gathered) or 'permutation' (a random permutation). Default: 'shift'.
    """

    label_from: LabelSource = 'pixels'  # what lam in the labels agrees with
    label_fields: frozenset[str] = frozenset()  # of MixTarget's 'lam_b' and 'rows_b', those that its labels may have
    needs_model: ClassVar[bool] = False  # cannot mix before `attach` has built what it needs of a model
    example: ClassVar[dict[str, Any]] = {}  # arguments to show and test it with, beside alpha, if defaults do not do

    def __init__(self, alpha: float, per_sample: bool = False, partner: str = 'shift') -> None:
        super().__init__()
        self.alpha = positive('alpha', alpha)
        self.per_sample = per_sample
        self.partner = one_of('partner', partner, PARTNERS)
        # float64, because for a small alpha gamma numbers are often below the smallest float32
        self._concentration = torch.full((2,), alpha, dtype=torch.float64, device='cpu')

    def forward(self, inputs: Tensor, labels: Tensor, probe: Probe | None = None, lam: Lam | None = None) -> MixedBatch:
        """Mix a batch of float images (N, C, H, W) with labels (N,); a given lam, float or (N,), is honoured."""
        size = check_batch(inputs, labels)
        lam = self.draw_lam(size, inputs.device) if lam is None else check_lam(lam, size)
        if not size:
            return MixedBatch(inputs, MixTarget.hard(labels), partial(torch.arange, 0, device=inputs.device))
        partner = self.choose_partner(inputs, labels, probe)
        # Small results first: an allocator then gives the large one the memory of the last call, still in the cache.
        y_b = partner.take(labels)
        pair = self.mix(inputs, partner, lam, labels=labels, probe=probe)
        if pair.rows_b is not None:
            y_b = pair.rows_b.argmax(dim=1)
        target = MixTarget(labels, y_b, pair.lam, lam_b=pair.lam_b, rows_b=pair.rows_b)
        index = partial(partner.index, size, inputs.device)
        return MixedBatch(
            pair.inputs, target, index, pair.mask, pair.hidden, pair.after, pair.losses, pair.further, pair.partners
        )

    def pair(self, x_a: Tensor, x_b: Tensor, lam: Lam) -> MixedPair:
        """Mix two aligned batches, x_a the own side: the primitive for mixing across streams."""
        _check_images(x_a)
        if x_a.shape != x_b.shape:
            raise ValueError(f'x_a and x_b must have one shape, got {tuple(x_a.shape)} and {tuple(x_b.shape)}')
        lam = check_lam(lam, len(x_a))
        return self.mix(x_a, Given(x_b), lam) if len(x_a) else MixedPair(x_a, x_a.new_ones(0, dtype=torch.float32))

    def choose_partner(self, inputs: Tensor, labels: Tensor, probe: Probe | None = None) -> Reordering:
        """Choose who is mixed with whom; `mix` gets the very object, with whatever was measured to choose by."""
        return draw_partner(self.partner, len(inputs))

    def mix(
        self, inputs: Tensor, partner: Partner, lam: Lam, labels: Tensor | None = None, probe: Probe | None = None
    ) -> MixedPair:
        """Mix inputs with their partners."""
        raise NotImplementedError(f'{type(self).__name__} has to define mix()')

    def draw_lam(self, size: int, device: torch.device) -> Lam:
        """Draw lam on the CPU: the same seed gives the same numbers on every device, and nothing waits for a device."""
        # Beta as the share of one of two gamma numbers: torch.distributions does the same, at ten times the cost
        if self.per_sample:
            gammas = torch._standard_gamma(self._concentration[:, None].expand(2, size))
            return to_device(gammas[0] / gammas.sum(dim=0), device, torch.float32)
        own, other = torch._standard_gamma(self._concentration).tolist()
        return own / (own + other)

    def init_weights(self) -> None:
        """Load pretrained weights of networks that the mixer owns; called when the model loads its own."""

    def attach(self, model: nn.Module) -> None:
        """Prepare for a model before training: learned mixers copy what they need of it here.

        Called when the model is built, and again when it has loaded weights from elsewhere.
        """

    def check_size(self, height: int, width: int) -> None:
        """Refuse images of a size that the mixer was not set up for. Called when a run is built, or never."""

    def begin(self, steps: int) -> None:
        """Learn how many optimiser steps the whole run has: schedules end there. Called before training, or never."""

    def begin_epoch(self) -> None:
        """Forget what was of the last epoch. Called before the first batch of each, or never."""

    def history(self) -> dict[str, Any]:
        """Return what this rank carries from batch to batch beside its state dict, to be saved; {} for nothing."""
        return {}

    def restore_history(self, history: dict[str, Any]) -> None:
        """Go on from what `history` returned; {}: from nothing, as in the first batch."""

    def after_step(self, model: nn.Module) -> None:
        """Follow the model after an optimiser step: momentum networks are updated here."""

    @property
    def rests(self) -> bool:
        """Whether some batches leave trainable parameters of the mixer without a gradient."""
        return False

    def classifiers(self) -> dict[str, nn.Module]:
        """Name the networks of the mixer's own, from images to logits, that are worth evaluating beside the model."""
        return {}

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        return f'alpha={self.alpha}, per_sample={self.per_sample}, partner={self.partner!r}'


class MaskMixer(Mixer):
    """Mix by a mask over the pixels that all channels share; lam is what the mask really shows of the own image."""

    def mix(
        self, inputs: Tensor, partner: Partner, lam: Lam, labels: Tensor | None = None, probe: Probe | None = None
    ) -> MixedPair:
        """Mix inputs with their partners by the mask that `draw_mask` makes of lam."""
        height, width = inputs.shape[-2:]
        mask, shown = self.draw_mask(lam, height, width, inputs.device)
        rows = per_row(shown, inputs)
        weight = mask if mask.dtype == inputs.dtype else mask.to(inputs.dtype)
        return MixedPair(partner.blend(inputs, weight), rows, mask)

    def draw_mask(self, lam: Lam, height: int, width: int, device: torch.device) -> tuple[Tensor, Lam]:
        """Return a mask and its mean: how much of the own image it shows.

        The mask is float32, 1 where the own image is shown; (1, 1, H, W) for one lam, (N, 1, H, W) for a lam a sample.
        """
        raise NotImplementedError(f'{type(self).__name__} has to define draw_mask()')


def per_row(lam: Lam, inputs: Tensor) -> Tensor:
    """Return lam as (N,) float32 on the device of the inputs."""
    if isinstance(lam, Tensor):
        return to_device(lam, inputs.device, torch.float32).expand(len(inputs))
    return torch.full((len(inputs),), lam, device=inputs.device)


def weight_for(lam: Lam, inputs: Tensor) -> Tensor:
    """Return lam as a tensor that broadcasts against inputs: torch.lerp is a sixth faster by it than by a number."""
    if isinstance(lam, Tensor):
        rows = to_device(lam, inputs.device, inputs.dtype)
        return rows.view(-1, *[1] * (inputs.dim() - 1))
    return torch.full([1] * inputs.dim(), lam, dtype=inputs.dtype, device=inputs.device)


def check_lam(lam: Lam, size: int) -> Lam:
    """Return a lam given from outside if it fits; the values of a tensor are not looked at (that would wait for it)."""
    if isinstance(lam, Tensor):
        if lam.shape not in ((), (size,)):
            raise ValueError(f'lam must be a number or a tensor of shape ({size},), got shape {tuple(lam.shape)}')
        return lam.expand(size)
    if not 0 <= lam <= 1:
        raise ValueError(f'lam must be in [0, 1], got {lam!r}')
    return float(lam)


def _check_images(inputs: Tensor) -> None:
    if not inputs.is_floating_point():
        raise ValueError(f'a mixer takes normalised float images, got {inputs.dtype}; convert and normalise them first')
    if inputs.dim() != 4:
        raise ValueError(f'a mixer takes images of shape (N, C, H, W), got {tuple(inputs.shape)}')


def check_batch(inputs: Tensor, labels: Tensor) -> int:
    """Return the size of a batch of float images with their labels; refuse anything else."""
    _check_images(inputs)
    size = inputs.shape[0]
    if labels.shape != (size,) or labels.is_floating_point():
        raise ValueError(f'labels must be class numbers of shape ({size},), got {labels.dtype} {tuple(labels.shape)}')
    return size
