"""Commands in messages are those that the user can type where he stands."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from openmix_dm import invocation
from openmix_dm.invocation import command, documented, program, shown, start_words


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """Stand in a folder beside an environment with an interpreter, the console command and TensorBoard."""
    folder = tmp_path / 'with space' / 'bin'
    folder.mkdir(parents=True)
    (folder / 'python').symlink_to(Path(sys.executable).resolve())
    for name in ('openmix-dm', 'tensorboard'):
        (folder / name).write_text('#!/bin/sh\n')
        (folder / name).chmod(0o755)
    monkeypatch.setattr(sys, 'executable', str(folder / 'python'))
    monkeypatch.setenv('PATH', os.environ['PATH'])
    monkeypatch.chdir(tmp_path)
    return folder


def started_as(monkeypatch, *, script, path):
    monkeypatch.setattr(sys, 'argv', [str(script), 'anything'])
    monkeypatch.setenv('PATH', str(path))


def test_of_the_tools(environment, monkeypatch):
    monkeypatch.chdir(ROOT)
    started_as(monkeypatch, script='tools/train.py', path=environment)
    assert command('test', 'a b.py', Path('c')) == "python tools/test.py 'a b.py' c"
    assert command('data') == 'python tools/prepare_data.py'
    assert command('dist-train') == 'tools/dist_train.sh'
    monkeypatch.chdir(ROOT / 'docs')
    started_as(monkeypatch, script='../tools/table.py', path=environment)
    assert command('table', 'list') == 'python ../tools/table.py list'


@pytest.mark.parametrize(
    'name', ['data', 'mix', 'config', 'gpu-check', 'dist-train', 'train', 'test', 'table', 'export']
)
def test_the_tools_that_are_named_exist(name):
    assert (ROOT / 'tools' / invocation.FILES.get(name, f'{name}.py')).is_file()


def test_of_the_console_command(environment, monkeypatch):
    started_as(monkeypatch, script=environment / 'openmix-dm', path=environment)
    assert command('mix', '*') == "openmix-dm mix '*'"
    assert program('tensorboard') == 'tensorboard'


def test_of_an_environment_that_is_not_switched_on(environment, monkeypatch):
    """As in .venv/bin/openmix-dm: the path is part of what one types, and needs quotes here."""
    started_as(monkeypatch, script=environment / 'openmix-dm', path='/nowhere')
    assert command('test') == "'with space/bin/openmix-dm' test"
    assert program('tensorboard') == "'with space/bin/tensorboard'"
    started_as(monkeypatch, script=invocation.PACKAGE / '__main__.py', path='/nowhere')
    assert command('test') == "'with space/bin/python' -m openmix_dm test"


def test_another_command_of_the_same_name_is_not_meant(environment, monkeypatch, tmp_path):
    other = tmp_path / 'other'
    other.mkdir()
    for name in ('python', 'openmix-dm'):
        (other / name).write_text('#!/bin/sh\n')
        (other / name).chmod(0o755)
    started_as(monkeypatch, script=environment / 'openmix-dm', path=f'{other}:{environment}')
    assert command('test') == "'with space/bin/openmix-dm' test"
    started_as(monkeypatch, script=invocation.PACKAGE / '__main__.py', path=f'{other}:{environment}')
    assert command('test') == "'with space/bin/python' -m openmix_dm test"


def test_of_python_that_is_no_command(environment, monkeypatch):
    started_as(monkeypatch, script='notebook.py', path=environment)
    assert command('train') == 'openmix-dm train'
    (environment / 'openmix-dm').unlink()
    assert command('train') == 'python -m openmix_dm train'


def test_documents_do_not_name_the_machine(environment, monkeypatch):
    started_as(monkeypatch, script=environment / 'openmix-dm', path='/nowhere')
    assert documented('table', 'run', 'my table') == "openmix-dm table run 'my table'"


def test_a_working_folder_that_is_gone(tmp_path, monkeypatch):
    (tmp_path / 'gone').mkdir()
    monkeypatch.chdir(tmp_path / 'gone')
    (tmp_path / 'gone').rmdir()
    assert shown(Path('/a/b')) == '/a/b'


def test_another_process_is_of_this_installation_whatever_lies_around(tmp_path):
    (tmp_path / 'openmix_dm').mkdir()
    (tmp_path / 'openmix_dm' / '__init__.py').write_text('raise SystemExit("the wrong one")')
    words = [*start_words('config'), '--list', 'digits/r8_mixup']
    done = subprocess.run(words, cwd=tmp_path, env={**os.environ, 'PYTHONPATH': str(ROOT)}, capture_output=True)
    assert done.stdout == b'digits/r8_mixup\n', done.stderr


def test_modules_of_the_working_folder_are_not_run(tmp_path):
    for name in ('argparse', 'difflib', 'fnmatch'):
        (tmp_path / f'{name}.py').write_text('raise SystemExit("not ours")')
    words = [sys.executable, '-m', 'openmix_dm', 'config', '--list', 'digits/r8_mixup']
    done = subprocess.run(words, cwd=tmp_path, env={**os.environ, 'PYTHONPATH': str(ROOT)}, capture_output=True)
    assert done.stdout == b'digits/r8_mixup\n', done.stderr
