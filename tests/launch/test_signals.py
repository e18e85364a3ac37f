"""A signal stops a run between two iterations; going on from there gives the weights of an unbroken run."""

import os
import pydoc
import signal
import threading

import pytest
from support.short_runs import final, same, train
from support.two_ranks import on_two_ranks

from openmix_dm.engine.eval_loops import ValidationLoop
from openmix_dm.engine.train_loops import EpochTrainLoop
from openmix_dm.errors import Preempted
from openmix_dm.launch.early_signals import SIGNALS, Leaving
from openmix_dm.launch.signals import StopVote, stop_request, stopping_at_once
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
    assert (tmp_path / 'cut' / MARKER).exists()
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
    assert not (tmp_path / 'cut' / MARKER).exists()  # SIGTERM is final
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


def test_only_the_announcement_of_an_end_asks_for_a_new_start():
    for number, again in ((signal.SIGUSR1, True), (signal.SIGUSR2, True), (signal.SIGTERM, False)):
        with stop_request.listening():
            os.kill(os.getpid(), number)
            with pytest.raises(Preempted) as stopped:
                stop_request.leave_if_asked('saved')
        assert stopped.value.again == again


@pytest.mark.parametrize('number', [signal.SIGUSR1, signal.SIGTERM])
@pytest.mark.parametrize('part', ['openmix_dm.engine.build.build_runner', 'openmix_dm.engine.resumable.load_file'])
def test_before_the_first_iteration(part, number, tmp_path, monkeypatch):
    """While everything is built, and while a checkpoint is loaded: nothing is trained, and the next start begins."""
    assert train(tmp_path / 'whole') == 0
    source = pydoc.locate(part)

    def signalled(*arguments, **options):
        os.kill(os.getpid(), number)
        return source(*arguments, **options)

    folder, weights = tmp_path / 'run', f'load_from={tmp_path}/whole/epoch_1.pth'
    with monkeypatch.context() as patch:
        patch.setattr(part, signalled)
        assert train(folder, weights) == 75
    assert (folder / MARKER).exists() == (number == signal.SIGUSR1)
    assert not list(folder.glob('*.pth'))
    assert train(folder, weights, arguments=('--resume',)) == 0
    assert not (folder / MARKER).exists()


def test_what_has_ended_is_not_stopped_any_more():
    """The handlers of the first line would turn the end of a finished run into 75."""
    before = {number: signal.signal(number, Leaving(None)) for number in SIGNALS}
    try:
        with stop_request.listening():
            pass
        os.kill(os.getpid(), signal.SIGUSR1)  # would leave
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_test_leaves_at_the_first_signal():
    with pytest.raises(Preempted, match='SIGUSR2 asked to stop'), stopping_at_once():
        os.kill(os.getpid(), signal.SIGUSR2)
    assert signal.getsignal(signal.SIGUSR2) is signal.SIG_DFL


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
    for asked, name in ((set(), ''), ({1}, 'SIGTERM'), ({1}, 'SIGUSR1'), ({0, 1}, 'SIGTERM')):
        stop_request.signal = name if rank in asked else None
        try:
            stop_request.leave_if_asked('saved')
        except Preempted as stop:
            answers.append(stop.again)
        else:
            answers.append(None)
    return answers


@pytest.mark.slow
def test_all_ranks_stop_when_one_is_asked_to(tmp_path):
    assert on_two_ranks(ask_thrice, tmp_path) == [[None, False, True, False]] * 2
