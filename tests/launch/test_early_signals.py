"""The first line of a command: signals are answered before anything heavy is imported."""

import os
import signal
import subprocess
import sys

import pytest
from conftest import ROOT

from openmix_dm.errors import Preempted
from openmix_dm.launch.early_signals import ASKED_TO_STOP, MARKER, SIGNALS, held_back, run_folder
from openmix_dm.runs import folder

LISTEN = """
import os, sys, time
from openmix_dm.launch.early_signals import leave_at_signals, run_folder
leave_at_signals(run_folder(sys.argv))
print('up', flush=True)
time.sleep(60)
"""


def stopped(number, *arguments, code=LISTEN):
    process = subprocess.Popen(
        [sys.executable, '-c', code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == 'up\n'
    process.send_signal(number)
    _, said = process.communicate(timeout=20)
    return process.returncode, said


def test_the_names_are_those_of_the_house():
    assert (folder.MARKER, Preempted.exit_code) == (MARKER, ASKED_TO_STOP)


@pytest.mark.parametrize('number', SIGNALS)
def test_leaves_with_75(number, tmp_path):
    code, said = stopped(number, '--work-dir', str(tmp_path / 'new' / 'run'))
    assert code == 75
    assert said == f'openmix_dm: STOPPED cause=preempted: {number.name} asked to stop before anything was done\n'
    assert (tmp_path / 'new' / 'run' / MARKER).exists() == (number != signal.SIGTERM)


def test_a_marker_that_cannot_be_written_changes_nothing(tmp_path):
    (tmp_path / 'file').touch()
    assert stopped(signal.SIGUSR1, '--work-dir', str(tmp_path / 'file' / 'run'))[0] == 75
    assert stopped(signal.SIGUSR1)[0] == 75


def test_a_signal_before_the_first_line_waits_for_it():
    with held_back():
        process = subprocess.Popen([sys.executable, '-c', LISTEN], stderr=subprocess.PIPE, text=True)
        os.kill(process.pid, signal.SIGUSR1)  # Python has not even started
    assert 'SIGUSR1' in process.communicate(timeout=20)[1]
    assert process.returncode == 75


@pytest.mark.parametrize(
    ('arguments', 'found'),
    [
        (['train.py', 'a.py', '--work-dir', 'x y', '--resume'], 'x y'),
        (['train.py', '--work-dir=x=y'], 'x=y'),
        (['train.py', 'a.py'], None),
        (['train.py', '--work-dir'], None),
    ],
)
def test_the_folder_of_a_command_line(arguments, found):
    assert run_folder(arguments) == found


@pytest.mark.parametrize('name', ['tools/train.py', 'tools/test.py', 'tools/table.py'])
def test_the_tools_listen_first(name):
    """Before anything heavy: packages that cannot be imported are not missed until then."""
    broken = f"import runpy, sys; sys.modules |= dict(torch=None, mmengine=None); sys.argv = ['{name}']\n"
    seen = 'import signal\ntry:\n    runpy.run_path(sys.argv[0], run_name="__main__")\nexcept ImportError as error:\n'
    code = f'{broken}{seen}    print(type(signal.getsignal(signal.SIGUSR1)).__name__)'
    done = subprocess.run([sys.executable, '-c', code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == 'Leaving\n', done.stderr
