"""Workers of loaders end with the run, whatever its end."""

import multiprocessing

import pytest
from support.short_runs import CONFIG, SIZE, PowerCut, power_cut, train

from openmix_dm.commands.test import main as evaluate

WORKERS = ('train_dataloader.num_workers=1', 'val_dataloader.num_workers=1', 'train_cfg.max_epochs=1')


@pytest.fixture
def workers():
    """Return a function that counts the workers that were not there before the test."""
    before = set(multiprocessing.active_children())
    return lambda: len(set(multiprocessing.active_children()) - before)


def test_workers_end_with_a_training_and_with_a_test(tmp_path, workers):
    assert train(tmp_path / 'run', *WORKERS) == 0
    assert workers() == 0
    options = ['--cfg-options', *SIZE, 'val_dataloader.num_workers=1']
    assert evaluate([str(CONFIG), str(tmp_path / 'run' / 'epoch_1.pth'), *options]) == 0
    assert workers() == 0


def test_workers_end_with_a_training_that_fails(tmp_path, workers, monkeypatch):
    with power_cut(monkeypatch, 3), pytest.raises(PowerCut):
        train(tmp_path / 'run', *WORKERS)
    assert workers() == 0
