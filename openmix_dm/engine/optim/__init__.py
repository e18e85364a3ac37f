"""Optimisers, their steps, parameter groups and schedules."""

from openmix_dm.engine.optim.lamb import Lamb
from openmix_dm.engine.optim.parameter_groups import MixOptimConstructor
from openmix_dm.engine.optim.schedules import CosineTailLR, MixCosineLR
from openmix_dm.engine.optim.wrapper import MixOptimWrapper

__all__ = ['CosineTailLR', 'Lamb', 'MixCosineLR', 'MixOptimConstructor', 'MixOptimWrapper']
