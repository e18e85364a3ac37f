"""Losses over mixed labels: `loss(logits, target, weight=None) -> scalar`. Each stands alone in any PyTorch loop."""

from openmix_dm.losses.base import MixLoss
from openmix_dm.losses.by_policy import ByPolicy
from openmix_dm.losses.functional import decoupled_bce, decoupled_ce, mixed_bce, mixed_ce, rescale
from openmix_dm.losses.mixed_bce import DecoupledBCE, MixedBCE
from openmix_dm.losses.mixed_ce import DecoupledCE, MixedCE

__all__ = [
    'ByPolicy',
    'DecoupledBCE',
    'DecoupledCE',
    'MixLoss',
    'MixedBCE',
    'MixedCE',
    'decoupled_bce',
    'decoupled_ce',
    'mixed_bce',
    'mixed_ce',
    'rescale',
]
