"""Semi-supervised methods out of shared parts; docs/semi.md says how one is put together."""

from openmix_dm.semi.alignment import DistributionAlignment
from openmix_dm.semi.classifier import SemiClassifier
from openmix_dm.semi.labeler import Labeler
from openmix_dm.semi.ramps import CosineRamp, LinearRamp
from openmix_dm.semi.terms import (
    Consistency,
    CoTuning,
    GroupContrast,
    MixAll,
    MixBranch,
    Rotation,
    Spectral,
    Supervised,
    Term,
)
from openmix_dm.semi.thresholds import CurriculumThreshold, FixedThreshold

__all__ = [
    'CoTuning',
    'Consistency',
    'CosineRamp',
    'CurriculumThreshold',
    'DistributionAlignment',
    'FixedThreshold',
    'GroupContrast',
    'Labeler',
    'LinearRamp',
    'MixAll',
    'MixBranch',
    'Rotation',
    'SemiClassifier',
    'Spectral',
    'Supervised',
    'Term',
]
