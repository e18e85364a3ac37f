"""The script of a job array, run line by line with a Slurm that is not there."""

import os
import shlex
import subprocess
import sys

import pytest
from support.table_folders import write_run, write_table

from openmix_dm.errors import ConfigError, ResourceError
from openmix_dm.tables.catalogue import read_table
from openmix_dm.tables.plan import TODO, make_plan, runs_of
from openmix_dm.tables.slurm_array import make_script, submit

FGSM = "title='It''s 100 %'\ncolumns=['e']\nrows={'m': ['digits/r8_mixup.py']}\nmetric='fgsm'"


def steps_of(tmp_path, text=None, **options):
    table = read_table(write_table(tmp_path, text) if text else write_table(tmp_path))
    return table, [step for step in make_plan(runs_of(table, tmp_path / 'work', **options)) if step.action in TODO]


def script(tmp_path, *settings, text=None, **options):
    table, steps = steps_of(tmp_path, text, **options)
    return make_script(table.title, table.name, 'gpu', steps, tmp_path / 'array', settings)


def fake_slurm(tmp_path, srun_code=0):
    """Return an environment in which srun, scontrol and sbatch write down how they were called."""
    bin_folder = tmp_path / 'bin'
    bin_folder.mkdir()
    for name, code in (('srun', srun_code), ('scontrol', 0), ('sbatch', 0)):
        tool = bin_folder / name
        tool.write_text(f'#!/bin/sh\necho {name} "$@" >> {tmp_path}/calls.txt\necho {name} said so\nexit {code}\n')
        tool.chmod(0o755)
    job = {'SLURM_JOB_ID': '77', 'SLURM_ARRAY_JOB_ID': '70'}
    return {**os.environ, 'PATH': f'{bin_folder}:{os.environ["PATH"]}', **job}


def run_task(tmp_path, files, task, **environment):
    (tmp_path / 'array').mkdir(exist_ok=True)
    for name, content in files.items():
        (tmp_path / 'array' / name).write_text(content)
    done = subprocess.run(
        ['bash', str(tmp_path / 'array' / 'array.sh')],
        env={**environment, 'SLURM_ARRAY_TASK_ID': str(task)},
        capture_output=True,
        text=True,
    )
    return done.returncode, (tmp_path / 'calls.txt').read_text().splitlines()


def test_headers_say_what_the_array_is(tmp_path):
    lines = script(tmp_path, 'time=24:00:00', '--cpus-per-task=4', 'exclusive')['array.sh'].splitlines()
    assert lines[0] == '#!/usr/bin/env bash'
    assert {
        '#SBATCH --partition=gpu', '#SBATCH --array=1-15', '#SBATCH --requeue', '#SBATCH --signal=USR1@120',
        '#SBATCH --time=24:00:00', '#SBATCH --cpus-per-task=4', '#SBATCH --exclusive', '#SBATCH --gpus-per-task=1',
    } <= set(lines)  # fmt: skip
    assert '#SBATCH --cpus-per-task=8' not in lines
    without = script(tmp_path, 'gpus-per-task=0')['array.sh']
    assert 'gpus' not in without


def test_each_task_trains_its_own_line(tmp_path):
    files = script(tmp_path, options=['train_cfg.max_epochs=3'])
    assert len(files['runs.txt'].splitlines()) == 15
    environment = fake_slurm(tmp_path)
    code, calls = run_task(tmp_path, files, 9, **environment)
    assert code == 0
    (call,) = calls
    assert call.startswith(f'srun --kill-on-bad-exit=1 {sys.executable} ')
    assert 'configs/digits/r8_cutmix.py --seed 1' in call
    assert f'--work-dir {tmp_path}/work/digits/r8_cutmix/seed1 --resume --cfg-options train_cfg.max_epochs=3' in call
    assert '--launcher' not in call
    _, calls = run_task(tmp_path, files, 9, **environment, SLURM_NTASKS='4')
    assert calls[-1].endswith('--launcher slurm')


@pytest.mark.fault(
    52,
    'A task of an array requeues itself, not the array.',
)
def test_a_task_whose_time_is_up_asks_for_itself_to_be_requeued(tmp_path):
    """The id of the last task of an array is that of the array: by it, all of them would be started again."""
    folder = tmp_path / 'work' / 'digits' / 'r8_vanilla' / 'seed0'
    environment = fake_slurm(tmp_path, srun_code=1)  # launchers lose the code of a rank: the marker decides
    (tmp_path / 'bin' / 'srun').write_text(f'#!/bin/sh\nmkdir -p {folder}\ntouch {folder}/preempted\nexit 1\n')
    _, calls = run_task(tmp_path, script(tmp_path), 1, **environment)
    assert calls == ['scontrol requeue 70_1']


def test_a_failed_task_is_not(tmp_path, monkeypatch):
    python = tmp_path / 'python'  # asked for the code of the rank that failed
    python.write_text('#!/bin/sh\necho "$@" > asked.txt\necho "$4"\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, 'executable', str(python))
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'calls.txt').write_text('')
    environment = fake_slurm(tmp_path)
    (tmp_path / 'bin' / 'srun').write_text('#!/bin/sh\nexit 5\n')
    code, calls = run_task(tmp_path, script(tmp_path), 1, **environment)
    assert (code, calls) == (5, [])
    folder = tmp_path / 'work' / 'digits' / 'r8_vanilla' / 'seed0'
    assert (tmp_path / 'asked.txt').read_text() == f'-m openmix_dm.commands.exit_code {folder} 5\n'


def test_the_attack_follows(tmp_path):
    files = script(tmp_path, text=FGSM)
    code, calls = run_task(tmp_path, files, 2, **fake_slurm(tmp_path))
    assert code == 0
    assert len(calls) == 2
    assert f'-m openmix_dm analyze fgsm {tmp_path}/work/digits/r8_mixup/seed1 --eps 8' in calls[1]


def test_a_task_that_is_told_to_stop_while_it_measures_is_requeued(tmp_path):
    files, environment = script(tmp_path, text=FGSM), fake_slurm(tmp_path)
    (tmp_path / 'bin' / 'srun').write_text('#!/bin/sh\ncase "$*" in *analyze*) kill -USR1 $$;; esac\n')
    code, calls = run_task(tmp_path, files, 2, **environment)
    assert (code, calls[-1]) == (138, 'scontrol requeue 70_2')


def test_what_is_done_is_not_submitted(tmp_path):
    table = read_table(write_table(tmp_path))
    write_run(runs_of(table, tmp_path / 'work')[0])
    files = script(tmp_path)
    assert len(files['runs.txt'].splitlines()) == 14
    assert 'r8_vanilla.py --seed 0' not in files['runs.txt']


def test_submit(tmp_path, monkeypatch):
    for name, value in fake_slurm(tmp_path).items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / 'array'
    assert submit(script(tmp_path), folder) == 'sbatch said so'
    assert (tmp_path / 'calls.txt').read_text() == f'sbatch {folder}/array.sh\n'
    monkeypatch.setenv('PATH', '/nowhere')
    with pytest.raises(ResourceError, match=r'sbatch cannot be started.*array\.sh is ready'):
        submit(script(tmp_path), folder)


@pytest.mark.fault(
    39,
    'The same for an array of jobs, and a line break in its title.',
)
def test_odd_names_arrive_as_they_are(tmp_path):
    place = tmp_path / 'it\'s 100 % "x" $(touch pwned)'
    place.mkdir()
    table, steps = steps_of(place, "title='a\\ntouch pwned'\ncolumns=['e']\nrows={'m': ['digits/r8_mixup.py']}")
    files = make_script(table.title, table.name, 'gpu', steps, place / 'array', ())
    (place / 'array').mkdir()
    for name, content in files.items():
        (place / 'array' / name).write_text(content)
    done = subprocess.run(
        ['bash', str(place / 'array' / 'array.sh')], env={**fake_slurm(tmp_path), 'SLURM_ARRAY_TASK_ID': '1'},
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, '')
    assert f'--work-dir {place}/work/digits/r8_mixup/seed0 --resume' in (tmp_path / 'calls.txt').read_text()
    assert not list(tmp_path.rglob('pwned'))
    (output,) = [line for line in files['array.sh'].splitlines() if '--output' in line]
    assert shlex.split(output.removeprefix('#SBATCH ')) == [f'--output={str(place).replace("%", "%%")}/array/%A_%a.log']


def test_a_folder_with_a_line_break_is_refused(tmp_path):
    table, steps = steps_of(tmp_path)
    with pytest.raises(ConfigError, match='line breaks'):
        make_script(table.title, table.name, 'gpu', steps, tmp_path / 'a\nb', ())


def test_a_bad_setting_is_refused(tmp_path):
    with pytest.raises(ConfigError, match='--sbatch takes KEY=VALUE'):
        script(tmp_path, 'time=1\nrm -r x')
