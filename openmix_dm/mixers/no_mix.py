"""No mixing, in the form of a mixer: the "vanilla" rows of the tables."""

from functools import partial

import torch
from torch import Tensor

from openmix_dm.mixers.base import Lam, Mixer, check_batch, check_lam
from openmix_dm.mixers.partner import Partner
from openmix_dm.registry import MIXERS
from openmix_dm.structures import MixedBatch, MixedPair, MixTarget, Probe


@MIXERS.register_module()
class NoMix(Mixer):
    """Leave every sample as it is, with lam 1 and itself as its partner.

    The "vanilla" rows of the tables. The only lam that can be given to it is 1.

    Example:
        mixer = dict(type='NoMix')
    """

    def __init__(self) -> None:
        super().__init__(alpha=1.0)

    def forward(self, inputs: Tensor, labels: Tensor, probe: Probe | None = None, lam: Lam | None = None) -> MixedBatch:
        """Return the batch itself; the only lam that can be honoured is 1."""
        check_batch(inputs, labels)
        if lam is not None and (isinstance(lam, Tensor) or check_lam(lam, len(inputs)) != 1):
            raise ValueError(f'NoMix shows each image whole: lam must be 1, got {lam!r}')
        index = partial(torch.arange, len(inputs), device=inputs.device)
        return MixedBatch(inputs, MixTarget.hard(labels), index)

    def mix(
        self, inputs: Tensor, partner: Partner, lam: Lam, labels: Tensor | None = None, probe: Probe | None = None
    ) -> MixedPair:
        """Return the inputs themselves."""
        return MixedPair(inputs, torch.ones(len(inputs), device=inputs.device))

    def extra_repr(self) -> str:
        """Show nothing: there is nothing to set."""
        return ''
