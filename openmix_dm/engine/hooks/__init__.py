"""What happens around the iterations of a training."""

from openmix_dm.engine.hooks.ema import EmaHook
from openmix_dm.engine.hooks.mixer_step import MixerStepHook
from openmix_dm.engine.hooks.pictures import PictureHook
from openmix_dm.engine.hooks.proof import ProofHook
from openmix_dm.engine.hooks.recording import RecordHook
from openmix_dm.engine.hooks.save import SaveHook
from openmix_dm.engine.seed import SeedHook

__all__ = ['EmaHook', 'MixerStepHook', 'PictureHook', 'ProofHook', 'RecordHook', 'SaveHook', 'SeedHook']
