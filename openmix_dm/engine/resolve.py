"""Fill in what a config leaves to be derived, so that each fact is written in one place."""

import copy
from typing import Any

from mmengine.config import Config

from openmix_dm.errors import ConfigError


def resolve(config: Config, world_size: int, training: bool = True) -> Config:
    """Return a copy with samplers and test settings and, for training, batch size and ends of schedules derived."""
    config = copy.deepcopy(config)
    _fill_test(config)
    _fill_samplers(config)
    if training:
        _fill_batch_size(config, world_size)
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
    for phase, sampler in (('train', 'TrainBatches'), ('val', 'EvalBatches'), ('test', 'EvalBatches')):
        loader = config.get(f'{phase}_dataloader')
        if loader is not None:
            loader.setdefault('sampler', {'type': sampler})
    accumulation = _accumulation(config)
    if accumulation > 1 and config.train_dataloader.sampler.type in ('TrainBatches', 'SubsetBatches'):
        config.train_dataloader.sampler.setdefault('multiple_of', accumulation)


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
    epochs = (config.get('train_cfg') or {}).get('max_epochs')
    if schedules is None or epochs is None:
        return
    for schedule in schedules if isinstance(schedules, list) else [schedules]:
        if schedule.get('by_epoch', True):
            _fill_end(schedule, epochs)


def _fill_end(schedule: dict[str, Any], epochs: int) -> None:
    schedule.setdefault('end', epochs)
    if schedule['type'] == 'CosineAnnealingLR':
        schedule.setdefault('T_max', schedule['end'] - schedule.get('begin', 0))
