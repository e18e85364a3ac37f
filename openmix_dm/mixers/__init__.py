"""Mixers: `mixer(images, labels) -> MixedBatch`. Each stands alone in any PyTorch loop."""

from openmix_dm.mixers.base import MaskMixer, Mixer
from openmix_dm.mixers.cutmix import CutMix
from openmix_dm.mixers.mixup import Mixup
from openmix_dm.mixers.no_mix import NoMix
from openmix_dm.mixers.random_mixer import RandomMixer

__all__ = ['CutMix', 'MaskMixer', 'Mixer', 'Mixup', 'NoMix', 'RandomMixer']
