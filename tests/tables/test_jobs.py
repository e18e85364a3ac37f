"""Many runs as processes: skipped, resumed, failed, interrupted, and never twice."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from support.table_folders import write_table

from openmix_dm.commands.table import report
from openmix_dm.errors import Preempted
from openmix_dm.launch.processes import Stops, listening, share_of
from openmix_dm.runs.folder import RunFolder
from openmix_dm.runs.lock import locked
from openmix_dm.runs.state import read_state
from openmix_dm.tables.catalogue import read_table
from openmix_dm.tables.job_display import JobDisplay
from openmix_dm.tables.jobs import Commands, execute
from openmix_dm.tables.plan import decide, runs_of

TRAINER = Path(__file__).parent.parent / 'support' / 'fake_trainer.py'


def commands(behaviour='well'):
    return Commands(train=(sys.executable, str(TRAINER), behaviour), measure=(sys.executable, '-c', ATTACK))


# what analyze.py does: fgsm FOLDER --eps 8 --out FOLDER/fgsm.png
ATTACK = """
import json, pathlib, sys
pathlib.Path(sys.argv[-1]).with_suffix('.json').write_text(json.dumps({'eps_255': [8.0], 'runs': [{'fgsm': [70.0]}]}))
"""


@pytest.fixture
def runs(tmp_path):
    return runs_of(read_table(write_table(tmp_path)), tmp_path / 'work', trials=2)


@pytest.fixture
def interruptible():
    """Listen to Ctrl-C even where a shell has started the tests in the background, without it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def plan(runs):
    return [decide(run) for run in runs]


def starts(run):
    log = run.folder / 'starts.log'
    return len(log.read_text().splitlines()) if log.exists() else 0


def kinds(outcomes):
    return [outcome.kind for outcome in outcomes]


def epochs(run):
    return len((run.folder / 'metrics.jsonl').read_text().splitlines())


def test_everything_runs_once_and_then_nothing(runs, capsys):
    outcomes = execute(plan(runs), 3, JobDisplay(), commands())
    assert kinds(outcomes) == ['done'] * 10
    assert all(starts(run) == 1 for run in runs)
    assert '[10/10]' in capsys.readouterr().err
    assert execute(plan(runs), 3, JobDisplay(), commands()) == []
    assert all(starts(run) == 1 for run in runs)


def test_a_failure_is_reported_and_tried_again(runs, tmp_path):
    broken = tmp_path / 'broken'
    broken.touch()
    outcomes = execute(plan(runs[:2]), 2, JobDisplay(), commands(str(broken)))
    assert kinds(outcomes) == ['failed'] * 2
    assert (outcomes[0].code, outcomes[0].cause) == (5, 'numeric: loss is nan')
    assert read_state(runs[0].folder).cause == 'NumericError: loss is nan'
    broken.unlink()
    assert kinds(execute(plan(runs[:2]), 2, JobDisplay(), commands(str(broken)))) == ['done'] * 2
    assert [epochs(run) for run in runs[:2]] == [5, 5]  # the two epochs before the failure were not repeated


def test_a_trainer_that_dies_without_a_word(runs):
    silent = Commands(train=(sys.executable, '-c', 'import os; os.kill(os.getpid(), 9)'))
    (outcome,) = execute(plan(runs[:1]), 1, JobDisplay(), silent)
    assert (outcome.kind, outcome.code, outcome.cause) == ('failed', -9, 'killed by signal 9')
    raising = Commands(train=(sys.executable, '-c', 'raise ValueError("no such luck")'))
    (outcome,) = execute(plan(runs[:1]), 1, JobDisplay(), raising)
    assert outcome.cause == 'ValueError: no such luck'


def test_an_interrupt_stops_cleanly_and_the_next_start_goes_on(runs):
    def interrupt():
        deadline = time.time() + 30
        while time.time() < deadline and not all((run.folder / 'metrics.jsonl').exists() for run in runs[:2]):
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=interrupt).start()
    outcomes = execute(plan(runs), 2, JobDisplay(), commands('slow'))
    assert kinds(outcomes) == ['stopped'] * 2
    assert [outcome.code for outcome in outcomes] == [0, 0]  # we stopped them: that is no failure of theirs
    before = [epochs(run) for run in runs[:2]]
    assert all(0 < count < 5 for count in before)
    for run in runs[:2]:  # train.py says in run.json that it was stopped
        RunFolder(run.folder).update(state='preempted')
    assert [read_state(run.folder).kind for run in runs[:3]] == ['stopped', 'stopped', 'waiting']
    assert [step.action for step in plan(runs[:3])] == ['resume', 'resume', 'start']
    assert kinds(execute(plan(runs), 5, JobDisplay(), commands())) == ['done'] * 10
    assert [epochs(run) for run in runs] == [5] * 10
    assert [starts(run) for run in runs] == [2, 2, *[1] * 8]


@pytest.mark.parametrize('number', [signal.SIGUSR1, signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_decides_and_is_told(number, runs, interruptible):
    """SIGTERM after SIGUSR1, as at the end of a job's time, leaves the runs their time to save."""
    saving = 'import signal, time; signal.signal(15, lambda *_: (time.sleep(1), exit(75))); time.sleep(60)'
    for seconds, each in ((1.0, number), (1.4, signal.SIGTERM)):
        threading.Timer(seconds, os.kill, (os.getpid(), each)).start()
    with listening() as stops:
        job = Commands(train=(sys.executable, '-c', saving))
        (outcome,) = execute(plan(runs[:1]), 1, JobDisplay(), job, stops=stops)
    assert (outcome.kind, stops.number) == ('stopped', number)
    with pytest.raises(KeyboardInterrupt if number == signal.SIGINT else Preempted):
        report([outcome], stops.number)


def test_a_signal_before_the_first_run_starts_none(runs):
    stops = Stops()
    stops.note(signal.SIGUSR2)
    assert execute(plan(runs), 2, JobDisplay(), commands(), stops=stops) == []
    assert not any(run.folder.exists() for run in runs)
    with pytest.raises(Preempted, match='SIGUSR2 asked to stop'):
        report([], stops.number)


def test_a_trainer_that_does_not_listen_is_killed(runs):
    deaf = 'import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print("up", flush=True); time.sleep(60)'
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGTERM)).start()
    began = time.time()
    outcomes = execute(plan(runs[:1]), 1, JobDisplay(), Commands(train=(sys.executable, '-c', deaf)), grace=0.3)
    assert kinds(outcomes) == ['stopped']
    assert time.time() - began < 10


def test_a_second_wish_to_stop_is_a_kill(runs, interruptible):
    deaf = 'import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)'
    for seconds in (1.0, 2.0):
        threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.time()
    outcomes = execute(plan(runs[:1]), 1, JobDisplay(), Commands(train=(sys.executable, '-c', deaf)))
    assert kinds(outcomes) == ['stopped']
    assert time.time() - began < 20


def test_a_training_that_was_told_to_stop_by_others(runs):
    preempted = Commands(train=(sys.executable, '-c', 'raise SystemExit(75)'))
    (outcome,) = execute(plan(runs[:1]), 1, JobDisplay(), preempted)
    assert (outcome.kind, outcome.code) == ('stopped', 75)


def test_a_run_that_somebody_else_was_faster_with_is_no_failure(runs):
    """Both have looked at the folder before either has locked it; the one that comes second leaves with exit code 2."""
    refused = Commands(train=(sys.executable, '-c', 'raise SystemExit(2)'))
    steps = plan(runs[:1])
    held = locked(runs[0].folder)
    started = threading.Timer(0.05, held.__enter__)
    started.start()
    slow = Commands(train=(sys.executable, '-c', 'import time; time.sleep(0.5); raise SystemExit(2)'))
    assert kinds(execute(steps, 1, JobDisplay(), slow)) == ['busy']
    held.__exit__(None, None, None)
    assert kinds(execute(steps, 1, JobDisplay(), refused)) == ['failed']  # nobody holds it: exit code 2 is a bad config


@pytest.mark.slow
def test_two_at_once_share_the_work(runs, tmp_path):
    """A second process runs the same plan at the same time: together they start each run once."""
    script = (
        'import sys\n'
        f'sys.path[:0] = {[str(Path(__file__).parent.parent)]!r}\n'
        'from pathlib import Path\n'
        'from tables.test_jobs import *\n'
        f'runs = runs_of(read_table({str(tmp_path / "small.py")!r}), Path({str(tmp_path / "work")!r}), trials=2)\n'
        'print(kinds(execute(plan(runs), 2, JobDisplay(), commands("slow"))))\n'
    )
    other = subprocess.Popen([sys.executable, '-c', script], stdout=subprocess.PIPE, text=True)
    deadline = time.time() + 60
    while not starts(runs[0]) and time.time() < deadline:
        time.sleep(0.02)
    outcomes = kinds(execute(plan(runs), 2, JobDisplay(), commands('slow')))
    theirs, _ = other.communicate(timeout=60)
    assert [starts(run) for run in runs] == [1] * 10
    assert [read_state(run.folder).kind for run in runs] == ['done'] * 10
    assert outcomes.count('done') > 0
    assert "'done'" in theirs


@pytest.mark.slow
def test_a_run_outlives_its_table_and_is_not_started_again(runs, tmp_path):
    """kill -9 of table.py: the training goes on, and a second `run` leaves it alone."""
    script = (
        'import sys\n'
        f'sys.path[:0] = {[str(Path(__file__).parent.parent)]!r}\n'
        'from pathlib import Path\n'
        'from tables.test_jobs import *\n'
        f'runs = runs_of(read_table({str(tmp_path / "small.py")!r}), Path({str(tmp_path / "work")!r}), trials=2)\n'
        'execute(plan(runs[:1]), 1, JobDisplay(), commands("slow"))\n'
    )
    table = subprocess.Popen([sys.executable, '-c', script])
    deadline = time.time() + 60
    while not starts(runs[0]) and time.time() < deadline:
        time.sleep(0.02)
    table.kill()
    table.wait()
    step = decide(runs[0])
    assert step.action == 'busy'
    while read_state(runs[0].folder).kind == 'running' and time.time() < deadline:
        time.sleep(0.05)
    assert read_state(runs[0].folder).kind == 'done'
    assert starts(runs[0]) == 1


def test_the_attack_follows_the_training(tmp_path):
    text = "title='F'\ncolumns=['e']\nrows={'m': ['digits/r8_mixup.py']}\nmetric='fgsm'"
    (run,) = runs_of(read_table(write_table(tmp_path, text)), tmp_path / 'work', trials=1)
    assert kinds(execute(plan([run]), 1, JobDisplay(), commands())) == ['done']
    assert (run.folder / 'fgsm.json').exists()
    assert execute(plan([run]), 1, JobDisplay(), commands()) == []
    (run.folder / 'fgsm.json').unlink()
    assert kinds(execute(plan([run]), 1, JobDisplay(), commands())) == ['done']
    assert starts(run) == 1


def test_the_cores_are_shared(monkeypatch):
    monkeypatch.delenv('OMP_NUM_THREADS', raising=False)
    monkeypatch.setattr(os, 'sched_getaffinity', lambda pid: set(range(8)))
    assert share_of(0, 3)['OMP_NUM_THREADS'] == '2'
    assert share_of(0, 20)['OMP_NUM_THREADS'] == '1'
    monkeypatch.setenv('OMP_NUM_THREADS', '4')  # the user's own choice stands
    assert 'OMP_NUM_THREADS' not in share_of(0, 3)
    monkeypatch.setenv('CUDA_VISIBLE_DEVICES', '2,5')
    assert [share_of(slot, 3)['CUDA_VISIBLE_DEVICES'] for slot in range(3)] == ['2', '5', '2']
