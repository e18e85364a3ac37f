"""Check a whole config before any work is done: its top-level keys, and what they build."""

import inspect
import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from mmengine.config import Config
from mmengine.runner import Runner

from openmix_dm.config.check_built import check_built, check_names, names_in, refusing
from openmix_dm.config.locate import find_line
from openmix_dm.config.refused import OUR_HOOKS, REFUSED, REFUSED_WRAPPERS
from openmix_dm.config.resolve import DEFAULT_HOOKS, LOADER_KEYS
from openmix_dm.errors import ConfigError
from openmix_dm.registry import (
    DATA_SAMPLERS,
    DATASETS,
    EVALUATORS,
    HOOKS,
    LOOPS,
    LOSSES,
    METRICS,
    MIXERS,
    MODEL_WRAPPERS,
    MODELS,
    OPTIM_WRAPPER_CONSTRUCTORS,
    OPTIM_WRAPPERS,
    OPTIMIZERS,
    PARAM_SCHEDULERS,
    VISBACKENDS,
    VISUALIZERS,
    Built,
)
from openmix_dm.utils.signatures import arguments_of
from openmix_dm.utils.suggest import did_you_mean, nearest

# Top-level keys of ours, beside the arguments of mmengine's Runner and those that it reads from the config.
OURS = {'global_batch_size', 'channels_last', 'prefetch_to_device'}
READ_BY_RUNNER = {
    'activation_checkpointing',
    'compile',
    'custom_imports',
    'find_unused_parameters',
    'model_wrapper_cfg',
    'sync_bn',
}
LOOP = ('runner', 'dataloader', 'evaluator')  # what the runner fills in
TOP_LEVEL: dict[str, Built] = {
    'model': Built(MODELS),
    'data_preprocessor': Built(MODELS),
    'optim_wrapper': Built(OPTIM_WRAPPERS, filled=('optimizer',), taken=('optimizer', 'constructor', 'paramwise_cfg')),
    'param_scheduler': Built(PARAM_SCHEDULERS, filled=('optimizer', 'param_name'), taken=('convert_to_iter_based',)),
    'train_cfg': Built(LOOPS, default='EpochBasedTrainLoop', filled=LOOP),
    'val_cfg': Built(LOOPS, default='ValidationLoop', filled=LOOP),
    'test_cfg': Built(LOOPS, default='EvaluationLoop', filled=LOOP),
    'custom_hooks': Built(HOOKS, taken=('priority',)),
    'model_wrapper_cfg': Built(
        MODEL_WRAPPERS,
        default='MMDistributedDataParallel',
        filled=('module', 'device_ids', 'output_device', 'process_group'),
    ),
}
LOADER_NUMBERS = {'batch_size': 1, 'repeats': 1, 'num_workers': 0, 'prefetch_factor': 1, 'timeout': 0}  # the least
VISUALIZER_FILLED = ('name', 'save_dir', 'vis_backends')
LOADER: dict[str, Built] = {
    'dataset': Built(DATASETS),
    'sampler': Built(DATA_SAMPLERS, filled=('dataset', 'batch_size', 'seed')),
}


def validate(config: Config, options: Sequence[str] = ()) -> None:
    """Refuse unknown keys, unknown classes, wrong arguments and impossible values, with the nearest right name.

    Args:
        config: the whole config.
        options: what --cfg-options have changed in it, which is blamed instead of a line of a file. Default: ().
    """
    try:
        _check_top_level(config)
        for key, value in config.items():
            if not key.startswith('_') and value is not None:
                SPECIAL.get(key, _check_top_value)(key, value)
        _check_values(config)
    except ConfigError as error:
        raise ConfigError(f'{error}{_place(config, str(error), options)}') from error.__cause__


def _place(config: Config, said: str, options: Sequence[str]) -> str:
    """Say who set the key that an error begins with: the command line, or which line of which file."""
    found = re.match(r'[\w.\[\]]+', said)
    if found is None:
        return ''
    key = found[0].rstrip('.')
    if option := _guilty_option(key, said, options):
        return f' (--cfg-options {shlex.quote(option)})'
    line = find_line(Path(config.filename), key) if config.filename else None
    return f' ({line})' if line else ''


def _guilty_option(key: str, said: str, options: Sequence[str]) -> str | None:
    """Return the last option that set a key, or that set a value inside of it which the error names."""
    wanted = re.sub(r'\[(\d+)\]', r'.\1', key)
    for option in reversed(options):
        name = option.partition('=')[0].strip()
        inside = name.startswith(f'{wanted}.') and name.rpartition('.')[2] in re.findall(r'\w+', said)
        if inside or name == wanted or wanted.startswith(f'{name}.'):
            return option
    return None


def _check_top_level(config: Config) -> None:
    runner = arguments_of(Runner.__init__).known - {'cfg'} - set(REFUSED)
    known = runner | OURS | READ_BY_RUNNER
    for key in config:
        if key in REFUSED and config[key] is not None:
            raise ConfigError(f'{key} is not honoured: {REFUSED[key]}')
        if not key.startswith('_') and key not in known and key not in REFUSED:
            raise ConfigError(
                f'{key} is not a key of a config{did_you_mean(key, known)}; names of your own start with _'
            )
    for key in ('model', 'train_dataloader', 'train_cfg', 'optim_wrapper'):
        if config.get(key) is None:
            raise ConfigError(
                f'{config.filename or "the config"} has no {key}: a config that can be trained has a model, a '
                'train_dataloader, a train_cfg and an optim_wrapper, its own or by _base_'
            )
    if config.get('compile') and config.get('activation_checkpointing'):
        raise ConfigError(
            'activation_checkpointing and compile do not go together: a compiled backbone decides by itself what to '
            'compute again; leave one of them out'
        )


def _check_top_value(path: str, value: Any) -> None:
    if path in TOP_LEVEL:
        check_built(path, TOP_LEVEL[path], value)
    elif isinstance(value, Mapping) and 'type' in value:
        raise ConfigError(f'{path} names a type, but nothing is built from it')


# ---- top-level keys that are no class's arguments ----


def _check_loader(path: str, value: Any) -> None:
    repeats = set() if 'train' in path else {'repeats'}  # of the images of a training batch
    check_names(path, value, LOADER_KEYS - repeats)
    if 'dataset' not in value:
        raise ConfigError(f'{path} has no dataset')
    for name, least in LOADER_NUMBERS.items():
        number = value.get(name, least)
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise ConfigError(f'{path}.{name} must be a whole number, {least} or above, got {number!r}')
    for key, built in LOADER.items():
        if value.get(key) is not None:
            check_built(f'{path}.{key}', built, value[key])


def _check_optim_wrapper(path: str, value: Any) -> None:
    _check_top_value(path, value)
    if value.get('optimizer') is not None:
        check_built(f'{path}.optimizer', Built(OPTIMIZERS, filled=('params',)), value['optimizer'])
    name = str(value.get('constructor', 'MixOptimConstructor'))
    constructor = OPTIM_WRAPPER_CONSTRUCTORS.get(name)
    if constructor is None:
        near = did_you_mean(name, names_in(OPTIM_WRAPPER_CONSTRUCTORS))
        raise ConfigError(f'{path}.constructor: there is no {OPTIM_WRAPPER_CONSTRUCTORS.name} {name!r}{near}')
    if value.get('paramwise_cfg') is not None and hasattr(constructor, 'paramwise_keys'):
        check_names(f'{path}.paramwise_cfg', value['paramwise_cfg'], constructor.paramwise_keys)


def _check_evaluator(path: str, value: Any) -> None:
    """Check metrics; an evaluator of another package is left to itself."""
    if isinstance(value, Mapping) and isinstance(value.get('type'), str) and EVALUATORS.get(value['type']) is not None:
        return
    check_built(path, Built(METRICS), value)


def _check_visualizer(path: str, value: Any) -> None:
    """Check a visualizer and its backends; both may be those of another package."""
    check_built(path, Built(VISUALIZERS, VISUALIZER_FILLED, default='RunVisualizer', taken=('vis_backends',)), value)
    if value.get('vis_backends') is not None:
        check_built(
            f'{path}.vis_backends',
            Built(VISBACKENDS, filled=('save_dir',), taken=('name', 'save_dir')),
            value['vis_backends'],
        )


def _names_only(allowed: Collection[str]) -> Callable[[str, Any], None]:
    return lambda path, value: check_names(path, value, allowed)


def _check_hooks(path: str, value: Any) -> None:
    """Check hooks by name; the names are open, but a hook that is not ours by its name has to say its type."""
    if not isinstance(value, Mapping):
        raise ConfigError(f'{path} must be a dict of hooks by name, got {value!r}')
    for key, inner in value.items():
        known = {*DEFAULT_HOOKS, 'ema', 'pictures'}
        if inner is None and key not in known and nearest(key, known):  # it would leave out nothing
            raise ConfigError(f'{path}.{key} is none of our hooks{did_you_mean(key, known)}')
        if inner is None:
            continue
        if not isinstance(inner, Mapping):
            raise ConfigError(f'{path}.{key} must be a dict with a type, got {inner!r}')
        whole = {**DEFAULT_HOOKS.get(key, {}), **inner}
        if 'type' not in whole:
            raise ConfigError(f'{path}.{key} has no type, and is none of our hooks{did_you_mean(key, DEFAULT_HOOKS)}')
        check_built(f'{path}.{key}', TOP_LEVEL['custom_hooks'], whole)
        _refuse_hook(f'{path}.{key}', whole)


def _check_custom_hooks(path: str, value: Any) -> None:
    _check_top_value(path, value)
    for position, hook in enumerate(value if isinstance(value, list | tuple) else [value]):
        _refuse_hook(f'{path}[{position}]', hook)


def _refuse_hook(path: str, hook: Mapping[str, Any]) -> None:
    kind = hook.get('type')
    name = kind if isinstance(kind, str) else getattr(kind, '__name__', '')
    if name in OUR_HOOKS:
        raise ConfigError(f'{path}: {name} of mmengine would fight ours; use default_hooks.{OUR_HOOKS[name]}')


def _check_environment(path: str, value: Any) -> None:
    check_names(path, value, {'cudnn_benchmark', 'mp_cfg', 'dist_cfg', 'resource_limit'})
    limits = value.get('dist_cfg') or {}
    check_names(f'{path}.dist_cfg', limits, {'timeout', 'init_timeout'})
    for name, seconds in limits.items():
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds <= 0:
            raise ConfigError(f'{path}.dist_cfg.{name} must be a number of seconds above 0, got {seconds!r}')


def _check_wrapper(path: str, value: Any) -> None:
    """Check the wrapper for several ranks; only torch's DistributedDataParallel and what is like it can be one."""
    kind = value.get('type') if isinstance(value, Mapping) else None
    name = getattr(kind, '__name__', kind)
    if name in REFUSED_WRAPPERS:
        raise ConfigError(f'{path}.type: {name} cannot train here: {REFUSED_WRAPPERS[name]}')
    _check_top_value(path, value)


def _check_sync_bn(path: str, value: Any) -> None:
    if value != 'torch':
        raise ConfigError(f"{path} must be 'torch', got {value!r}; 'mmcv' would need the compiled operators of mmcv")


def _check_module_names(path: str, value: Any) -> None:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise ConfigError(f"{path} must be names of modules such as ['backbone.stage1'], got {value!r}")


SPECIAL: dict[str, Callable[[str, Any], None]] = {
    'train_dataloader': _check_loader,
    'val_dataloader': _check_loader,
    'test_dataloader': _check_loader,
    'optim_wrapper': _check_optim_wrapper,
    'val_evaluator': _check_evaluator,
    'test_evaluator': _check_evaluator,
    'default_hooks': _check_hooks,
    'custom_hooks': _check_custom_hooks,
    'randomness': _names_only(set(inspect.signature(Runner.set_randomness).parameters) - {'self'}),
    'env_cfg': _check_environment,
    'visualizer': _check_visualizer,
    'model_wrapper_cfg': _check_wrapper,
    'sync_bn': _check_sync_bn,
    'activation_checkpointing': _check_module_names,
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
