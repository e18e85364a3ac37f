"""A signal stops a run between two iterations; going on from there gives the weights of an unbroken run."""

import os
import signal
import threading

import pytest
from support.short_runs import final, same, train
from support.two_ranks import on_two_ranks

from openmix_dm.engine.eval_loops import ValidationLoop
from openmix_dm.engine.train_loops import EpochTrainLoop
from openmix_dm.errors import Preempted
from openmix_dm.launch.signals import SIGNALS, StopVote, stop_request
from openmix_dm.runs.checkpoints import load_file
from openmix_dm.runs.folder import MARKER, RunFolder

EMA = ('default_hooks.ema.type=EmaHook', 'default_hooks.ema.decay=0.9', 'val_dataloader.batch_size=100')


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp('whole') / 'run'
    assert train(folder, *EMA) == 0
    return folder


def signalling(monkeypatch, at, number=signal.SIGUSR1):
    """Send a signal to this process in the middle of an iteration."""
    run_iter = EpochTrainLoop.run_iter

    def signalled(loop, idx, batch):
        if loop._iter == at:
            os.kill(os.getpid(), number)
        run_iter(loop, idx, batch)

    monkeypatch.setattr(EpochTrainLoop, 'run_iter', signalled)


def check_stopped_then_go_on(folder, whole, iteration, *options):
    run = RunFolder(folder)
    assert (run.read()['state'], run.read()['exit_code']) == ('preempted', 75)
    assert (folder / MARKER).exists()
    assert load_file(folder / f'iter_{iteration}.pth')['meta']['iter'] == iteration
    assert train(folder, *EMA, *options, arguments=('--resume',)) == 0
    assert not (folder / MARKER).exists()
    assert run.read()['state'] == 'done'
    assert same(final(whole), final(folder))
    assert run.records('val') == RunFolder(whole).records('val')
    assert [r['iter'] for r in run.records()] == sorted(r['iter'] for r in run.records())


@pytest.mark.parametrize('number', [signal.SIGUSR1])  # the others by the real command line: tests/faults
def test_stops_at_the_iteration_and_goes_on_exactly(number, whole, tmp_path, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        signalling(patch, 3, number)
        assert train(tmp_path / 'cut', *EMA) == 75
    said = capsys.readouterr().err
    assert f'openmix_dm: STOPPED cause=preempted: {signal.Signals(number).name}' in said
    check_stopped_then_go_on(tmp_path / 'cut', whole, 4)


def test_handlers_are_put_back(tmp_path, monkeypatch):
    before = [signal.getsignal(number) for number in SIGNALS]
    signalling(monkeypatch, 0)
    assert train(tmp_path / 'run') == 75
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_in_the_last_iteration_of_an_epoch_validation_is_left_for_later(whole, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        signalling(patch, 6)  # the seventh and last of the first epoch
        assert train(tmp_path / 'cut', *EMA) == 75
    assert not RunFolder(tmp_path / 'cut').records('val')
    assert load_file(tmp_path / 'cut' / 'iter_7.pth')['meta']['validation_is_due']
    check_stopped_then_go_on(tmp_path / 'cut', whole, 7)


@pytest.mark.parametrize('epoch', [pytest.param(1, marks=pytest.mark.slow), 2])
def test_inside_validation(epoch, whole, tmp_path, monkeypatch):
    run = ValidationLoop.run

    def signalled(loop):
        if loop.runner.epoch == epoch:
            os.kill(os.getpid(), signal.SIGTERM)
        return run(loop)

    with monkeypatch.context() as patch:
        patch.setattr(ValidationLoop, 'run', signalled)
        assert train(tmp_path / 'cut', *EMA) == 75
    assert len(RunFolder(tmp_path / 'cut').records('val')) == epoch - 1
    check_stopped_then_go_on(tmp_path / 'cut', whole, 7 * epoch)


@pytest.mark.slow
def test_a_validation_that_was_repeated_is_recorded_once(whole, tmp_path, monkeypatch):
    """Stopped before validation, then cut off after it and before its checkpoint."""
    with monkeypatch.context() as patch:
        signalling(patch, 6)
        assert train(tmp_path / 'cut', *EMA) == 75
    (tmp_path / 'cut' / 'keep').write_bytes((tmp_path / 'cut' / 'iter_7.pth').read_bytes())
    assert train(tmp_path / 'cut', *EMA, arguments=('--resume',)) == 0
    for path in tmp_path.glob('cut/*.pth'):
        path.unlink()
    (tmp_path / 'cut' / 'keep').rename(tmp_path / 'cut' / 'iter_7.pth')
    assert train(tmp_path / 'cut', *EMA, arguments=('--resume',)) == 0
    assert RunFolder(tmp_path / 'cut').records('val') == RunFolder(whole).records('val')
    assert same(final(whole), final(tmp_path / 'cut'))


def test_accumulated_gradients_are_stepped_first(tmp_path, monkeypatch):
    options = ('optim_wrapper.accumulative_counts=2', 'global_batch_size=400')  # three steps of two iterations
    assert train(tmp_path / 'whole', *options) == 0
    with monkeypatch.context() as patch:
        signalling(patch, 2)
        assert train(tmp_path / 'cut', *options) == 75
    assert (tmp_path / 'cut' / 'iter_4.pth').exists()
    assert train(tmp_path / 'cut', *options, arguments=('--resume',)) == 0
    assert same(final(tmp_path / 'whole'), final(tmp_path / 'cut'))


def test_other_optimiser_wrappers_stop_too(tmp_path, monkeypatch):
    signalling(monkeypatch, 3)
    assert train(tmp_path / 'cut', "optim_wrapper.type='OptimWrapper'") == 75
    assert (tmp_path / 'cut' / 'iter_4.pth').exists()


def test_further_signals_change_nothing():
    with stop_request.listening():
        assert not stop_request
        os.kill(os.getpid(), signal.SIGUSR2)
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop_request.signal == 'SIGUSR2'
        vote = StopVote()
        vote.ask()
        assert vote.agreed()
        with pytest.raises(Preempted, match='SIGUSR2 asked to stop'):
            stop_request.leave('saved')


def test_outside_the_main_thread_signals_are_left_alone():
    seen = []

    def listen():
        with stop_request.listening():
            seen.append(signal.getsignal(signal.SIGUSR1))

    thread = threading.Thread(target=listen)
    thread.start()
    thread.join()
    assert seen == [signal.SIG_DFL]


def ask_thrice(rank):
    """Vote before anybody was asked to stop, after one of the ranks was, and after both were."""
    answers = []
    for asked in (set(), {1}, {0, 1}):
        stop_request.signal = 'SIGTERM' if rank in asked else None
        vote = StopVote()
        vote.ask()
        answers.append(vote.agreed())
    return answers


@pytest.mark.slow
def test_all_ranks_stop_when_one_is_asked_to(tmp_path):
    assert on_two_ranks(ask_thrice, tmp_path) == [[False, True, True]] * 2
