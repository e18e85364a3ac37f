import shlex
import subprocess
import sys

import pytest

from openmix_dm.commands.slurm_job import Size, main, size_of
from openmix_dm.errors import ConfigError, DistributedError
from openmix_dm.launch.slurm import first_host, job_script, port_of, translate_slurm
from openmix_dm.runs.folder import RunFolder


@pytest.mark.parametrize(
    ('nodes', 'host'),
    [
        ('node1', 'node1'),
        ('gpu[003-007,9],login1', 'gpu003'),
        ('a,b', 'a'),
        ('n[5]', 'n5'),
        ('r1-n[2,4]-ib', 'r1-n2-ib'),
        ('rack[1-2]n[07-9]', 'rack1n07'),
    ],
)
def test_first_host(nodes, host):
    assert first_host(nodes) == host


def test_variables_are_translated():
    environment = {
        'SLURM_PROCID': '3', 'SLURM_NTASKS': '8', 'SLURM_LOCALID': '1', 'SLURM_STEP_NODELIST': 'gpu[4-5]',
        'SLURM_JOB_ID': '123456',
    }  # fmt: skip
    translate_slurm(environment)
    assert {k: environment[k] for k in ('RANK', 'WORLD_SIZE', 'LOCAL_RANK', 'MASTER_ADDR', 'MASTER_PORT')} == {
        'RANK': '3', 'WORLD_SIZE': '8', 'LOCAL_RANK': '1', 'MASTER_ADDR': 'gpu4', 'MASTER_PORT': '23456',
    }  # fmt: skip


def test_what_srun_gives_has_to_be_there():
    with pytest.raises(DistributedError, match='SLURM_PROCID and SLURM_NTASKS'):
        translate_slurm({})
    with pytest.raises(DistributedError, match='NODELIST'):
        translate_slurm({'SLURM_PROCID': '0', 'SLURM_NTASKS': '1'})


def test_two_jobs_on_a_node_have_two_ports():
    assert port_of('1') != port_of('2')
    assert all(1024 < port_of(str(job)) < 65536 for job in (0, 1, 19999, 20000, 987654321))
    assert port_of('') == port_of('0')


SCONTROL = """echo "$@" >> {said}
[ "$1" != show ] || [ ! -e "$(dirname {said})/gives_way" ] ||
printf ' JobState=RUNNING Reason=None\\n   PreemptTime=2026-01-01T00:00:00\\n'"""


def script(folder):
    """The script of a job, with `python` for the interpreter and tools/train.py for the path of it."""
    command = "\\\n    python tools/train.py 'a b.py' \\\n    ${SLURM_RESTART_COUNT:+--resume}"
    return job_script(['--job-name=job'], ['', f'run={folder}'], command, 'python')


def test_the_script_requeues_and_is_signalled_before_its_time_is_up(root, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv('GPUS', '16')
    monkeypatch.setenv('SBATCH_ARGS', '--time=1:00:00')
    arguments = ['train', 'gpu', 'job', str(root / 'configs/digits/r8_mixup_dm.py'), str(tmp_path / 'a b'), '--dry-run']
    assert main(arguments) == 0
    text = capsys.readouterr().out
    for line in ('--requeue', '--signal=USR1@120', '--ntasks=16', '--gres=gpu:8', '--time=1:00:00'):
        assert f'#SBATCH {line}\n' in text
    assert f"--work-dir '{tmp_path}/a b'" in text
    monkeypatch.setenv('GPUS', '0')
    assert main(arguments) == 0
    assert '--gres' not in capsys.readouterr().out


@pytest.mark.fault(
    52,
    'The script of a job with stand-ins for srun and scontrol: a notice before the end of the time '
    'requeues, SIGTERM (scancel) never does. Real Slurm: `pytest -m slurm`.',
)
@pytest.mark.parametrize(
    ('srun', 'restarts', 'code', 'said'),
    [
        ('exit 0', '', 0, []),
        ('touch {run}/preempted; exit 75', '', 75, ['requeue 7']),
        ('kill -USR2 $$', '', 140, ['requeue 7']),  # before Python could listen
        ('exit 75', '', 75, ['show job 7']),  # SIGTERM: whoever has cancelled it means it
        ('touch {run}/../gives_way; exit 75', '', 75, ['show job 7', 'requeue 7']),
        ('touch {run}/preempted; exit 75', '10', 75, []),  # in vain again and again: there is no checkpoint
        ('echo "$@" >> {said}', '1', 0, ['--kill-on-bad-exit=1 python tools/train.py a b.py --resume']),
        ('exit 137', '', 3, []),  # run.json knows better
    ],
)
def test_the_script_runs(srun, restarts, code, said, tmp_path):
    """With stand-ins for the commands of Slurm; tests/slurm has the real ones."""
    run, spoken = tmp_path / 'run', tmp_path / 'said'
    run.mkdir()
    RunFolder(run).update(exit_code=int(code) or None)
    (run / 'preempted').touch()  # of an earlier start: must not requeue again
    for name, body in {'srun': srun.format(run=run, said=spoken), 'scontrol': SCONTROL.format(said=spoken)}.items():
        (tmp_path / name).write_text(f'#!/bin/sh\n{body}\n')
        (tmp_path / name).chmod(0o755)
    (tmp_path / 'python').write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tmp_path / 'python').chmod(0o755)
    environment = {'PATH': f'{tmp_path}:/usr/bin:/bin', 'SLURM_JOB_ID': '7'}
    if restarts:
        environment['SLURM_RESTART_COUNT'] = restarts
    done = subprocess.run(['bash'], input=script(run), text=True, env=environment, capture_output=True)
    assert done.returncode == code, done.stderr
    assert (spoken.read_text().splitlines() if spoken.exists() else []) == said


def test_size():
    assert size_of({}) == Size(8, 8, 8, 5)
    assert size_of({'GPUS': '16', 'GPUS_PER_NODE': '4', 'CPUS_PER_TASK': '2'}) == Size(16, 4, 4, 2)
    assert size_of({'GPUS': '0', 'TASKS': '2'}) == Size(2, 2, 0, 5)
    with pytest.raises(ConfigError, match='GPUS must be'):
        size_of({'GPUS': 'many'})
    with pytest.raises(ConfigError, match='12 tasks cannot be divided by 8'):
        size_of({'GPUS': '12'})


def test_dry_run_prints_the_script(root, tmp_path, capsys):
    config = str(root / 'configs/digits/r8_mixup_dm.py')
    assert main(['train', 'gpu', 'job', config, str(tmp_path / 'run'), '--seed', '3', '--dry-run']) == 0
    out = capsys.readouterr().out
    assert out.startswith('#!/usr/bin/env bash\n#SBATCH --job-name=job\n#SBATCH --partition=gpu\n')
    assert f'--launcher slurm --work-dir {tmp_path / "run"} --seed 3' in out
    assert not (tmp_path / 'run').exists()
    assert main(['train', 'gpu', 'job', config, '--seed', '3', '--dry-run']) == 0
    assert 'work_dirs/digits/r8_mixup_dm/seed3' in capsys.readouterr().out
    assert main(['test', 'gpu', 'job', config, 'a.pth', '--dry-run']) == 0
    assert 'srun --job-name=job --partition=gpu' in capsys.readouterr().out


def test_what_the_job_would_refuse_is_refused_before_it_is_queued(root, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv('PATH', str(tmp_path))
    monkeypatch.setenv('OPENMIX_DM_DATA', str(tmp_path))
    config = str(root / 'configs/digits/r8_mixup_dm.py')
    assert main(['train', 'gpu', 'job', config, '--cfg-options', 'model.mixer.alpah=1']) == 2
    assert main(['train', 'gpu', 'job', str(root / 'configs/imagenet/r50.py'), str(tmp_path / 'run')]) == 3
    RunFolder(tmp_path).update(state='done')
    assert main(['train', 'gpu', 'job', config, str(tmp_path)]) == 2
    assert main(['train', 'gpu', 'job', config, str(tmp_path / 'run')]) == 7
    assert 'is this a machine of a Slurm cluster?' in capsys.readouterr().err


HOSTILE = ('a b', "it's", '"quoted"', '$(touch pwned)', '`touch pwned`', 'a;touch pwned', '%j%%', '\\\\', '#x')


@pytest.mark.fault(
    39,
    'Blanks, quotes, `$(...)` and `%j` in these names: they arrive as they are, and nothing is run.',
)
@pytest.mark.parametrize('name', HOSTILE)
def test_any_name_arrives_as_it_is(name, root, tmp_path, capsys, monkeypatch):
    """Bash itself reads the script; the headers are read by the rules of a shell, as sbatch does."""
    monkeypatch.chdir(tmp_path)
    folder, config = tmp_path / 'runs' / name, root / 'configs/digits/r8_mixup_dm.py'
    assert main(['train', f'p{name}', name, str(config), '--work-dir', str(folder), '--dry-run']) == 0
    text = capsys.readouterr().out
    headers = [shlex.split(line.removeprefix('#SBATCH ')) for line in text.splitlines() if line.startswith('#SBATCH')]
    assert {1} == {len(words) for words in headers}
    assert {f'--job-name={name}', f'--partition=p{name}'} <= {word for (word,) in headers}
    assert f'--output={tmp_path}/runs/{name.replace("%", "%%")}/slurm-%j.out' in {word for (word,) in headers}
    (tmp_path / 'srun').write_text('#!/bin/sh\nfor word; do printf "%s\\n" "$word"; done; exit 0\n')
    (tmp_path / 'srun').chmod(0o755)
    environment = {'PATH': f'{tmp_path}:/usr/bin:/bin', 'SLURM_JOB_ID': '7'}
    done = subprocess.run(['bash'], input=text, text=True, env=environment, capture_output=True)
    assert (done.returncode, done.stderr) == (0, '')
    words = done.stdout.splitlines()
    assert words[words.index('--work-dir') + 1] == str(folder)
    assert not list(tmp_path.rglob('pwned'))


@pytest.mark.fault(
    39,
    'A line break, or an escape, in the partition, the job or the folder of a Slurm job: exit 2 before it is queued.',
)
@pytest.mark.parametrize('place', ['partition', 'job', 'folder'])
@pytest.mark.parametrize('sign', ['\n', '\r', '\x1b', '\u2028'])
def test_a_name_that_would_write_a_line_of_its_own_is_refused(place, sign, root, tmp_path, capsys):
    names = {'partition': 'gpu', 'job': 'job', 'folder': str(tmp_path / 'run')}
    names[place] += f'{sign}#SBATCH --uid=0'
    config = str(root / 'configs/digits/r8_mixup_dm.py')
    words = ['train', names['partition'], names['job'], config, '--work-dir', names['folder'], '--dry-run']
    assert main(words) == 2
    assert 'line breaks' in capsys.readouterr().err
