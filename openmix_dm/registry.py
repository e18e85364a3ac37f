"""Where every class that a config may name is registered.

A registry imports its `locations` at the first lookup that needs them, so that a command pays only for what it uses.
Registries that mmengine knows too are children of mmengine's: its own classes stay reachable by their plain names.
"""

from mmengine.registry import DATASETS as MMENGINE_DATASETS
from mmengine.registry import HOOKS as MMENGINE_HOOKS
from mmengine.registry import LOOPS as MMENGINE_LOOPS
from mmengine.registry import METRICS as MMENGINE_METRICS
from mmengine.registry import MODELS as MMENGINE_MODELS
from mmengine.registry import OPTIM_WRAPPERS as MMENGINE_OPTIM_WRAPPERS
from mmengine.registry import OPTIMIZERS as MMENGINE_OPTIMIZERS
from mmengine.registry import RUNNERS as MMENGINE_RUNNERS
from mmengine.registry import TRANSFORMS as MMENGINE_TRANSFORMS
from mmengine.registry import Registry

SCOPE = 'openmix_dm'


def _registry(name: str, *locations: str, parent: Registry | None = None) -> Registry:
    return Registry(name, parent=parent, scope=SCOPE, locations=[f'{SCOPE}.{location}' for location in locations])


MIXERS = _registry('mixer', 'mixers')
LOSSES = _registry('loss', 'losses')
BACKBONES = _registry('backbone', 'backbones')
HEADS = _registry('head', 'heads')
MODELS = _registry('model', 'classifiers', parent=MMENGINE_MODELS)
DATASETS = _registry('dataset', 'datasets', parent=MMENGINE_DATASETS)
TRANSFORMS = _registry('transform', 'datasets', parent=MMENGINE_TRANSFORMS)
METRICS = _registry('metric', 'evaluation', parent=MMENGINE_METRICS)
HOOKS = _registry('hook', 'engine.hooks', parent=MMENGINE_HOOKS)
LOOPS = _registry('loop', 'engine.loops', parent=MMENGINE_LOOPS)
RUNNERS = _registry('runner', 'engine.runner', parent=MMENGINE_RUNNERS)
OPTIMIZERS = _registry('optimizer', 'engine.optimizers', parent=MMENGINE_OPTIMIZERS)
OPTIM_WRAPPERS = _registry('optim_wrapper', 'engine.optimizers', parent=MMENGINE_OPTIM_WRAPPERS)
