"""What is recorded is what an unbroken run records, wherever a run was cut."""

import os
import signal
from types import SimpleNamespace

import pytest
import torch
from support.short_runs import PowerCut, curves, power_cut, timeless, train
from support.two_ranks import on_two_ranks

from openmix_dm.engine.hooks.recording import RecordHook, describe
from openmix_dm.engine.hooks.save import SaveHook
from openmix_dm.engine.train_loops import EpochTrainLoop
from openmix_dm.errors import CheckpointError
from openmix_dm.runs.folder import RunFolder

TRAIN = {
    'kind': 'train', 'iter': 50, 'epoch': 2, 'lr': 0.1, 'loss_cls': 0.5, 'loss': 0.5, 'images_per_s': 1234.5,
}  # fmt: skip
VAL = {'kind': 'val', 'iter': 60, 'epoch': 2, 'top1': 98.7654, 'top5': 100.0}
OFTEN = (
    'default_hooks.checkpoint.save_every_iters=2', 'default_hooks.records.interval=5', 'val_dataloader.batch_size=100',
)  # fmt: skip


def test_records_in_words():
    assert describe(TRAIN, 10) == 'epoch 2/10  iter 50  lr 0.1  loss 0.5000  1234 images/s'
    assert describe({**TRAIN, 'loss_mixer': 0.25}, 10).count('loss') == 3
    assert describe(VAL, 10) == 'epoch 2/10  validation  top1 98.77  top5 100.00'


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp('whole') / 'run'
    assert train(folder, *OFTEN) == 0
    return folder


def check_same_records(folder, whole):
    assert timeless(RunFolder(folder).records()) == timeless(RunFolder(whole).records())
    assert curves(folder) == curves(whole)


@pytest.mark.parametrize('cuts', [(1, 1), (3, 4, 9), (7, 12)], ids=str)
def test_cut_at_any_place_and_gone_on(cuts, whole, tmp_path, monkeypatch):
    """Before the first checkpoint, twice inside the interval of a record, before and after a validation."""
    for start, cut in enumerate(cuts):
        with power_cut(monkeypatch, cut), pytest.raises(PowerCut):
            train(tmp_path / 'cut', *OFTEN, arguments=['--resume'] * bool(start))
    assert train(tmp_path / 'cut', *OFTEN, arguments=['--resume']) == 0
    check_same_records(tmp_path / 'cut', whole)


def test_a_validation_that_is_done_again_is_one_point_of_the_curve(whole, tmp_path, monkeypatch):
    """Stopped before it, then cut off between the validation and its checkpoint."""
    run_iter = EpochTrainLoop.run_iter

    def signalled(loop, idx, batch):
        if loop._iter == 6:
            os.kill(os.getpid(), signal.SIGUSR1)
        run_iter(loop, idx, batch)

    def cut(hook, runner):
        raise PowerCut

    with monkeypatch.context() as patch:
        patch.setattr(EpochTrainLoop, 'run_iter', signalled)
        assert train(tmp_path / 'cut', *OFTEN) == 75
    with monkeypatch.context() as patch:
        patch.setattr(SaveHook, 'after_epoch', cut)
        with pytest.raises(PowerCut):
            train(tmp_path / 'cut', *OFTEN, arguments=['--resume'])
    assert [record['iter'] for record in RunFolder(tmp_path / 'cut').records('val')] == [7]
    assert train(tmp_path / 'cut', *OFTEN, arguments=['--resume']) == 0
    check_same_records(tmp_path / 'cut', whole)


def hook_of(rank, world_size, **sums):
    runner = type('Runner', (), {'rank': rank, 'world_size': world_size, 'visualizer': None})
    hook = RecordHook()
    hook._iterations, hook._sums = 3, {name: torch.tensor(value) for name, value in sums.items()}
    return hook, runner


def saved_by_two(rank):
    hook, runner = hook_of(rank, 2, loss=1.0 + rank)
    hook.before_save(runner)
    checkpoint = {}
    hook.before_save_checkpoint(runner, checkpoint)
    return checkpoint


@pytest.mark.slow
def test_each_rank_goes_on_with_its_own_sums(tmp_path):
    for rank, checkpoint in enumerate(on_two_ranks(saved_by_two, tmp_path)):
        hook, runner = hook_of(rank, 2)
        hook.after_load_checkpoint(runner, checkpoint)
        assert (hook._iterations, hook._sums) == (3, {'loss': torch.tensor(1.0 + rank)})


def test_another_number_of_ranks_goes_on_with_the_mean():
    hook, runner = hook_of(0, 1)
    of_ranks = [{'iterations': 4, 'sums': {'loss': torch.tensor(value)}} for value in (1.0, 4.0)]
    hook.after_load_checkpoint(runner, {'records': of_ranks})
    assert (hook._iterations, hook._sums) == (4, {'loss': torch.tensor(2.5)})


@pytest.mark.parametrize(
    'odd', [[1], {'a': 1}, [{'iterations': 1}], 'text', [{'iterations': 'x', 'sums': {}}]], ids=str
)
def test_odd_sums_are_a_bad_checkpoint(odd):
    hook, runner = hook_of(0, 1)
    with pytest.raises(CheckpointError, match='sums of its records'):
        hook.after_load_checkpoint(runner, {'records': odd})


class Log:
    """Keep what is written."""

    def append(self, record):
        self.record = record

    def add_scalars(self, numbers, step):
        pass


def recorded_by_two(rank):
    """A head that adds a term for some batches: once on rank 1, in the first iteration, never on rank 0."""
    hook, log = RecordHook(interval=2), Log()
    hook._file = log
    wrapper = SimpleNamespace(get_lr=lambda: {'lr': [0.1]})
    runner = SimpleNamespace(
        epoch=0, max_epochs=1, max_iters=2, world_size=2, optim_wrapper=wrapper, visualizer=log, train_dataloader=[0, 1]
    )
    for runner.iter in (0, 1):
        outputs = {'loss_cls': torch.tensor(2.0), 'loss': torch.tensor(2.0)}
        if rank == 1 and runner.iter == 0:
            outputs = {'loss_hard': torch.tensor([4.0, 8.0]), **outputs}
        hook.after_train_iter(runner, runner.iter, {'labels': [0]}, outputs)
    return log.record


@pytest.mark.slow
def test_a_term_of_one_rank_is_recorded_by_all(tmp_path):
    for record in on_two_ranks(recorded_by_two, tmp_path):
        assert (record['loss_cls'], record['loss']) == (2, 2)
        assert (record['loss_hard_0'], record['loss_hard_1']) == (1, 2)


def test_a_term_of_one_rank_goes_on_where_there_is_one_rank():
    hook, runner = hook_of(0, 1)
    saved = [
        {'iterations': 3, 'sums': {'loss': torch.tensor(6.0)}},
        {'iterations': 3, 'sums': {'loss_hard': torch.tensor(4.0), 'loss': torch.tensor(2.0)}},
    ]
    hook.after_load_checkpoint(runner, {'records': saved})
    assert {name: float(value) for name, value in hook._sums.items()} == {'loss': 4.0, 'loss_hard': 2.0}
