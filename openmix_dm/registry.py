"""Where every class that a config may name is registered.

A registry imports its `locations` at the first lookup that needs them, so that a command pays only for what it uses.
Registries that mmengine knows too are children of mmengine's: its own classes stay reachable by their plain names.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from mmengine import registry as mmengine
from mmengine.registry import Registry

SCOPE = 'openmix_dm'


class PartRegistry(Registry):
    """A registry of parts of a model, in which names of another package's models are found too: `mmpretrain.ResNet`.

    mmengine keeps all models of a package in one registry, of which a scope has one only. So this one is no child of
    it, and asks it for what it does not know.
    """

    def get(self, key: str) -> Any:
        """Return a class by its name, None if there is none."""
        scope, _, name = key.rpartition('.')
        if scope in ('', SCOPE):
            return super().get(name)
        return mmengine.MODELS.get(key)


class TransformRegistry(Registry):
    """A registry in which transforms of other packages are found too: `torchvision/ColorJitter`, `mmcv/RandomFlip`.

    The adapter of each is made when it is first asked for, so that nobody else pays for the import of its package.
    """

    bridges = {  # modules with a BRIDGE, by the name of the package
        'torchvision': f'{SCOPE}.datasets.transforms.torchvision_bridge',
        'mmcv': f'{SCOPE}.datasets.transforms.mmcv_bridge',
    }

    def bridge(self, package: str) -> Any:
        """Return the `Bridge` to a package."""
        return import_module(self.bridges[package]).BRIDGE

    def get(self, key: str) -> Any:
        """Return a class by its name, None if there is none; one that is refused is an error that says why."""
        package, _, name = key.removeprefix(f'{SCOPE}.').rpartition('/')
        if package in self.bridges:
            return self._adapter(package, name)
        found = super().get(key)
        foreign = self.name_of(found)
        if foreign is None:
            return found
        # mmcv registers its transforms with mmengine by plain names: who imports it must not change what a name means
        return self.get(foreign) if '.' in key else None

    def build(self, cfg: Any, *args: Any, **kwargs: Any) -> Any:
        """Build a transform: in any scope, a name means what it means here, and a bridged class its adapter."""
        kind = cfg.get('type') if isinstance(cfg, dict) and '_scope_' not in cfg else None
        name = kind if isinstance(kind, str) else self.name_of(kind)
        target = self.get(name) if name else None
        return super().build({**cfg, 'type': target} if target else cfg, *args, **kwargs)

    def names(self) -> set[str]:
        """Return all names that can be used, those of the bridged packages too, which are imported for it."""
        self.import_from_location()
        bridged = {f'{package}/{name}' for package in self.bridges for name in self.bridge(package).usable()}
        others = {name for name, each in mmengine.TRANSFORMS.module_dict.items() if self.name_of(each) is None}
        return bridged | others | set(self.module_dict)

    def name_of(self, target: Any) -> str | None:
        """Return the name of a class of a bridged package, None for all others."""
        package, _, module = (getattr(target, '__module__', None) or '').partition('.')
        if package not in self.bridges or module.split('.')[0] != 'transforms' or not isinstance(target, type):
            return None
        name = target.__name__.rpartition('/')[2]  # an adapter has the name of its class, and its module
        return f'{package}/{name}' if name in self.bridge(package).classes() else None

    def _adapter(self, package: str, name: str) -> Any:
        key = f'{package}/{name}'
        if key not in self.module_dict:
            adapter = self.bridge(package).adapter(name)
            if adapter is None:
                return None
            self.register_module(name=key, module=adapter)
        return self.module_dict[key]


def _registry(name: str, *locations: str, parent: Registry | None = None, kind: type[Registry] = Registry) -> Registry:
    return kind(name, parent=parent, scope=SCOPE, locations=[f'{SCOPE}.{location}' for location in locations])


def registered_name(target: Any) -> str | None:
    """Return the name by which a config finds a class or function, None if nobody has registered it."""
    foreign = TRANSFORMS.name_of(target)
    if foreign is not None:
        return foreign
    for registry in [each for each in globals().values() if isinstance(each, Registry)]:
        for level in filter(None, (registry, registry.parent)):
            name = next((name for name, each in level.module_dict.items() if each is target), None)
            if name is not None:
                return name
    return None


@dataclass(frozen=True)
class Built:
    """What a class builds out of one of its arguments, for the check of configs.

    A class declares it beside its constructor: `builds = {'teacher': BACKBONES}`, or with more to say,
    `builds = {'head': Built(HEADS, filled=('in_features',))}`. Lists of such configs need no declaration of their own.

    Args:
        by: the registry that builds it, the class or function whose arguments it holds, or the names it may have.
        filled: arguments that the builder fills in; a config does not give them.
        taken: keys that the builder takes for itself.
        named: the argument holds configs by name; None leaves an inherited one out.
        default: the type of a config that names none.
    """

    by: Registry | Callable[..., Any] | frozenset[str]
    filled: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    named: bool = False
    default: str | None = None


MIXERS = _registry('mixer', 'mixers')
LOSSES = _registry('loss', 'losses', kind=PartRegistry)
BACKBONES = _registry('backbone', 'backbones', kind=PartRegistry)
HEADS = _registry('head', 'heads', kind=PartRegistry)
MODELS = _registry('model', 'classifiers', 'semi', parent=mmengine.MODELS)
TERMS = _registry('term', 'semi')  # of a semi-supervised loss
SEMI_PARTS = _registry('semi-supervised part', 'semi')  # what terms are made of: labelers, thresholds, ramps
DATASETS = _registry('dataset', 'datasets', parent=mmengine.DATASETS)
TRANSFORMS = TransformRegistry('transform', parent=mmengine.TRANSFORMS, scope=SCOPE, locations=[f'{SCOPE}.datasets'])
METRICS = _registry('metric', 'evaluation', parent=mmengine.METRICS)
HOOKS = _registry('hook', 'engine.hooks', parent=mmengine.HOOKS)
LOOPS = _registry('loop', 'engine.train_loops', 'engine.eval_loops', parent=mmengine.LOOPS)
RUNNERS = _registry('runner', 'engine.runner', parent=mmengine.RUNNERS)
OPTIMIZERS = _registry('optimizer', 'engine.optim', parent=mmengine.OPTIMIZERS)
OPTIM_WRAPPERS = _registry('optim_wrapper', 'engine.optim', parent=mmengine.OPTIM_WRAPPERS)
DATA_SAMPLERS = _registry('data sampler', 'datasets', parent=mmengine.DATA_SAMPLERS)
PARAM_SCHEDULERS = _registry('parameter scheduler', 'engine.optim', parent=mmengine.PARAM_SCHEDULERS)
OPTIM_WRAPPER_CONSTRUCTORS = _registry(
    'optimizer wrapper constructor', 'engine.optim', parent=mmengine.OPTIM_WRAPPER_CONSTRUCTORS
)
MODEL_WRAPPERS = _registry('model_wrapper', 'engine.optim', parent=mmengine.MODEL_WRAPPERS)
VISBACKENDS = _registry('vis_backend', 'engine.trackers', parent=mmengine.VISBACKENDS)
VISUALIZERS = _registry('visualizer', 'engine.trackers', parent=mmengine.VISUALIZERS)
EVALUATORS = _registry('evaluator', 'evaluation', parent=mmengine.EVALUATOR)
