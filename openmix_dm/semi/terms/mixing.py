"""Mixing across streams: which mixers can, and on which side of one half the weight of the own image lies."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from openmix_dm.mixers.base import Lam, Mixer
from openmix_dm.registry import MIXERS

TRIALS = 16

FOLDS: dict[str, Callable[[Tensor], Tensor]] = {
    'min': lambda lam: torch.minimum(lam, 1 - lam),  # the own image is the minor one: the asymmetric strategy
    'max': lambda lam: torch.maximum(lam, 1 - lam),  # the own image dominates: MixMatch
}


def fold_lam(lam: Lam, fold: str | None) -> Lam:
    """Fold lam, of a batch or of each sample; None leaves it as it was drawn."""
    if fold is None:
        return lam
    if isinstance(lam, Tensor):
        return FOLDS[fold](lam)
    return float(FOLDS[fold](torch.tensor(lam, dtype=torch.float64, device='cpu')))


def image_mixer(config: dict[str, Any]) -> Mixer:
    """Build a mixer that makes images of two images, without help of the network; refuse any other."""
    mixer = MIXERS.build(config)
    images, labels = torch.zeros(2, 3, 32, 32), torch.zeros(2, dtype=torch.int64)
    with torch.random.fork_rng(devices=[]):
        try:
            mixer.pair(images, images, 0.5)
            # ManifoldMix draws where it mixes, which may be the image for once
            batches = [mixer(images, labels) for _ in range(TRIALS)]
        except (TypeError, ValueError) as error:
            raise ValueError(f'{type(mixer).__name__} cannot mix across streams: {error}') from error
    if any(batch.hidden is not None or batch.after is not None or not batch.target.is_pair for batch in batches):
        raise ValueError(f'{type(mixer).__name__} leaves work to the network and cannot mix across streams; use Mixup')
    return mixer
