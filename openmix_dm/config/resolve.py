"""Fill in what a config leaves to be derived, so that each fact is written in one place."""

import copy
from typing import Any

from mmengine.config import Config

from openmix_dm.config.fast import resolve_precision
from openmix_dm.errors import ConfigError

# What happens around each iteration unless `default_hooks` says otherwise.
DEFAULT_HOOKS: dict[str, dict[str, Any]] = {
    'seed': {'type': 'SeedHook'},
    'proof': {'type': 'ProofHook'},
    'param_scheduler': {'type': 'ParamSchedulerHook'},
    'mixer': {'type': 'MixerStepHook'},
    'records': {'type': 'RecordHook'},
    'checkpoint': {'type': 'SaveHook'},
}
# What a config may say of a loader; the rest is derived.
LOADER_KEYS = frozenset(
    ('dataset', 'sampler', 'batch_size', 'repeats', 'num_workers', 'prefetch_factor', 'persistent_workers', 'timeout')
)


def resolve(config: Config, world_size: int, training: bool = True) -> Config:
    """Return a copy with samplers and test settings and, for training, batch size and ends of schedules derived."""
    config = copy.deepcopy(config)
    _fill_test(config)
    _fill_samplers(config)
    resolve_precision(config)
    if training:
        _fill_batch_size(config, world_size)
        _fill_split_seed(config)
        _fill_schedules(config)
    return config


def _fill_test(config: Config) -> None:
    """Test as validation does unless the config says otherwise."""
    for name in ('dataloader', 'evaluator'):
        if config.get(f'test_{name}') is None and config.get(f'val_{name}') is not None:
            config[f'test_{name}'] = copy.deepcopy(config[f'val_{name}'])
    if config.get('test_dataloader') is not None:
        config.setdefault('test_cfg', {'type': 'EvaluationLoop'})


def _fill_samplers(config: Config) -> None:
    train = 'StreamBatches' if _has_streams(config) else 'TrainBatches'
    for phase, sampler in (('train', train), ('val', 'EvalBatches'), ('test', 'EvalBatches')):
        loader = config.get(f'{phase}_dataloader')
        if loader is not None:
            loader.setdefault('sampler', {'type': sampler})
            # Workers of an evaluation that are kept hold their memory, and batches ahead, while training goes on.
            loader.setdefault('persistent_workers', phase == 'train')
    accumulation = _accumulation(config)
    if accumulation > 1 and config.train_dataloader.sampler.type in ('TrainBatches', 'SubsetBatches'):
        config.train_dataloader.sampler.setdefault('multiple_of', accumulation)


def _has_streams(config: Config) -> bool:
    return (config.get('train_dataloader') or {}).get('dataset', {}).get('type') == 'Streams'


def _fill_split_seed(config: Config) -> None:
    """Let each run draw its own labelled images, as trials of the literature do."""
    if _has_streams(config) and config.train_dataloader.dataset.get('split_seed') is None:
        config.train_dataloader.dataset.split_seed = config.randomness.seed


def _accumulation(config: Config) -> int:
    return (config.get('optim_wrapper') or {}).get('accumulative_counts', 1)


def _fill_batch_size(config: Config, world_size: int) -> None:
    """Divide the global batch over ranks and accumulation; the learning rate belongs to it and is never rescaled."""
    if config.get('train_dataloader') is None:
        return
    if 'batch_size' in config.train_dataloader:
        raise ConfigError(
            f'train_dataloader.batch_size={config.train_dataloader.batch_size}: it is derived; '
            'set global_batch_size instead'
        )
    total, accumulation = config.get('global_batch_size'), _accumulation(config)
    if not isinstance(total, int) or total < 1:
        raise ConfigError(f'global_batch_size must be a whole number of images, got {total!r}')
    if total % (world_size * accumulation):
        raise ConfigError(
            f'global_batch_size={total} cannot be divided by {world_size} ranks x {accumulation} accumulated steps; '
            'change one of the three'
        )
    config.train_dataloader.batch_size = total // (world_size * accumulation)


def _fill_schedules(config: Config) -> None:
    """Let schedules without an end run to the end of training."""
    schedules = config.get('param_scheduler')
    train = config.get('train_cfg') or {}
    if 'max_iters' in train:
        _check_accumulation(train, _accumulation(config))
    if schedules is None:
        return
    for schedule in schedules if isinstance(schedules, list) else [schedules]:
        if 'max_iters' in train:
            if schedule.setdefault('by_epoch', False):
                raise ConfigError('param_scheduler.by_epoch must be False in a training that counts iterations')
            _fill_end(schedule, train['max_iters'])
        elif schedule.get('by_epoch', True) and train.get('max_epochs') is not None:
            _fill_end(schedule, train['max_epochs'])


def _check_accumulation(train: dict[str, Any], accumulation: int) -> None:
    """Refuse validations and an end between two steps of the optimiser."""
    for name in ('max_iters', 'val_interval'):
        if train.get(name, accumulation) % accumulation:
            raise ConfigError(
                f'train_cfg.{name}={train[name]} is not a multiple of {accumulation} accumulated steps; change one'
            )


def _fill_end(schedule: dict[str, Any], end: int) -> None:
    schedule.setdefault('end', end)
    if schedule['type'] in ('CosineAnnealingLR', 'MixCosineLR'):
        schedule.setdefault('T_max', schedule['end'] - schedule.get('begin', 0))
