"""Accuracy on mixed images (the paper's Figures 3, 5 and A1)."""

import torch
from torch import Tensor


def mixed_hits(logits: Tensor, y_a: Tensor, y_b: Tensor) -> tuple[Tensor, Tensor]:
    """Say for each image that shows the classes y_a and y_b (N,) whether it is recognised, at top-1 and at top-2.

    Top-1 is right if the best class is one of the two; top-2 if the set of the two best classes is {y_a, y_b}. A pair
    of one class has no such set: it is wrong at top-2, and callers leave it out of both. A row with a logit that is not
    finite is wrong.
    """
    if logits.dim() != 2 or logits.shape[1] < 2 or not len(logits) == len(y_a) == len(y_b):
        raise ValueError(
            f'expected logits (N, 2 or more classes) and N labels on both sides, got {tuple(logits.shape)}, '
            f'{tuple(y_a.shape)} and {tuple(y_b.shape)}'
        )
    finite = logits.isfinite().all(dim=1)
    best = logits.topk(2, dim=1).indices
    is_a, is_b = best == y_a[:, None], best == y_b[:, None]
    return (is_a[:, 0] | is_b[:, 0]) & finite, is_a.any(dim=1) & is_b.any(dim=1) & (y_a != y_b) & finite


def nearest_bin(lam: Tensor, centres: Tensor) -> Tensor:
    """Return which centre each lam (N,) is nearest to; the lower one of equals."""
    return (lam[:, None] - centres[None, :]).abs().argmin(dim=1)


def count_by_bin(hits: Tensor, bins: Tensor, number: int) -> Tensor:
    """Return how many hits (N,) are in each bin."""
    return torch.zeros(number, dtype=torch.int64).index_add_(0, bins.cpu(), hits.cpu().to(torch.int64))
