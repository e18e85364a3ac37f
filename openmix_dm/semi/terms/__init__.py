"""Terms of a semi-supervised loss: each one idea, put together by a config."""

from openmix_dm.semi.terms.base import Term
from openmix_dm.semi.terms.co_tuning import CoTuning
from openmix_dm.semi.terms.consistency import Consistency
from openmix_dm.semi.terms.group_contrast import GroupContrast
from openmix_dm.semi.terms.mix_branch import MixBranch
from openmix_dm.semi.terms.mix_match import MixAll
from openmix_dm.semi.terms.rotation import Rotation
from openmix_dm.semi.terms.spectral import Spectral
from openmix_dm.semi.terms.supervised import Supervised

__all__ = [
    'CoTuning',
    'Consistency',
    'GroupContrast',
    'MixAll',
    'MixBranch',
    'Rotation',
    'Spectral',
    'Supervised',
    'Term',
]
