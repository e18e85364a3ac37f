"""AutoMix and SAMix: masks that a small network learns to draw, by what a momentum copy of the model says of them."""

from openmix_dm.mixers.automix.automix import AutoMix
from openmix_dm.mixers.automix.samix import SAMix

__all__ = ['AutoMix', 'SAMix']
