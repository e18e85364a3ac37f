"""Binary cross-entropies over mixed labels: MBCE and DM(BCE)."""

from torch import Tensor

from openmix_dm.losses import functional
from openmix_dm.losses.base import MixLoss
from openmix_dm.registry import LOSSES
from openmix_dm.structures import MixTarget
from openmix_dm.utils.checks import in_range, non_negative


@LOSSES.register_module()
class MixedBCE(MixLoss):
    """MBCE: targets lam and 1 - lam, MBCE(one), or 1 for both classes, MBCE(two). Summed over classes."""

    def __init__(self, two_hot: bool = False) -> None:
        super().__init__()
        self.two_hot = two_hot

    def per_sample(self, logits: Tensor, target: MixTarget) -> Tensor:
        """Return the loss of each sample, (N,)."""
        return functional.mixed_bce(logits, target.y_a, target.y_b, target.lam, self.two_hot)

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        return f'two_hot={self.two_hot}'


@LOSSES.register_module()
class DecoupledBCE(MixLoss):
    """DM(BCE): targets r(lam) and r(1 - lam) with r = min(1, lam / xi) ** t. Summed over classes.

    The paper: t = 1, xi = 0.8 for cutting mixers; t = 0.5, xi = 1 for interpolating ones. t = 1, xi = 1 is MBCE(one).
    """

    def __init__(self, t: float = 1.0, xi: float = 1.0) -> None:
        super().__init__()
        self.t = non_negative('t', t)
        self.xi = in_range('xi', xi, 0, 1, open_low=True)

    def per_sample(self, logits: Tensor, target: MixTarget) -> Tensor:
        """Return the loss of each sample, (N,)."""
        return functional.decoupled_bce(logits, target.y_a, target.y_b, target.lam, self.t, self.xi)

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        return f't={self.t}, xi={self.xi}'
