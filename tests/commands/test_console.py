"""openmix-dm and python -m openmix_dm: one word for each command, and what a shell completes."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest
from conftest import ROOT

from openmix_dm.commands import console
from openmix_dm.commands.completion import TAKE_CONFIGS, script_of
from openmix_dm.invocation import FILES
from openmix_dm.version import __version__

ENVIRONMENT = {**os.environ, 'PYTHONPATH': str(ROOT)}


def call(*words, **options):
    whole = [sys.executable, '-m', 'openmix_dm', *words]
    done = subprocess.run(whole, env=ENVIRONMENT, capture_output=True, text=True, **options)
    return done.returncode, done.stdout, done.stderr


def test_every_tool_has_its_command():
    files = {FILES.get(name, f'{name}.py') for name in console.COMMANDS}
    scripts = {f'{name.replace("-", "_")}.sh' for name in console.COMMANDS}
    assert {file.name for file in (ROOT / 'tools').glob('*.*')} <= files | scripts
    for name in console.COMMANDS:
        if name.split('-')[0] not in ('dist', 'slurm'):
            module = FILES.get(name, f'{name}.py').removesuffix('.py')
            assert find_spec(f'openmix_dm.commands.{module}'), name


def test_help_names_all_commands(tmp_path):
    code, out, _ = call(cwd=tmp_path)
    assert code == 0
    assert call('--help', cwd=tmp_path)[1] == out
    for name in console.COMMANDS:
        assert f'\n  {name} ' in out
    assert call('--version')[1] == f'openmix_dm {__version__}\n'


def test_a_misspelt_command_is_told_with_the_nearest():
    code, out, err = call('trian')
    assert (code, out) == (2, '')
    assert err.startswith("openmix_dm: FAILED cause=config: there is no command 'trian'; did you mean train?")


@pytest.mark.parametrize('name', console.LISTENING)
def test_signals_are_answered_before_anything_heavy(name):
    """Torch that cannot be imported is not missed until then."""
    code = (
        f"import signal, sys; sys.modules['torch'] = None; sys.argv = ['openmix-dm', '{name}', '--work-dir', 'x']\n"
        'from openmix_dm.commands.console import main\n'
        'try:\n    main()\nexcept (ImportError, SystemExit):\n    pass\n'
        'handler = signal.getsignal(signal.SIGUSR1)\nprint(type(handler).__name__, handler.folder)'
    )
    done = subprocess.run([sys.executable, '-c', code], env=ENVIRONMENT, capture_output=True, text=True)
    assert done.stdout == 'Leaving x\n', done.stderr


def test_names_are_listed_without_anything_heavy():
    code = (
        "import sys; sys.argv = ['openmix-dm', 'config', '--list', 'digits/r8_mixup*']\n"
        'from openmix_dm.commands.console import main\nmain()\n'
        'print([name for name in ("torch", "mmengine", "numpy") if name in sys.modules])'
    )
    done = subprocess.run([sys.executable, '-c', code], env=ENVIRONMENT, capture_output=True, text=True)
    assert done.stdout.split('\n')[1] == 'digits/r8_mixup_dm'
    assert done.stdout.endswith('[]\n')


def test_a_config_or_the_list_of_them():
    for words in (('config',), ('config', 'digits/r8_mixup', '--list')):
        code, _, err = call(*words)
        assert code == 2
        assert 'takes a CONFIG, or --list' in err


def test_ranks_are_those_of_train(tmp_path, monkeypatch):
    from openmix_dm.commands import dist_ranks

    seen = []
    monkeypatch.setattr(dist_ranks, 'launch', lambda ranks, words, environment: seen.append((ranks, words)) or 0)
    assert console.main_of('dist-train')(['digits/r8', '2', '--seed', '1']) == 0
    assert console.main_of('dist-test')(['digits/r8', 'a.pth', '3', '--ema']) == 0
    ends = [(ranks, words[words.index('openmix_dm') :]) for ranks, words in seen]
    assert ends == [
        (2, ['openmix_dm', 'train', 'digits/r8', '--launcher', 'pytorch', '--seed', '1']),
        (3, ['openmix_dm', 'test', 'digits/r8', 'a.pth', '--launcher', 'pytorch', '--ema']),
    ]


# ---- completion ----


@pytest.fixture
def shell(tmp_path):
    """Return what bash would offer after some words, in an empty folder with the console command on the path."""
    folder = tmp_path / 'bin'
    folder.mkdir()
    (folder / 'openmix-dm').write_text(f'#!/bin/sh\nexec {sys.executable} -m openmix_dm "$@"\n')
    (folder / 'openmix-dm').chmod(0o755)

    def offered(*words):
        script = (
            f'{script_of("bash")}\nCOMP_WORDS=({" ".join(repr(word) for word in words)})\n'
            'COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\ncompopt() { :; }\n'  # outside of a completion there is none
            '_openmix_dm && printf "%s\\n" "${COMPREPLY[@]}"'
        )
        environment = {**ENVIRONMENT, 'PATH': f'{folder}:{os.environ["PATH"]}'}
        done = subprocess.run(['bash', '-c', script], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert not done.stderr
        return done.stdout.split()

    return offered


def test_bash_completes_commands_folders_and_names(shell):
    assert shell('openmix-dm', 'tr') == ['train']
    assert {'digits/', 'imagenet/'} <= set(shell('openmix-dm', 'train', ''))
    assert shell('openmix-dm', 'train', 'digits_s') == ['digits_semi/']
    assert shell('openmix-dm', 'test', 'digits/r8_cutmix_d') == ['digits/r8_cutmix_dm', 'digits/r8_cutmix_dmbce']
    assert shell('openmix-dm', 'train', 'digits/r8_mixup', 'nothing/') == []
    assert shell('openmix-dm', 'benchmark', 'd') == []  # files are left to bash itself


@pytest.mark.parametrize('name', ['bash', 'zsh', 'fish'])
def test_scripts_name_all_commands(name):
    script = script_of(name)
    assert '@' not in script.replace('[@]', '')
    assert all(word in script for word in (*console.COMMANDS, *TAKE_CONFIGS))
    assert set(TAKE_CONFIGS) <= set(console.COMMANDS)
    code, out, _ = call('completion', name)
    assert (code, out) == (0, script)
