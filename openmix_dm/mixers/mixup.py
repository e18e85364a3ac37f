"""Mixup (https://arxiv.org/abs/1710.09412): the weighted sum of two images."""

from torch import Tensor

from openmix_dm.mixers.base import Lam, Mixer, per_row, weight_for
from openmix_dm.mixers.partner import Partner
from openmix_dm.registry import MIXERS
from openmix_dm.structures import MixedPair, Probe


@MIXERS.register_module()
class Mixup(Mixer):
    """Show lam of the own image and 1 - lam of the partner in every pixel (https://arxiv.org/abs/1710.09412).

    Args:
        alpha: lam is drawn from Beta(alpha, alpha).
        per_sample: draw lam for each sample instead of once for the batch. Default: False.
        partner: who is mixed with whom: 'shift' (a random cyclic shift: no sample is mixed with itself, nothing is
            gathered) or 'permutation' (a random permutation). Default: 'shift'.

    Example:
        mixer = dict(type='Mixup', alpha=0.2)
    """

    def mix(
        self, inputs: Tensor, partner: Partner, lam: Lam, labels: Tensor | None = None, probe: Probe | None = None
    ) -> MixedPair:
        """Mix inputs with their partners."""
        rows = per_row(lam, inputs)
        return MixedPair(partner.blend(inputs, weight_for(lam, inputs)), rows)
