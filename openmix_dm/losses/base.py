"""What every loss over mixed labels has in common."""

from collections.abc import Collection
from typing import Any

from torch import Tensor, nn

from openmix_dm.structures import MixedBatch, MixTarget


class MixLoss(nn.Module):
    """Average a per-sample loss over the batch: `loss(logits, target, weight=None) -> scalar`.

    A weighted loss still divides by N, not by the sum of the weights: a masked sample counts as one without loss.
    The loss of no samples is 0, and so are its gradients.
    """

    label_fields: frozenset[str] = frozenset()  # of MixTarget's 'lam_b' and 'rows_b', those that it makes use of

    def forward(self, logits: Tensor, target: MixTarget | Tensor, weight: Tensor | None = None) -> Tensor:
        """Return the mean over the batch of weight times the loss of each sample.

        Class numbers (N,) in place of a target mean images that were not mixed, as in torch's own losses.
        """
        target = as_target(target)
        self.check_target(target)
        losses = self.per_sample(logits, target)
        losses = losses if weight is None else losses * weight
        return losses.mean() if len(losses) else losses.sum()  # the mean of nothing would be NaN

    def per_sample(self, logits: Tensor, target: MixTarget) -> Tensor:
        """Return the loss of each sample, (N,)."""
        raise NotImplementedError(f'{type(self).__name__} has to define per_sample()')

    def check_target(self, target: MixTarget) -> None:
        """Refuse labels of which it would leave something out."""
        for field in ('lam_b', 'rows_b'):
            if getattr(target, field) is not None and field not in self.label_fields:
                raise ValueError(_refusal(self, field))

    def check_fields(self, fields: Collection[str]) -> None:
        """Refuse a mixer whose labels have fields that it would leave out."""
        for field in sorted(set(fields) - self.label_fields):
            raise ValueError(_refusal(self, field))

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


def as_target(labels: Any) -> MixTarget:
    """Return mixed labels as they are, and class numbers (N,) in their form; refuse anything else."""
    if isinstance(labels, MixTarget):
        return labels
    if isinstance(labels, Tensor) and labels.dim() == 1 and not labels.is_floating_point() and not labels.is_complex():
        return MixTarget.hard(labels.long())
    if isinstance(labels, MixedBatch):
        got = 'the whole batch: give batch.target'
    elif isinstance(labels, Tensor):
        got = f'a tensor of {labels.dtype} and shape {tuple(labels.shape)}'
    else:
        got = type(labels).__name__
    raise TypeError(
        'the target must be a MixTarget, as mixer(images, labels).target is, or class numbers of shape (N,), which '
        f'mean MixTarget.hard(labels); got {got}'
    )


def _refusal(loss: MixLoss, field: str) -> str:
    kinds = {'lam_b': "give the partner's class a weight of its own", 'rows_b': 'are of more than two classes'}
    return (
        f'the labels of this mixer {kinds[field]} ({field}), which {type(loss).__name__} has no use for; take MixedCE'
    )
