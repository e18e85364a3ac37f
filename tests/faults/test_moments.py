"""A signal at any moment of a command: while it starts, imports, builds, trains or tests."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest
from support.fault_cases import CONFIG, check_failed, check_same_run, command, finish, start, train, wait_for

from openmix_dm.runs.folder import MARKER

pytestmark = pytest.mark.faults
NUMBERS = (signal.SIGUSR1, signal.SIGTERM, signal.SIGUSR2)
MOMENTS = (0.0, 0.05, 0.2, 0.7, 1.5, 2.5, 3.5, 4.5, 6.0)


def listens(pid):
    """Say whether a process has taken SIGUSR1 over: Python itself takes some hundredths of a second to start."""
    try:
        status = Path('/proc', str(pid), 'status').read_text()
    except OSError:
        return False
    return bool(int(status.split('SigCgt:')[1].split()[0], 16) >> (signal.SIGUSR1 - 1) & 1)


def signalled(process, moment, number):
    wait_for(lambda: listens(process.pid), process)
    time.sleep(moment)
    os.kill(process.pid, number)
    return finish(process, 60)


@pytest.mark.parametrize('ranks', [1, 2])
def test_f20_at_any_moment(ranks, tmp_path):
    """A signal at nine moments from the first line on, to one rank and to the launcher of two: exit 75 each time, with
    the marker after SIGUSR1 and SIGUSR2 and without after SIGTERM; in the end the weights of an unbroken run."""
    assert train(tmp_path / 'whole', ranks=ranks).code == 0
    folder, went_on = tmp_path / 'run', ()
    for turn, moment in enumerate(MOMENTS):
        number = NUMBERS[turn % 3]
        outcome = signalled(start(*command(folder, arguments=went_on, ranks=ranks)), moment, number)
        if outcome.code == 0:  # it was faster
            break
        check_failed(outcome, 75, 'preempted', number.name)
        assert (folder / MARKER).exists() == (number != signal.SIGTERM)
        (folder / MARKER).unlink(missing_ok=True)  # as the script of a job does
        went_on = ('--resume',)
    outcome = train(folder, arguments=went_on, ranks=ranks)
    assert outcome.code == 0, outcome.err
    check_same_run(folder, tmp_path / 'whole')


def test_f20_several_signals_at_once(tmp_path):
    """SIGUSR1 followed by SIGTERM, as at the end of a job's time: the first decides."""
    process = start(*command(tmp_path / 'run', 'train_cfg.max_epochs=500'))
    wait_for((tmp_path / 'run' / 'metrics.jsonl').exists, process)
    for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGTERM):
        os.kill(process.pid, number)
    check_failed(finish(process, 60), 75, 'preempted', 'SIGUSR1')
    assert (tmp_path / 'run' / MARKER).exists()


def test_f20_a_test_at_any_moment(tmp_path):
    """The same for test.py, which has nothing to save: exit 75 at once, nothing left behind."""
    assert train(tmp_path / 'run', 'train_cfg.max_epochs=1').code == 0
    for turn, moment in enumerate(MOMENTS):
        words = (CONFIG, str(tmp_path / 'run' / 'epoch_1.pth'))
        outcome = signalled(start(sys.executable, 'tools/test.py', *words), moment, NUMBERS[turn % 3])
        if outcome.code == 0:
            break
        check_failed(outcome, 75, 'preempted', NUMBERS[turn % 3].name)
        assert outcome.seconds < 5


def test_f20_a_table_at_any_moment(tmp_path):
    """The same for table.py run: its trainings save and end with it, none is left running."""
    for turn, moment in enumerate(MOMENTS):
        words = ('run', 'digits', '--trials', '1', '--work-dirs', str(tmp_path / 'runs'), '--jobs', '2')
        process = start(sys.executable, 'tools/table.py', *words)
        outcome = signalled(process, moment, NUMBERS[turn % 3])
        check_failed(outcome, 75, 'preempted', NUMBERS[turn % 3].name)
        alive = [path for path in Path('/proc').glob('[0-9]*/cmdline') if str(tmp_path) in read(path)]
        assert not alive


def read(path):
    try:
        return path.read_text()
    except OSError:
        return ''
