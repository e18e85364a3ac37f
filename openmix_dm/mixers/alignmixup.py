"""AlignMixup (https://arxiv.org/abs/2103.15375): features of two images are aligned by optimal transport, then mixed.

Differs from released code: the transport ends with the update of the side that is used, so that aligned features are
averages of features (released code ends with the other one, and where 100 rounds do not converge, which is usual, half
of the alignments are rescaled); distances are not expanded into a tensor of all pairs and channels; the rounds stop
without a wait for the device; a map of one place is mixed as it is. The autoencoder of the paper has no released code
and is not there.
"""

import math

import torch
from torch import Tensor, nn

from openmix_dm.mixers.base import Lam, Mixer, per_row, weight_for
from openmix_dm.mixers.mixup import Mixup
from openmix_dm.mixers.partner import Partner
from openmix_dm.mixers.teacher import last_map
from openmix_dm.registry import MIXERS
from openmix_dm.structures import HiddenMix, MixedPair, Probe
from openmix_dm.utils.checks import positive
from openmix_dm.utils.modules import full_precision


@MIXERS.register_module()
class AlignMixup(Mixer):
    """Mix images, or their last feature maps after these have been aligned (https://arxiv.org/abs/2103.15375).

    A fair coin for each batch decides for Mixup of the images or for the features. There each place of one map is
    assigned to places of the other by the entropic transport between them, and a second coin decides whose geometry is
    kept: lam of the own features and 1 - lam of the partner's in the own places, or of both in the partner's. lam
    weighs the own label in all three cases. The transport gets no gradient. The backbone's last stage has to give a
    map, (N, C, h, w). `pair` always mixes the images: its second batch goes through no network.

    Args:
        alpha: lam is drawn from Beta(alpha, alpha). Default: 2.0.
        entropy: strength of the entropic term: the larger, the more places share. Default: 0.1.
        rounds: rounds of Sinkhorn's algorithm at most. Default: 100.
        tolerance: rounds end when the potentials of an image change by less than this, summed over places and averaged
            over the batch. Default: 0.1.
        per_sample: draw lam for each sample instead of once for the batch. Default: False.
        partner: who is mixed with whom: 'shift' (a random cyclic shift: no sample is mixed with itself, nothing is
            gathered) or 'permutation' (a random permutation). Default: 'shift'.

    Example:
        mixer = dict(type='AlignMixup', alpha=2.0)
    """

    def __init__(
        self,
        alpha: float = 2.0,
        entropy: float = 0.1,
        rounds: int = 100,
        tolerance: float = 0.1,
        per_sample: bool = False,
        partner: str = 'shift',
    ) -> None:
        super().__init__(alpha, per_sample, partner)
        self.entropy, self.tolerance = positive('entropy', entropy), positive('tolerance', tolerance)
        if rounds < 1:
            raise ValueError(f'rounds must be at least 1, got {rounds}')
        self.rounds = rounds
        self.stage: str | None = None

    def attach(self, model: nn.Module) -> None:
        """Find the last stage of the model; refuse one that gives no map."""
        if hasattr(model, 'backbone'):
            self.stage, _ = last_map(model.backbone, 'AlignMixup aligns', 'ManifoldMix')

    def mix(
        self, inputs: Tensor, partner: Partner, lam: Lam, labels: Tensor | None = None, probe: Probe | None = None
    ) -> MixedPair:
        """Mix the images, or leave the features to be mixed after the last stage."""
        rows = per_row(lam, inputs)
        in_images, keep_own = self.draw_way()
        if in_images or self.stage is None:
            return MixedPair(partner.blend(inputs, weight_for(lam, inputs)), rows)
        return MixedPair(
            inputs, rows, hidden=HiddenMix(self.stage, lambda maps: self.mix_maps(maps, partner, lam, keep_own))
        )

    def draw_way(self) -> tuple[bool, bool]:
        """Draw whether images are mixed in place of features, and whether features keep the own places."""
        in_images, keep_own = (torch.rand(2, device='cpu') < 0.5).tolist()
        return in_images, keep_own

    def mix_maps(self, maps: Tensor, partner: Partner, lam: Lam, keep_own: bool) -> Tensor:
        """Mix maps (N, C, h, w) with those of their partners, in the own places or in the partner's."""
        own, other = maps.flatten(2), partner.take(maps).flatten(2)
        plan = self.align(own, other, keep_own).to(maps.dtype)
        if keep_own:
            mixed = torch.lerp(other @ plan.mT, own, weight_for(lam, own))
        else:
            mixed = torch.lerp(other, own @ plan, weight_for(lam, own))
        return mixed.view_as(maps)

    @torch.no_grad()
    def align(self, own: Tensor, other: Tensor, keep_own: bool) -> Tensor:
        """Return (N, places, places): how much of each place of the other each own place gets, or the reverse.

        Rows sum to 1 where the own places are kept, columns where the partner's are.
        """
        with full_precision(own.device):
            own, other = own.float(), other.float()
            squares = [(side * side).sum(dim=1) for side in (own, other)]
            scaled = (squares[0][:, :, None] + squares[1][:, None, :] - 2 * own.mT @ other).clamp(min=0) / -self.entropy
            return transport(scaled, self.rounds, self.tolerance / self.entropy, rows_last=keep_own)

    def pair(self, x_a: Tensor, x_b: Tensor, lam: Lam) -> MixedPair:
        """Mix two aligned batches as images: the second goes through no network, so it has no features to mix with."""
        return Mixup(self.alpha).pair(x_a, x_b, lam)

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        return f'{super().extra_repr()}, entropy={self.entropy}, rounds={self.rounds}'


def transport(scores: Tensor, rounds: int, tolerance: float, rows_last: bool) -> Tensor:
    """Return places x plan for scores (N, places, places) = -cost / entropy, between uniform marginals.

    Sinkhorn's algorithm on logarithms. Rows, or else columns, of the result sum to 1 exactly, the others as far as the
    rounds have come.
    """
    share = -math.log(scores.shape[-1])
    u, v = scores.new_zeros(scores.shape[:-1]), scores.new_zeros(scores.shape[:-1])
    goes_on = scores.new_ones((), dtype=torch.bool)
    for _ in range(rounds):
        new_u = share - (scores + v[:, None, :]).logsumexp(dim=2)
        new_v = share - (scores + new_u[:, :, None]).logsumexp(dim=1)
        change = (new_u - u).abs().sum(dim=1).mean()
        # On a device the rest of the rounds change nothing: to stop, the host would have to wait for it.
        u, v = torch.where(goes_on, new_u, u), torch.where(goes_on, new_v, v)
        goes_on = goes_on & (change >= tolerance)
        if scores.device.type == 'cpu' and not goes_on:
            break
    if rows_last:
        u = share - (scores + v[:, None, :]).logsumexp(dim=2)
    return (scores + u[:, :, None] + v[:, None, :] - share).exp()
