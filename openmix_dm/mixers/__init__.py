"""Mixers: `mixer(images, labels) -> MixedBatch`. Each stands alone in any PyTorch loop."""

from openmix_dm.mixers.alignmixup import AlignMixup
from openmix_dm.mixers.attentivemix import AttentiveMix
from openmix_dm.mixers.automix import AdAutoMix, AutoMix, SAMix
from openmix_dm.mixers.base import MaskMixer, Mixer
from openmix_dm.mixers.collate import MixCollate
from openmix_dm.mixers.cutmix import CutMix
from openmix_dm.mixers.fmix import FMix
from openmix_dm.mixers.gridmix import GridMix
from openmix_dm.mixers.guidedmixup import GuidedMixup
from openmix_dm.mixers.manifoldmix import ManifoldMix
from openmix_dm.mixers.mixpro import MixPro
from openmix_dm.mixers.mixup import Mixup
from openmix_dm.mixers.no_mix import NoMix
from openmix_dm.mixers.puzzle import PuzzleMix
from openmix_dm.mixers.random_mixer import RandomMixer
from openmix_dm.mixers.recursivemix import RecursiveMix
from openmix_dm.mixers.resizemix import ResizeMix
from openmix_dm.mixers.saliencymix import SaliencyMix
from openmix_dm.mixers.smmix import SMMix
from openmix_dm.mixers.smoothmix import SmoothMix
from openmix_dm.mixers.snapmix import SnapMix
from openmix_dm.mixers.tokenmix import TokenMix
from openmix_dm.mixers.transmix import TransMix

__all__ = [
    'AdAutoMix',
    'AlignMixup',
    'AttentiveMix',
    'AutoMix',
    'CutMix',
    'FMix',
    'GridMix',
    'GuidedMixup',
    'ManifoldMix',
    'MaskMixer',
    'MixCollate',
    'MixPro',
    'Mixer',
    'Mixup',
    'NoMix',
    'PuzzleMix',
    'RandomMixer',
    'RecursiveMix',
    'ResizeMix',
    'SAMix',
    'SMMix',
    'SaliencyMix',
    'SmoothMix',
    'SnapMix',
    'TokenMix',
    'TransMix',
]
