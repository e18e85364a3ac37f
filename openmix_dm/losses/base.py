"""What every loss over mixed labels has in common."""

from torch import Tensor, nn

from openmix_dm.structures import MixTarget


class MixLoss(nn.Module):
    """Average a per-sample loss over the batch: `loss(logits, target, weight=None) -> scalar`.

    A weighted loss still divides by N, not by the sum of the weights: a masked sample counts as one without loss.
    The loss of no samples is 0, and so are its gradients.
    """

    def forward(self, logits: Tensor, target: MixTarget, weight: Tensor | None = None) -> Tensor:
        """Return the mean over the batch of weight times the loss of each sample."""
        losses = self.per_sample(logits, target)
        losses = losses if weight is None else losses * weight
        return losses.mean() if len(losses) else losses.sum()  # the mean of nothing would be NaN

    def per_sample(self, logits: Tensor, target: MixTarget) -> Tensor:
        """Return the loss of each sample, (N,)."""
        raise NotImplementedError(f'{type(self).__name__} has to define per_sample()')

    def probabilities(self, logits: Tensor) -> Tensor:
        """Return what logits (N, classes) that this loss has trained mean: by default their softmax.

        Whoever shows or uses a trained model asks this, and nobody asks for the class of its loss.
        """
        return logits.float().softmax(dim=1)

    def own_side(self) -> 'MixLoss':
        """Return the loss for pairs whose partner has a pseudo-label: what it does to both sides, for the own one only.

        The asymmetric strategy of semi-supervised training; a loss that treats both sides alike is its own.
        """
        return self

    def describe_target(self, lam: float) -> str:
        """Say what the loss makes of lam where that is not lam itself, for pictures of mixed samples."""
        return ''
