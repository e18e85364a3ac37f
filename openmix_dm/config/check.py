"""Check a whole config against the real signatures, before any work is done."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mmengine.config import Config
from mmengine.registry import Registry
from mmengine.runner import Runner

from openmix_dm.config.locate import find_line
from openmix_dm.config.resolve import DEFAULT_HOOKS, LOADER_KEYS
from openmix_dm.errors import ConfigError, Failure
from openmix_dm.registry import (
    BACKBONES,
    DATA_SAMPLERS,
    DATASETS,
    HEADS,
    HOOKS,
    LOOPS,
    LOSSES,
    METRICS,
    MIXERS,
    MODELS,
    OPTIM_WRAPPERS,
    OPTIMIZERS,
    PARAM_SCHEDULERS,
    SEMI_PARTS,
    TERMS,
    TRANSFORMS,
)
from openmix_dm.utils.signatures import Arguments, arguments_of, describe, fits
from openmix_dm.utils.suggest import did_you_mean, nearest

# Top-level keys of ours, beside the arguments of mmengine's Runner and those that it reads from the config.
OURS = {'global_batch_size', 'channels_last'}
READ_BY_RUNNER = {'compile', 'find_unused_parameters', 'sync_bn', 'model_wrapper_cfg', 'custom_imports'}

# A config below one of these keys (of any depth, alone or in a list) is built by this registry.
REGISTRIES: dict[str, Registry] = {
    'model': MODELS,
    'data_preprocessor': MODELS,
    'backbone': BACKBONES,
    'teacher': BACKBONES,
    'head': HEADS,
    'mixer': MIXERS,
    'mixers': MIXERS,
    'loss': LOSSES,
    'losses': LOSSES,
    'dataset': DATASETS,
    'transforms': TRANSFORMS,
    'labelled_views': TRANSFORMS,
    'unlabelled_views': TRANSFORMS,
    'study_view': TRANSFORMS,
    'labeler': SEMI_PARTS,
    'threshold': SEMI_PARTS,
    'align': SEMI_PARTS,
    'ramp': SEMI_PARTS,
    'sampler': DATA_SAMPLERS,
    'optim_wrapper': OPTIM_WRAPPERS,
    'optimizer': OPTIMIZERS,
    'param_scheduler': PARAM_SCHEDULERS,
    'train_cfg': LOOPS,
    'val_cfg': LOOPS,
    'test_cfg': LOOPS,
    'val_evaluator': METRICS,
    'test_evaluator': METRICS,
    'custom_hooks': HOOKS,
}

# Arguments that the builder of a kind fills in or takes for itself.
FILLED_IN: dict[Registry, set[str]] = {
    HEADS: {'in_features'},
    LOOPS: {'runner', 'dataloader', 'evaluator'},
    DATA_SAMPLERS: {'dataset', 'batch_size', 'seed'},
    OPTIM_WRAPPERS: {'optimizer'},
    OPTIMIZERS: {'params'},
    PARAM_SCHEDULERS: {'optimizer', 'param_name'},
}

ALSO_TAKEN: dict[Registry, set[str]] = {
    OPTIM_WRAPPERS: {'constructor', 'paramwise_cfg'},
    PARAM_SCHEDULERS: {'convert_to_iter_based'},
    HOOKS: {'priority'},
}

DEFAULT_TYPES = {'train_cfg': 'EpochBasedTrainLoop', 'val_cfg': 'ValidationLoop', 'test_cfg': 'EvaluationLoop'}

PARAMWISE = {
    'norm_decay_mult', 'bias_lr_mult', 'bias_decay_mult', 'dcn_offset_lr_mult', 'bypass_duplicate', 'custom_keys',
    'dwconv_decay_mult', 'flat_decay_mult',
}  # fmt: skip

INHERITED = (
    '. If it was inherited: a changed type keeps the arguments of the old one, and '
    'dict(_delete_=True, type={kind!r}, ...) drops them'
)


def validate(config: Config) -> None:
    """Refuse unknown keys, unknown classes, wrong arguments and impossible values, with the nearest right name."""
    try:
        _check_top_level(config)
        for key, value in config.items():
            if not key.startswith('_'):
                _check_value(key, key, value)
        _check_values(config)
    except ConfigError as error:
        raise ConfigError(f'{error}{_place(config, str(error))}') from error.__cause__


def _place(config: Config, said: str) -> str:
    """Say which line of which file set the key that an error begins with; nothing if the command line did."""
    key = re.match(r'[\w.\[\]]+', said)
    line = find_line(Path(config.filename), key[0].rstrip('.')) if key and config.filename else None
    return f' ({line})' if line else ''


def _check_top_level(config: Config) -> None:
    runner = arguments_of(Runner.__init__).known - {'cfg'}
    known = runner | OURS | READ_BY_RUNNER
    for key in config:
        if not key.startswith('_') and key not in known:
            raise ConfigError(
                f'{key} is not a key of a config{did_you_mean(key, known)}; names of your own start with _'
            )
    for key in ('model', 'train_dataloader', 'train_cfg', 'optim_wrapper'):
        if config.get(key) is None:
            raise ConfigError(f'the config has no {key}')


def _check_value(path: str, name: str, value: Any) -> None:
    """Check what is below a key."""
    check = SPECIAL.get(name)
    if value is None:
        return
    if check is not None:
        check(path, value)
    elif name in REGISTRIES:
        _check_built(path, name, value)
    elif isinstance(value, Mapping):
        if 'type' in value:
            raise ConfigError(f'{path} names a type, but nothing is built below a key {name!r}')
        for key, inner in value.items():
            if isinstance(key, str):
                _check_value(f'{path}.{key}', key, inner)
    elif isinstance(value, list | tuple):
        for position, inner in enumerate(value):
            _check_value(f'{path}[{position}]', name, inner)


def _check_built(path: str, name: str, value: Any) -> None:
    """Check a config, or a list of them, that a registry builds."""
    if isinstance(value, list | tuple):
        for position, inner in enumerate(value):
            _check_built(f'{path}[{position}]', name, inner)
    elif isinstance(value, Mapping):
        _check_class(path, REGISTRIES[name], value, DEFAULT_TYPES.get(name))
    else:
        raise ConfigError(f'{path} must be a dict with a type, got {value!r}')


def _check_class(path: str, registry: Registry, value: Mapping[str, Any], default: str | None = None) -> None:
    kind = value.get('type', default)
    if kind is None:
        raise ConfigError(f'{path} has no type{_known(registry)}')
    if not isinstance(kind, str):
        raise ConfigError(f'{path}.type must be the name of a class, got {kind!r}')
    target = registry.get(kind)
    if target is None:
        raise ConfigError(f'{path}.type: there is no {registry.name} {kind!r}{did_you_mean(kind, _names(registry))}')
    _check_arguments(path, kind, arguments_of(target), value, registry)
    for key, inner in value.items():
        _check_value(f'{path}.{key}', key, inner)


def _check_arguments(path: str, kind: str, arguments: Arguments, value: Mapping[str, Any], registry: Registry) -> None:
    own = arguments.known - FILLED_IN.get(registry, set())
    own |= ALSO_TAKEN.get(registry, set()) | ({'optimizer'} if registry is OPTIM_WRAPPERS else set())
    for key in value:
        if key != 'type' and key not in own and not arguments.open:
            inherited = '' if nearest(key, own) else INHERITED.format(kind=kind)
            raise ConfigError(f'{path}.{key} is not an argument of {kind}{did_you_mean(key, own)}{inherited}')
        elif key in arguments.types and not fits(value[key], arguments.types[key]):
            raise ConfigError(f'{path}.{key} must be {describe(arguments.types[key])}, got {value[key]!r}')
    missing = arguments.required - FILLED_IN.get(registry, set()) - set(value)
    if missing and not arguments.open:
        raise ConfigError(f'{path}: {kind} needs {", ".join(sorted(missing))}')


def _known(registry: Registry) -> str:
    return f' (known: {", ".join(sorted(_names(registry)))})'


def _names(registry: Registry) -> set[str]:
    registry.import_from_location()
    return set(registry.module_dict) | (set(registry.parent.module_dict) if registry.parent else set())


# ---- keys whose dicts are no class's arguments ----


def _check_loader(path: str, value: Any) -> None:
    repeats = set() if 'train' in path else {'repeats'}  # of the images of a training batch
    _check_names(path, value, LOADER_KEYS - repeats)
    if 'dataset' not in value:
        raise ConfigError(f'{path} has no dataset')
    for key, inner in value.items():
        _check_value(f'{path}.{key}', key, inner)


def _names_only(allowed: set[str]) -> Callable[[str, Any], None]:
    return lambda path, value: _check_names(path, value, allowed)


def _check_names(path: str, value: Any, allowed: frozenset[str] | set[str]) -> None:
    if not isinstance(value, Mapping):
        raise ConfigError(f'{path} must be a dict, got {value!r}')
    for key in value:
        if key not in allowed:
            raise ConfigError(f'{path}.{key} is not known{did_you_mean(str(key), allowed)}')


def _check_hooks(path: str, value: Any) -> None:
    _check_names(path, value, {*DEFAULT_HOOKS, 'ema', 'pictures'})
    for key, inner in value.items():
        if inner is not None:
            _check_class(f'{path}.{key}', HOOKS, {**DEFAULT_HOOKS.get(key, {}), **inner})


def _check_environment(path: str, value: Any) -> None:
    _check_names(path, value, {'cudnn_benchmark', 'mp_cfg', 'dist_cfg', 'resource_limit'})
    limits = value.get('dist_cfg') or {}
    _check_names(f'{path}.dist_cfg', limits, {'timeout', 'init_timeout'})
    for name, seconds in limits.items():
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds <= 0:
            raise ConfigError(f'{path}.dist_cfg.{name} must be a number of seconds above 0, got {seconds!r}')


def _check_terms(path: str, value: Any) -> None:
    """Check configs by name; None leaves an inherited one out."""
    if not isinstance(value, Mapping) or 'type' in value:
        raise ConfigError(f'{path} must be a dict of terms by name, got {value!r}')
    for name, term in value.items():
        if term is not None:
            if not isinstance(term, Mapping):
                raise ConfigError(f'{path}.{name} must be a dict with a type, got {term!r}')
            _check_class(f'{path}.{name}', TERMS, term)


def _check_passes(path: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise ConfigError(f'{path} must be a dict of passes by name, got {value!r}')
    for name, options in value.items():
        _check_names(f'{path}.{name}', options, {'grad', 'statistics', 'interleave'})


def _check_freely(path: str, value: Any) -> None:
    """Leave alone what another package reads (timm's options)."""


def _check_erasing(path: str, value: Any) -> None:
    from openmix_dm.classifiers.erasing import RandomErasing

    _check_names(path, value, set(inspect.signature(RandomErasing.__init__).parameters) - {'self'})
    with refusing(path):
        RandomErasing(**value)


SPECIAL: dict[str, Callable[[str, Any], None]] = {
    'train_dataloader': _check_loader,
    'val_dataloader': _check_loader,
    'test_dataloader': _check_loader,
    'default_hooks': _check_hooks,
    'randomness': _names_only(set(inspect.signature(Runner.set_randomness).parameters) - {'self'}),
    'env_cfg': _check_environment,
    'paramwise_cfg': _names_only(PARAMWISE),
    'clip_grad': _names_only({'type', 'max_norm', 'norm_type', 'error_if_nonfinite', 'foreach', 'clip_value'}),
    'options': _check_freely,
    'erasing': _check_erasing,
    'terms': _check_terms,
    'passes': _check_passes,
}


def _check_values(config: Config) -> None:
    """Build the small parts for real: their constructors know which values are impossible."""
    parts = (
        ('mixer', MIXERS, config.model.get('mixer')),
        ('head.loss', LOSSES, config.model.get('head', {}).get('loss')),
    )
    for name, registry, part in parts:
        if part is not None:
            with refusing(f'model.{name}'):
                registry.build(part)


@contextmanager
def refusing(path: str) -> Iterator[None]:
    """Turn what a constructor says about a value into an error of the config."""
    try:
        yield
    except Failure:
        raise
    except (ValueError, TypeError, KeyError, AssertionError) as error:
        raise ConfigError(f'{path}: {error}') from error
