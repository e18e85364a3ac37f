"""Workers of loaders end with the run, whatever its end."""

import multiprocessing
import os
import signal
import time

import pytest
from engine.test_iter_train_loop import run
from support.short_runs import CONFIG, SIZE, PowerCut, power_cut, train

from openmix_dm.commands.test import main as evaluate
from openmix_dm.engine import eval_loops, loader, runner
from openmix_dm.engine.train_loops import EpochTrainLoop
from openmix_dm.runs import checkpoints

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


@pytest.mark.parametrize(('options', 'beside_training'), [((), 1), (('val_dataloader.persistent_workers=True',), 2)])
def test_workers_of_a_validation_are_not_kept_beside_training(tmp_path, workers, monkeypatch, options, beside_training):
    run_iter, seen = EpochTrainLoop.run_iter, {}

    def count(loop, index, batch):
        seen.setdefault(loop._epoch, set()).add(workers())
        run_iter(loop, index, batch)

    monkeypatch.setattr(EpochTrainLoop, 'run_iter', count)
    assert train(tmp_path / 'run', *WORKERS, 'train_cfg.max_epochs=2', *options) == 0
    assert seen == {0: {1}, 1: {beside_training}}
    assert workers() == 0


def test_workers_end_with_a_validation_that_fails(tmp_path, workers, monkeypatch):
    def fail(losses, outputs):
        raise PowerCut

    monkeypatch.setattr(eval_loops.MeanLoss, 'add', fail)
    with pytest.raises(PowerCut) as error:
        train(tmp_path / 'run', *WORKERS, 'val_dataloader.batch_size=10')
    assert workers() == 0
    assert error.tb is not None  # holds the frames of the validation


def test_workers_that_nobody_keeps_end_where_a_loop_holds_their_batches(tmp_path, workers, monkeypatch):
    """A loop of iterations goes on with the same batches over its validations."""
    stop_workers, seen = runner.stop_workers, []

    def stop(loader):
        seen.append((workers(), stop_workers(loader), workers()))

    monkeypatch.setattr(runner, 'stop_workers', stop)
    with power_cut(monkeypatch, 5), pytest.raises(PowerCut):
        run(tmp_path / 'run', 'train_dataloader.num_workers=1', 'train_dataloader.persistent_workers=False')
    assert seen[0] == (1, None, 0)


def test_a_death_that_looked_like_an_error_of_the_disk_is_noticed_all_the_same(tmp_path, capfd, monkeypatch):
    """A worker dies while a checkpoint is written: the second try succeeds, and nobody waits for the worker."""
    save, calls = checkpoints.torch.save, []

    def killing(state, file):
        if not calls:
            calls.append(1)
            os.kill(multiprocessing.active_children()[-1].pid, signal.SIGKILL)
            time.sleep(5)  # ended by what torch raises
        save(state, file)

    monkeypatch.setattr(checkpoints.torch, 'save', killing)
    monkeypatch.setattr(loader, 'LOOK_EVERY', 0.2)
    before = time.monotonic()
    assert train(tmp_path / 'run', *WORKERS, 'train_cfg.max_epochs=2') == 7
    assert time.monotonic() - before < 60  # not the 300 s of a silent worker
    assert 'a worker of the data loader was killed' in capfd.readouterr().err
    assert (tmp_path / 'run' / 'epoch_1.pth').exists()
