"""Cross-entropies over mixed labels: MCE and DM(CE)."""

from torch import Tensor

from openmix_dm.losses import functional
from openmix_dm.losses.base import MixLoss
from openmix_dm.losses.beyond_pairs import decoupled_terms, dense_ce
from openmix_dm.registry import LOSSES
from openmix_dm.structures import MixTarget
from openmix_dm.utils.checks import in_range, non_negative, one_of


@LOSSES.register_module()
class MixedCE(MixLoss):
    """Compute MCE, the cross-entropy with a mixed label: -(lam log p[a] + (1 - lam) log p[b]).

    With `MixTarget.hard(labels)` it is the usual cross-entropy. Logits are (N, C); the mean is over the batch, in
    float32 whatever the precision of the network.

    Args:
        label_smoothing: share of the label that is spread evenly over all classes. Default: 0.0.

    Example:
        loss = dict(type='MixedCE', label_smoothing=0.1)
    """

    label_fields = frozenset({'lam_b', 'rows_b'})

    def __init__(self, label_smoothing: float = 0.0) -> None:
        super().__init__()
        self.label_smoothing = in_range('label_smoothing', label_smoothing, 0, 1)

    def per_sample(self, logits: Tensor, target: MixTarget) -> Tensor:
        """Return the loss of each sample, (N,)."""
        if not target.is_pair:
            return dense_ce(logits, target.dense(logits.shape[1]), self.label_smoothing)
        return functional.mixed_ce(logits, target.y_a, target.y_b, target.lam, self.label_smoothing)

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        return f'label_smoothing={self.label_smoothing}'


@LOSSES.register_module()
class DecoupledCE(MixLoss):
    """Compute DM(CE), MCE plus eta times the decoupled regulariser (https://arxiv.org/abs/2203.10761).

    The regulariser -log(p[a] / (1 - p[b])) - log(p[b] / (1 - p[a])) asks for both classes at full strength, whatever
    lam is. It is left out for two samples of one class, where it is unbounded below, and where one of the two cannot be
    seen. Unlike in the released code, lam does not weigh it, and it is left out sample by sample. See
    `functional.decoupled_ce`.

    Args:
        eta: weight of the regulariser: 0.1 for static mixers and 1 for dynamic ones, with the exceptions of the paper's
            appendix B.3. 0 gives MCE.
        sides: 'both', or 'a' for the asymmetric strategy, in which only the own (labelled) side is decoupled.
            Default: 'both'.
        label_smoothing: share of the label that is spread evenly over all classes, in the MCE term only. Default: 0.0.
        lam_eps: the regulariser is left out for lam within this of 0 or 1. Default: 0.001.

    Example:
        loss = dict(type='DecoupledCE', eta=0.1)
    """

    label_fields = frozenset({'lam_b'})  # which of several classes would be the other one to ask for?

    def __init__(
        self,
        eta: float,
        sides: functional.Sides = 'both',
        label_smoothing: float = 0.0,
        lam_eps: float = functional.LAM_EPS,
    ) -> None:
        super().__init__()
        self.eta = non_negative('eta', eta)
        one_of('sides', sides, ('both', 'a'))
        self.sides = sides
        self.label_smoothing = in_range('label_smoothing', label_smoothing, 0, 1)
        self.lam_eps = in_range('lam_eps', lam_eps, 0, 0.5)

    def per_sample(self, logits: Tensor, target: MixTarget) -> Tensor:
        """Return the loss of each sample, (N,)."""
        if not target.is_pair:
            mixed = dense_ce(logits, target.dense(logits.shape[1]), self.label_smoothing)
            seen = (target.lam > self.lam_eps) & (target.weight_b > self.lam_eps) & (target.y_a != target.y_b)
            return mixed + self.eta * decoupled_terms(logits, target.y_a, target.y_b, seen, self.sides)
        return functional.decoupled_ce(
            logits, target.y_a, target.y_b, target.lam, self.eta, self.sides, self.label_smoothing, self.lam_eps
        )

    def own_side(self) -> 'DecoupledCE':
        """Return the same loss with the own side decoupled only."""
        return DecoupledCE(self.eta, 'a', self.label_smoothing, self.lam_eps)

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        return f'eta={self.eta}, sides={self.sides!r}, label_smoothing={self.label_smoothing}'
