"""On which side of one half the weight of the labelled image lies."""

from collections.abc import Callable

import torch
from torch import Tensor

from openmix_dm.mixers.base import Lam

FOLDS: dict[str, Callable[[Tensor], Tensor]] = {
    'none': lambda lam: lam,
    'min': lambda lam: torch.minimum(lam, 1 - lam),  # the own image is the minor one: the asymmetric strategy
    'max': lambda lam: torch.maximum(lam, 1 - lam),  # the own image dominates: MixMatch
}


def fold_lam(lam: Lam, fold: str) -> Lam:
    """Fold lam, of a batch or of each sample."""
    if isinstance(lam, Tensor):
        return FOLDS[fold](lam)
    return float(FOLDS[fold](torch.tensor(lam, dtype=torch.float64, device='cpu')))
