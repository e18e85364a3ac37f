import json
import os
import platform
import time

import pytest
from support.table_folders import write_run

from openmix_dm.runs.folder import RUN
from openmix_dm.runs.lock import LOCK, locked
from openmix_dm.runs.records import METRICS
from openmix_dm.runs.state import ago, read_state
from openmix_dm.tables.cells import Cell, Table
from openmix_dm.tables.plan import runs_of


@pytest.fixture
def run(tmp_path):
    return runs_of(Table('t', 'T', (Cell('a', 'a', 'b', 'digits/r8_mixup.py'),)), tmp_path, trials=1)[0]


def grow_old(folder, seconds):
    for name in (RUN, METRICS):
        os.utime(folder / name, (time.time() - seconds,) * 2)


def test_waiting_until_somebody_holds_it(run):
    assert read_state(run.folder).kind == 'waiting'
    with locked(run.folder):
        assert read_state(run.folder).kind == 'running'
    assert read_state(run.folder).kind == 'waiting'


def test_running_with_epoch_and_rest(run):
    write_run(run, (50.0, 60.0), state='running')
    state = read_state(run.folder)
    assert (state.kind, state.epoch, state.epochs) == ('running', 2, 40)
    # 14 iterations an epoch, 38 epochs left, batches of 100, 1000 images/s
    assert state.seconds_left == pytest.approx(14 * 38 * 100 / 1000)


def test_no_estimate_before_the_first_epoch(run):
    write_run(run, (), state='running')
    assert read_state(run.folder).seconds_left is None


def test_stale_when_quiet_for_long(run):
    write_run(run, state='running')
    grow_old(run.folder, 7200)
    state = read_state(run.folder)
    assert (state.kind, state.cause) == ('stale', 'no process, last sign 2 h ago')


def test_stale_at_once_when_its_process_on_this_machine_is_gone(run):
    write_run(run, state='running')
    (run.folder / LOCK).write_text(json.dumps({'host': platform.node(), 'pid': 2**30}))
    assert read_state(run.folder).kind == 'stale'


def test_a_quiet_run_of_a_living_process_is_running(run):
    write_run(run, state='running')
    grow_old(run.folder, 7200)
    with locked(run.folder):
        assert read_state(run.folder).kind == 'running'


@pytest.mark.parametrize(
    ('said', 'kind', 'cause'),
    [
        ('done', 'done', ''),
        ('failed: NumericError: loss is nan', 'failed', 'NumericError: loss is nan'),
        ('failed: KeyboardInterrupt: ', 'stopped', ''),
        ('preempted', 'stopped', ''),
    ],
)
def test_what_run_json_says(run, said, kind, cause):
    write_run(run, state=said)
    state = read_state(run.folder)
    assert (state.kind, state.cause, state.epoch) == (kind, cause, 2)


def test_a_failed_run_that_goes_on_is_running(run):
    write_run(run, state='failed: NumericError: x')
    with locked(run.folder):
        assert read_state(run.folder).kind == 'running'
    assert read_state(run.folder).kind == 'failed'


def test_of_another_node_the_age_decides(run):
    write_run(run, state='running')
    (run.folder / LOCK).write_text('{"host": "somewhere-else"}')
    assert read_state(run.folder).kind == 'running'
    os.utime(run.folder / LOCK, (time.time() - 3000,) * 2)
    assert read_state(run.folder).kind == 'stale'


def test_the_lock_of_the_training_tells_too(run):
    write_run(run, state='running')
    with locked(run.folder):
        grow_old(run.folder, 7200)
        assert read_state(run.folder).kind == 'running'
        os.utime(run.folder / LOCK, (time.time() - 700,) * 2)  # no heartbeat any more
        assert read_state(run.folder).kind == 'stale'
    (run.folder / LOCK).write_text(json.dumps({'host': platform.node(), 'pid': 2**30}))  # killed: its lock is left
    grow_old(run.folder, 0)
    assert read_state(run.folder).kind == 'stale'


def test_lengths_of_time():
    assert [ago(s) for s in (3, 119, 150, 7300, 200000)] == ['3 s', '119 s', '2 min', '2 h', '2 d']
