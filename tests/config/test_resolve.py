import pytest

from openmix_dm.config import load as configs
from openmix_dm.config.resolve import resolve
from openmix_dm.errors import ConfigError


@pytest.fixture
def load(root):
    return lambda *options: configs.load_config(root / 'configs' / 'digits' / 'r8_mixup_dm.py', options)


def test_the_global_batch_is_divided_over_ranks_and_accumulation(load):
    assert resolve(load(), 1).train_dataloader.batch_size == 100
    assert resolve(load(), 4).train_dataloader.batch_size == 25
    accumulated = resolve(load('optim_wrapper.accumulative_counts=5'), 4)
    assert accumulated.train_dataloader.batch_size == 5
    assert accumulated.train_dataloader.sampler.multiple_of == 5
    assert accumulated.optim_wrapper.optimizer.lr == 0.1  # never rescaled


def test_a_batch_that_cannot_be_divided_is_refused(load):
    with pytest.raises(ConfigError, match='100 cannot be divided by 3 ranks'):
        resolve(load(), 3)
    with pytest.raises(ConfigError, match='global_batch_size'):
        resolve(load('train_dataloader.batch_size=50'), 1)
    with pytest.raises(ConfigError, match='whole number'):
        resolve(load('global_batch_size=0'), 1)


def test_schedules_follow_the_number_of_epochs(load):
    schedule = resolve(load('train_cfg.max_epochs=7'), 1).param_scheduler
    assert (schedule.T_max, schedule.end) == (7, 7)
    warm = "[{'type': 'LinearLR', 'start_factor': 0.1, 'end': 2}, {'type': 'CosineAnnealingLR', 'begin': 2}]"
    linear, cosine = resolve(load(f'param_scheduler={warm}'), 1).param_scheduler
    assert linear.end == 2
    assert (cosine.begin, cosine.end, cosine.T_max) == (2, 40, 38)


def test_testing_is_validation_unless_said_otherwise(load):
    resolved = resolve(load(), 1)
    assert resolved.test_dataloader == resolved.val_dataloader
    assert resolved.val_dataloader.sampler.type == 'EvalBatches'


def test_workers_are_kept_for_training_alone_unless_said_otherwise(load):
    resolved = resolve(load(), 1)
    phases = ('train', 'val', 'test')
    assert [resolved[f'{phase}_dataloader'].persistent_workers for phase in phases] == [True, False, False]
    said = ('train_dataloader.persistent_workers=False', 'val_dataloader.persistent_workers=True')
    resolved = resolve(load(*said), 1)
    assert [resolved[f'{phase}_dataloader'].persistent_workers for phase in phases] == [False, True, True]


def test_the_original_stays_as_it_was(load):
    config = load()
    resolve(config, 1)
    assert 'batch_size' not in config.train_dataloader
    assert 'T_max' not in config.param_scheduler
