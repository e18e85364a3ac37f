"""AutoMix, SAMix and AdAutoMix: masks that a network learns to draw, judged by a momentum copy of the model."""

from openmix_dm.mixers.automix.adautomix import AdAutoMix
from openmix_dm.mixers.automix.automix import AutoMix
from openmix_dm.mixers.automix.samix import SAMix

__all__ = ['AdAutoMix', 'AutoMix', 'SAMix']
