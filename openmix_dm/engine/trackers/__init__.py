"""Where records and pictures go besides metrics.jsonl: mmengine's Visualizer and its backends.

Every backend of mmengine and of other packages works as it is. Three are ours, because a run that goes on has to go on
there too: TensorBoard with one curve, W&B under one id, MLflow in one run.
"""

from openmix_dm.engine.trackers.services import MLflowVisBackend, WandbVisBackend
from openmix_dm.engine.trackers.tensorboard import ContinuedTensorboard
from openmix_dm.engine.trackers.visualizer import RunVisualizer

__all__ = ['ContinuedTensorboard', 'MLflowVisBackend', 'RunVisualizer', 'WandbVisBackend']
