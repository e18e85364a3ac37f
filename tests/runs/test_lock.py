import json
import os
import subprocess
import sys
import time

import pytest

from openmix_dm.errors import ConfigError, ResourceError
from openmix_dm.runs.lock import LOCK, STALE, held, locked

# holds a folder until its input ends; by the file alone, which needs no torch
HOLD = """
import fcntl, json, sys
file = open(sys.argv[1], 'w')
fcntl.lockf(file, fcntl.LOCK_EX)
file.write(json.dumps({'pid': 123, 'host': 'node7', 'job': '42', 'since': 'noon'})); file.flush()
print('held', flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path):
    return tmp_path / 'run'


def write(folder, seconds_ago, **holder):
    folder.mkdir(exist_ok=True)
    (folder / LOCK).write_text(json.dumps({'pid': 1, 'host': 'elsewhere', 'job': None, 'since': 'noon', **holder}))
    then = time.time() - seconds_ago
    os.utime(folder / LOCK, (then, then))


def test_a_folder_is_held_and_given_free(folder):
    with locked(folder):
        holder = json.loads((folder / LOCK).read_text())
        assert holder['pid'] == os.getpid()
        (folder / 'run.json').touch()
    assert not (folder / LOCK).exists()
    with locked(folder):
        pass
    assert folder.exists()


def test_a_folder_that_was_made_for_nothing_goes_again(folder):
    with locked(folder):
        pass
    assert not folder.exists()


def test_a_process_of_this_machine_holds_it_until_it_ends(folder):
    folder.mkdir()
    command = [sys.executable, '-c', HOLD, str(folder / LOCK)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == 'held\n'
    with pytest.raises(ConfigError, match=r'held by job 42 on node7 since noon .*--work-dir'), locked(folder):
        pass
    holder.kill()
    holder.wait()
    os.utime(folder / LOCK, (0, 0))  # of another machine by its name: only silence frees it
    with locked(folder):
        pass


def test_a_job_of_another_machine_holds_it_as_long_as_it_shows_life(folder):
    write(folder, seconds_ago=STALE - 60)
    with pytest.raises(ConfigError, match='held by process 1 on elsewhere'), locked(folder):
        pass
    write(folder, seconds_ago=STALE + 60)
    with locked(folder):
        pass


@pytest.mark.fault(
    40,
    "A lock of another machine that is dated a year ahead does not hold the folder; a minute's difference "
    'of two clocks does.',
)
def test_a_sign_of_life_from_the_future_is_none(folder):
    write(folder, seconds_ago=-60)  # two clocks may differ
    with pytest.raises(ConfigError, match='held by'), locked(folder):
        pass
    write(folder, seconds_ago=-365 * 24 * 3600)
    assert held(folder) is False
    with locked(folder):
        pass


def test_the_clock_is_that_of_the_file_system(folder, monkeypatch):
    """The clock of this machine is a day late; the holder lives."""
    write(folder, seconds_ago=0)
    monkeypatch.setattr('openmix_dm.runs.lock.time.time', lambda: 1e9)
    with pytest.raises(ConfigError, match='held by'), locked(folder):
        pass


def test_the_same_job_queued_anew_takes_it_over(folder, monkeypatch):
    monkeypatch.setenv('SLURM_JOB_ID', '42')
    write(folder, seconds_ago=1, job='42')
    with locked(folder):
        pass


def test_a_broken_lock_holds_nobody_up(folder):
    folder.mkdir()
    (folder / LOCK).write_text('{"pid"')
    with locked(folder):
        pass


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / 'file').touch()
    with pytest.raises(ResourceError, match='cannot be written'), locked(tmp_path / 'file' / 'run'):
        pass


def test_life_is_shown(folder, monkeypatch):
    monkeypatch.setattr('openmix_dm.runs.lock.HEARTBEAT', 0.05)
    with locked(folder):
        os.utime(folder / LOCK, (0, 0))
        time.sleep(0.3)
        assert (folder / LOCK).stat().st_mtime > 1e9
