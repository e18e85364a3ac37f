"""Losses for labels that are no pair of two classes with lam and 1 - lam, by autograd's own operations.

Two kinds: the partner's side has a weight of its own (`MixTarget.lam_b`; both may be anything in [0, 1]), or it is of
several classes (`rows_b`). Pairs, which almost all mixers make, have the faster functions of `functional`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from openmix_dm.losses.functional import Sides
from openmix_dm.losses.fused_ce import compute_dtype


def dense_ce(logits: Tensor, rows: Tensor, label_smoothing: float = 0.0) -> Tensor:
    """Cross-entropy with rows of label weights (N, classes), whatever they sum to, for each sample.

    -(sum of row * log p). Smoothing spreads its share of a row's sum evenly: it is that of each side's own
    cross-entropy, weighed as the side is.
    """
    log_p = logits.to(compute_dtype(logits)).log_softmax(dim=1)
    rows = rows.detach().to(log_p.dtype)
    if label_smoothing:
        rows = (1 - label_smoothing) * rows + label_smoothing * rows.mean(dim=1, keepdim=True)
    return -torch.where(rows > 0, rows * log_p, 0.0).sum(dim=1)  # a class that cannot be (-inf) may have no weight


def decoupled_terms(logits: Tensor, y_a: Tensor, y_b: Tensor, counts: Tensor, sides: Sides = 'both') -> Tensor:
    """The decoupled regulariser of two classes, for each sample that counts, else 0; see `functional.decoupled_ce`."""
    if logits.shape[1] <= 2:
        return logits.new_zeros(len(logits), dtype=compute_dtype(logits))
    z = logits.to(compute_dtype(logits))
    others = z.scatter(1, y_a[:, None], -torch.inf).scatter(1, y_b[:, None], -torch.inf).logsumexp(dim=1, keepdim=True)
    chosen = torch.stack([y_a, y_b] if sides == 'both' else [y_a], dim=1)
    return torch.where(counts, -F.logsigmoid(z.gather(1, chosen) - others).sum(dim=1), 0.0)


def dense_bce(logits: Tensor, rows: Tensor) -> Tensor:
    """Binary cross-entropy, summed over classes, with rows of targets (N, classes), each at most 1."""
    z = logits.to(compute_dtype(logits))
    targets = rows.detach().to(z.dtype).clamp(max=1)
    return F.binary_cross_entropy_with_logits(z, targets, reduction='none').sum(dim=1)
