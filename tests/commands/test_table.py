"""tools/table.py as a user types it."""

import json
import os
import shlex
import signal
import sys
import time
from pathlib import Path

import pytest
from support.command_runs import run, start, tool
from support.short_runs import final, same
from support.table_folders import write_run, write_table

from openmix_dm.commands.table import main
from openmix_dm.runs.folder import RunFolder
from openmix_dm.runs.lock import held
from openmix_dm.tables.catalogue import read_table
from openmix_dm.tables.plan import runs_of


def table(tmp_path, *arguments):
    command, *rest = arguments
    return main([command, str(tmp_path / 'small.py'), '--work-dirs', str(tmp_path / 'work'), *rest])


@pytest.fixture
def runs(tmp_path):
    return runs_of(read_table(write_table(tmp_path)), tmp_path / 'work')


def test_list(runs, tmp_path, capsys):
    assert main(['list']) == 0
    out = capsys.readouterr().out
    assert 'digits' in out
    assert 'Table 1 ' in out
    write_run(runs[1])
    assert table(tmp_path, 'list') == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split() == ['vanilla/dm-ce', '-', '-', '-'] for line in lines)
    assert any('mixup/mce' in line and '1 done, 2 waiting' in line for line in lines)


def test_dry_run_prints_the_commands_and_does_nothing(runs, tmp_path, capsys):
    write_run(runs[1])
    options = ('--cells', 'mixup/*', '--trials', '2', '--dry-run')
    assert table(tmp_path, 'run', *options) == 0
    out = capsys.readouterr().out
    assert 'small: 4 runs: 3 to start, 1 done' in out
    assert out.count(' train configs/digits/') == 3
    assert not (tmp_path / 'work' / 'digits' / 'r8_mixup_dm').exists()
    assert table(tmp_path, 'run', *options, '--slurm', 'gpu', '--sbatch', 'time=1:00:00') == 0
    out = capsys.readouterr().out
    assert '#SBATCH --array=1-3\n' in out
    assert '#SBATCH --time=1:00:00' in out
    assert not (tmp_path / 'work' / 'tables').exists()


def test_cells_may_be_written_as_the_table_shows_them(runs, tmp_path, capsys):
    assert table(tmp_path, 'run', '--cells', 'Mixup/*', '--trials', '1', '--dry-run') == 0
    assert 'small: 2 runs' in capsys.readouterr().out


def test_what_to_do_next_is_a_command_that_works(runs, tmp_path, capsys):
    for one in runs:
        write_run(one)
    assert table(tmp_path, 'run') == 0
    words = shlex.split(capsys.readouterr().out.splitlines()[-1])
    assert words[0] == 'next:'
    assert main(words[words.index('table') + 1 :]) == 0
    assert f'{len(runs)} of {len(runs)} runs done' in capsys.readouterr().out


def test_status(runs, tmp_path, capsys):
    write_run(runs[0])
    write_run(runs[1], state='running')
    write_run(runs[2], state='failed: DataError: no such folder')
    assert table(tmp_path, 'status', '--trials', '1') == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ['digits/r8_vanilla', 'seed', '0', 'done', 'epoch', '2/2']
    assert lines[1].split()[3:] == ['running', 'epoch', '2/40', 'eta', '0:00:53']
    assert lines[2].endswith('DataError: no such folder')
    assert lines[3].split()[3:] == ['waiting']
    assert lines[-1] == 'small: 5 runs: 2 waiting, 1 done, 1 running, 1 failed'


def test_collect_to_a_file(runs, tmp_path, capsys):
    write_run(runs[0], [95.0])
    assert table(tmp_path, 'collect', '--out', str(tmp_path / 'table.md')) == 0
    assert '| Vanilla | 95.00<sup>a</sup> |' in (tmp_path / 'table.md').read_text()
    assert table(tmp_path, 'collect', '--format', 'csv') == 0
    assert 'vanilla/mce' in capsys.readouterr().out


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        (('run', '--cells', 'nothing/*'), 'no cell of small matches'),
        (('run', '--jobs', '0'), '--jobs must be at least 1'),
        (('run', '--cfg-options', 'model.mixer.alpah=1'), 'alpah'),
        (('collect', '--format', 'svg'), 'has no results yet'),
        (('collect', '--out', '/nowhere/at/all.md'), 'there is no folder'),
    ],
)
def test_what_is_wrong_is_said_in_one_line(runs, tmp_path, arguments, said, capsys):
    assert table(tmp_path, *arguments) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count('\n') == 1
    assert not (tmp_path / 'work').exists()


TINY = ('--cfg-options', 'train_cfg.max_epochs=6', 'global_batch_size=200')


@pytest.mark.slow
def test_killed_in_the_middle_and_started_again(runs, tmp_path):
    """Two short trainings; SIGTERM, then kill -9 of everything: nothing lost, nothing repeated, the same weights."""
    work, cells = tmp_path / 'work', ('--cells', 'mixup/*', '--trials', '1', '--jobs', '1')
    arguments = ('run', tmp_path / 'small.py', '--work-dirs', work, *cells, *TINY)
    first, second = runs[1].folder, runs[2].folder
    command = (sys.executable, 'tools/table.py', *map(str, arguments))
    process = start(*command)
    wait_for(lambda: len(RunFolder(first).records('val')) >= 2)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 75, err
    assert not held(first)
    behind = RunFolder(first).records()

    process = start(*command)
    wait_for(lambda: len(RunFolder(second).records('val')) >= 2)
    kill_family(process.pid)
    process.communicate()
    assert RunFolder(first).read()['state'] == 'done'
    assert RunFolder(first).records()[: len(behind) - 1] == behind[:-1]  # what was recorded stands
    ended = RunFolder(first).read()

    code, out, err = tool('table', *arguments)
    assert code == 0, err
    assert 'small: 2 runs: 1 to go on, 1 done' in out
    assert RunFolder(first).read() == ended  # the finished one was not touched
    for folder, name in ((first, 'r8_mixup'), (second, 'r8_mixup_dm')):
        code, _, err = run(
            sys.executable, 'tools/train.py', f'configs/digits/{name}.py', '--work-dir', str(tmp_path / name), *TINY
        )
        assert code == 0, err
        assert same(final(tmp_path / name, 6), final(folder, 6))
        iterations = [record['iter'] for record in RunFolder(folder).records()]
        assert iterations == [record['iter'] for record in RunFolder(tmp_path / name).records()]
    code, out, _ = tool('table', *arguments)
    assert code == 0
    assert 'small: 2 runs: 2 done' in out


@pytest.mark.slow
def test_a_failure_is_named_with_its_cell_and_exit_code(runs, tmp_path):
    text = "title='I'\ncolumns=['c']\nrows={'r': ['imagenet/r50_mixup.py']}\ntrials=1"
    path = write_table(tmp_path, text, 'broken')
    code, out, err = tool('table', 'run', path, '--work-dirs', tmp_path / 'w', OPENMIX_DM_DATA=str(tmp_path))
    assert code == 3
    assert 'imagenet/r50_mixup seed 0 FAILED with exit code 3: data: ' in out
    assert 'cells: r/c; log: ' in out
    assert err.strip().splitlines()[-1].startswith('openmix_dm: FAILED cause=runs: 1 failed')


F1_TABLE = """
title = 'Macro F1 of the digits after the last epoch'
columns = ['MCE', 'DM(CE)']
rows = {'Mixup': ['digits/r8_mixup.py', 'digits/r8_mixup_dm.py']}
baseline = 'MCE'
metric = 'multiclass_f1_score'
protocol = 'last'
trials = 1
"""
F1 = (
    "val_evaluator=[dict(type='TopK'),dict(type='TorchMetric',metric='MulticlassF1Score',options=dict(num_classes=10))]"
)


@pytest.mark.slow
def test_a_table_of_another_packages_metric(tmp_path):
    """Torchmetrics' F1, not the accuracy, is what both runs are compared by."""
    path, work = write_table(tmp_path, F1_TABLE, 'f1'), tmp_path / 'work'
    code, out, err = tool('table', 'run', path, '--work-dirs', work, *TINY, F1)
    assert code == 0, err
    code, out, err = tool('table', 'collect', path, '--work-dirs', work, '--format', 'json')
    assert code == 0, err
    cells = json.loads(out)['cells']
    for cell, name in zip(cells, ('r8_mixup', 'r8_mixup_dm'), strict=True):
        last = RunFolder(work / 'digits' / name / 'seed0').records('val')[-1]
        assert 0 < last['multiclass_f1_score'] < 1
        assert cell['mean'] == pytest.approx(last['multiclass_f1_score'])


def wait_for(condition, seconds=240):
    deadline = time.time() + seconds
    while not condition():
        assert time.time() < deadline
        time.sleep(0.02)


def kill_family(pid):
    """Kill a process and what it has started; the children are in sessions of their own."""
    children = [int(child) for child in Path(f'/proc/{pid}/task/{pid}/children').read_text().split()]
    for each in (pid, *children):
        os.kill(each, signal.SIGKILL)
    wait_for(lambda: not any(Path(f'/proc/{child}').exists() for child in children))
