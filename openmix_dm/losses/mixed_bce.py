"""Binary cross-entropies over mixed labels: MBCE and DM(BCE)."""

from dataclasses import replace

import torch
from torch import Tensor

from openmix_dm.losses import functional
from openmix_dm.losses.base import MixLoss
from openmix_dm.losses.beyond_pairs import dense_bce
from openmix_dm.registry import LOSSES
from openmix_dm.structures import MixTarget
from openmix_dm.utils.checks import in_range, non_negative


@LOSSES.register_module()
class MixedBCE(MixLoss):
    """Compute MBCE, the binary cross-entropy with a mixed label.

    It is summed over classes, so that gradients have the size that they have with a softmax, and averaged over the
    batch. For two samples of one class the target is the sum of both, at most 1.

    Args:
        two_hot: give both classes the target 1, which is MBCE(two), instead of lam and 1 - lam, MBCE(one).
            Default: False.

    Example:
        loss = dict(type='MixedBCE', two_hot=True)
    """

    def __init__(self, two_hot: bool = False) -> None:
        super().__init__()
        self.two_hot = two_hot
        self.label_fields = frozenset({'lam_b'} if two_hot else {'lam_b', 'rows_b'})

    def per_sample(self, logits: Tensor, target: MixTarget) -> Tensor:
        """Return the loss of each sample, (N,)."""
        if target.is_pair or self.two_hot:
            return functional.mixed_bce(logits, target.y_a, target.y_b, target.lam, self.two_hot)
        return dense_bce(logits, target.dense(logits.shape[1]))

    def probabilities(self, logits: Tensor) -> Tensor:
        """Return the sigmoid of each logit: classes are learned independently of each other."""
        return logits.float().sigmoid()

    def describe_target(self, lam: float) -> str:
        """Say that both classes have the target 1."""
        return 'BCE 1 / 1' if self.two_hot else ''

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        return f'two_hot={self.two_hot}'


@LOSSES.register_module()
class DecoupledBCE(MixLoss):
    """Compute DM(BCE), the binary cross-entropy with rescaled label weights (https://arxiv.org/abs/2203.10761).

    The targets are r(lam) and r(1 - lam) with r(lam) = min(1, lam / xi) ** t and r(0) = 0; the paper's formula is not
    cut off at 1. The paper: t = 1, xi = 0.8 for cutting mixers; t = 0.5, xi = 1 for interpolating ones. t = 1, xi = 1
    is MBCE(one), t = 0 is MBCE(two). It is summed over classes and averaged over the batch. For two samples of one
    class the target is the sum of both, at most 1. There is no eta.

    Args:
        t: exponent; below 1 it lifts small parts. Default: 1.0.
        xi: threshold in (0, 1]: a part of this size or more counts in full. Default: 1.0.

    Example:
        loss = dict(type='DecoupledBCE', t=1.0, xi=0.8)
    """

    label_fields = frozenset({'lam_b'})

    def __init__(self, t: float = 1.0, xi: float = 1.0) -> None:
        super().__init__()
        self.t = non_negative('t', t)
        self.xi = in_range('xi', xi, 0, 1, open_low=True)

    def per_sample(self, logits: Tensor, target: MixTarget) -> Tensor:
        """Return the loss of each sample, (N,)."""
        if target.lam_b is None:
            return functional.decoupled_bce(logits, target.y_a, target.y_b, target.lam, self.t, self.xi)
        own, other = (functional.rescale(weight, self.t, self.xi) for weight in (target.lam, target.lam_b))
        return dense_bce(logits, replace(target, lam=own, lam_b=other).dense(logits.shape[1]))

    def probabilities(self, logits: Tensor) -> Tensor:
        """Return the sigmoid of each logit: classes are learned independently of each other."""
        return logits.float().sigmoid()

    def describe_target(self, lam: float) -> str:
        """Say the rescaled weights of both classes."""
        own, other = (float(functional.rescale(torch.tensor(share), self.t, self.xi)) for share in (lam, 1 - lam))
        return f'BCE {own:.2f} / {other:.2f}'

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        return f't={self.t}, xi={self.xi}'
