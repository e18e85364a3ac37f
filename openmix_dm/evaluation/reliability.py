"""How far a model's confidence is from its accuracy: expected calibration error (arXiv:1706.04599)."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Reliability:
    """What a reliability diagram shows: one entry a bin of confidence, shares in [0, 1]; an empty bin has zeros."""

    edges: tuple[float, ...]  # one more than there are bins
    counts: tuple[int, ...]
    confidence: tuple[float, ...]  # mean of the bin
    accuracy: tuple[float, ...]
    ece: float  # in percent

    @property
    def accuracy_percent(self) -> float:
        """Return the accuracy over all bins."""
        hits = sum(count * accuracy for count, accuracy in zip(self.counts, self.accuracy, strict=True))
        return 100 * hits / sum(self.counts)


def reliability(confidence: Tensor, hits: Tensor, bins: int = 15) -> Reliability:
    """Sort predictions into bins of equal width, (low, high], by confidence (N,); hits (N,) says which are right.

    ECE = sum over bins of (share of the predictions) x |accuracy - mean confidence|, in percent.
    """
    _check(confidence, hits, bins)
    confidence, right = confidence.double(), hits.double()
    edges = torch.linspace(0, 1, bins + 1, dtype=torch.float64, device=confidence.device)
    place = torch.bucketize(confidence, edges[1:-1])  # a confidence on an edge belongs to the bin below
    counts = torch.zeros(bins, dtype=torch.float64, device=confidence.device).index_add_(
        0, place, torch.ones_like(right)
    )
    sums = [torch.zeros_like(counts).index_add_(0, place, values) for values in (confidence, right)]
    means = [total / counts.clamp(min=1) for total in sums]
    gap = ((means[1] - means[0]).abs() * counts).sum() / counts.sum()
    return Reliability(
        tuple(edges.tolist()),
        tuple(map(int, counts.tolist())),
        tuple(means[0].tolist()),
        tuple(means[1].tolist()),
        100 * float(gap),
    )


def confidence_of(probabilities: Tensor) -> tuple[Tensor, Tensor]:
    """Return how sure a model is of its best class, and that class, from its probabilities (N, classes)."""
    best = probabilities.max(dim=1)
    return best.values, best.indices


def _check(confidence: Tensor, hits: Tensor, bins: int) -> None:
    if bins < 1:
        raise ValueError(f'bins must be at least 1, got {bins}')
    if confidence.dim() != 1 or confidence.shape != hits.shape or not len(hits):
        raise ValueError(
            'confidence and hits must be two vectors of one length, 1 or more, got shapes '
            f'{tuple(confidence.shape)} and {tuple(hits.shape)}'
        )
    if not bool(((confidence >= 0) & (confidence <= 1)).all()):
        raise ValueError('confidence must be in [0, 1]; give probabilities, not logits')
