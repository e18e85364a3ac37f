"""Terms of a semi-supervised loss: each one idea, put together by a config."""

from openmix_dm.semi.terms.base import Term
from openmix_dm.semi.terms.consistency import Consistency
from openmix_dm.semi.terms.mix_branch import MixBranch
from openmix_dm.semi.terms.mix_match import MixAll
from openmix_dm.semi.terms.rotation import Rotation
from openmix_dm.semi.terms.supervised import Supervised

__all__ = ['Consistency', 'MixAll', 'MixBranch', 'Rotation', 'Supervised', 'Term']
