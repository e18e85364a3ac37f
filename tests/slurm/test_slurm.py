"""A real Slurm of one node: two real tasks, preemption, requeue, and job arrays."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import cv2
import numpy as np
import pytest
from support.short_runs import same

from openmix_dm.runs.checkpoints import load_file
from openmix_dm.runs.folder import RunFolder

pytestmark = pytest.mark.slurm
CONFIG = 'configs/imagenet/r50_mixup_dm.py'
OPTIONS = (
    '--cfg-options', 'train_cfg.max_epochs=3', 'global_batch_size=16', 'default_hooks.records.interval=1',
    'train_dataloader.num_workers=1', 'val_dataloader.num_workers=0', 'val_dataloader.batch_size=4',
    'train_dataloader.dataset.transforms.0.size=32', 'val_dataloader.dataset.transforms.0.size=36',
    'val_dataloader.dataset.transforms.1.size=32',
)  # fmt: skip


@pytest.fixture(scope='module')
def cluster(tmp_path_factory):
    """Start Slurm, or say why not; return the environment for its commands."""
    root = Path(__file__).resolve().parents[2]
    if shutil.which('sbatch') is None:
        pytest.skip('Slurm is not installed: apt-get install slurm-wlm munge')
    folder, script = tmp_path_factory.mktemp('slurm'), root / 'tests/slurm/start_slurm.sh'
    folder.chmod(0o755)
    for above in folder.parents[:2]:
        above.chmod(0o755)  # munge wants a path that others can read
    started = subprocess.run([script, folder], capture_output=True, text=True)
    if started.returncode:
        pytest.skip(f'Slurm cannot be started here: {started.stderr.strip()[-300:]}')
    yield {
        **os.environ, 'SLURM_CONF': str(folder / 'slurm.conf'), 'PYTHON': sys.executable, 'OMP_NUM_THREADS': '1',
        'GPUS': '0', 'TASKS': '2', 'CPUS_PER_TASK': '1', 'OPENMIX_DM_DATA': str(make_imagenet(folder)),
    }  # fmt: skip
    subprocess.run(['scancel', '--user=root'], env={**os.environ, 'SLURM_CONF': str(folder / 'slurm.conf')})
    subprocess.run([script, folder, 'stop'], check=True)


def make_imagenet(folder):
    """Write JPEGs in the layout of ImageNet: 8 synsets, 8 images each to train, 2 to validate."""
    pixels = np.random.default_rng(0)
    for split, images in (('train', 8), ('val', 2)):
        for synset in range(8):
            place = folder / 'data' / 'imagenet' / split / f'n{synset:08d}'
            place.mkdir(parents=True)
            for number in range(images):
                small = pixels.integers(0, 255, (6, 6, 3), dtype=np.uint8)
                cv2.imwrite(str(place / f'{number}.JPEG'), cv2.resize(small, (48, 48)))
    return folder / 'data'


def call(*command, cluster):
    done = subprocess.run(command, env=cluster, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    return done.stdout


def submit(folder, cluster, partition='test'):
    out = call('tools/slurm_train.sh', partition, 'job', CONFIG, str(folder), *OPTIONS, cluster=cluster)
    return out.split()[0]


def job(number, cluster):
    return dict(re.findall(r'(\w+)=(\S+)', call('scontrol', 'show', 'job', number, cluster=cluster)))


def wait(condition, said, seconds=400):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, said()
        time.sleep(0.1)


def wait_for_end(number, cluster, folder):
    ended = ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT', 'NODE_FAIL')
    wait(lambda: job(number, cluster)['JobState'] in ended, lambda: output(folder) + str(job(number, cluster)))
    return job(number, cluster)


def output(folder):
    return '\n'.join(path.read_text() for path in folder.glob('slurm-*.out'))


@pytest.fixture(scope='module')
def whole(cluster, tmp_path_factory):
    """An unbroken run of two tasks."""
    folder = tmp_path_factory.mktemp('whole') / 'run'
    ended = wait_for_end(submit(folder, cluster), cluster, folder)
    assert (ended['JobState'], ended['ExitCode']) == ('COMPLETED', '0:0'), output(folder)
    return folder


def test_two_real_tasks_train_a_config_of_imagenet(whole):
    run = RunFolder(whole).read()
    assert (run['state'], run['world_size']) == ('done', 2)
    assert len(RunFolder(whole).records('val')) == 3


def test_a_preempted_job_goes_back_into_the_queue_and_ends_as_an_unbroken_one(cluster, whole, tmp_path):
    folder = tmp_path / 'run'
    number = submit(folder, cluster)
    wait(lambda: len(RunFolder(folder).records('train')) >= 5, lambda: output(folder))
    call('scancel', '--signal=USR1', number, cluster=cluster)
    wait(lambda: (folder / 'preempted').exists(), lambda: output(folder))
    assert RunFolder(folder).read()['state'] == 'preempted'
    ended = wait_for_end(number, cluster, folder)
    assert (ended['JobState'], ended['ExitCode'], ended['Restarts']) == ('COMPLETED', '0:0', '1'), output(folder)
    assert same(load_file(folder / 'epoch_3.pth'), load_file(whole / 'epoch_3.pth'))
    assert RunFolder(folder).records('val') == RunFolder(whole).records('val')
    assert 'STOPPED cause=preempted: SIGUSR1' in output(folder)


def test_a_cancelled_job_saves_and_stays_away(cluster, tmp_path):
    folder = tmp_path / 'run'
    number = submit(folder, cluster)
    wait(lambda: len(RunFolder(folder).records('train')) >= 2, lambda: output(folder))
    call('scancel', number, cluster=cluster)
    wait_for_end(number, cluster, folder)
    assert list(folder.glob('iter_*.pth'))
    time.sleep(15)  # longer than a job that was put back has to wait
    ended = job(number, cluster)
    assert (ended['JobState'], ended['Restarts']) == ('CANCELLED', '0'), output(folder)
    assert RunFolder(folder).read()['state'] == 'preempted'


@pytest.mark.parametrize('partition', ['low', 'graceful'])
def test_a_job_that_gives_way_to_another_comes_back(partition, cluster, whole, tmp_path):
    """Slurm puts it back itself; where it has some seconds to end, it does not: then it puts itself back."""
    folder = tmp_path / 'run'
    number = submit(folder, cluster, partition)
    wait(lambda: len(RunFolder(folder).records('train')) >= 5, lambda: output(folder))
    call('sbatch', '--partition=high', '--exclusive', '--output=/dev/null', '--wrap', 'sleep 5', cluster=cluster)
    wait(lambda: list(folder.glob('iter_*.pth')), lambda: output(folder))
    assert not (folder / 'preempted').exists()
    ended = wait_for_end(number, cluster, folder)
    assert (ended['JobState'], ended['Restarts']) == ('COMPLETED', '1'), output(folder)
    assert same(load_file(folder / 'epoch_3.pth'), load_file(whole / 'epoch_3.pth'))
    assert 'STOPPED cause=preempted: SIGTERM' in output(folder)


def test_a_signal_in_the_first_second_is_not_the_end(cluster, tmp_path):
    """Before anything is imported, while it is imported, and while it is built: the job comes back and ends well."""
    folder = tmp_path / 'run'
    number = submit(folder, cluster)
    for restarts, seconds in enumerate((0.0, 0.5, 4.0)):
        wait(lambda count=restarts: running(number, count, cluster), lambda: str(job(number, cluster)))
        time.sleep(seconds)
        call('scancel', '--signal=USR1', number, cluster=cluster)
        wait(lambda count=restarts: job(number, cluster)['Restarts'] == str(count + 1), lambda: output(folder))
    ended = wait_for_end(number, cluster, folder)
    assert (ended['JobState'], ended['ExitCode'], ended['Restarts']) == ('COMPLETED', '0:0', '3'), output(folder)


def running(number, restarts, cluster):
    """Say whether the tasks of a start are there: a step that does not exist yet cannot be signalled."""
    now = job(number, cluster)
    steps = call('squeue', '--steps', '--noheader', '--format=%i', cluster=cluster).split()
    return now['JobState'] == 'RUNNING' and now['Restarts'] == str(restarts) and f'{number}.0' in steps


def test_a_failed_job_has_the_code_of_its_cause_and_is_not_queued_again(cluster, tmp_path):
    folder = tmp_path / 'bad'
    options = (*OPTIONS, 'model.backbone.pretrained=/nowhere/weights.pth')
    out = call('tools/slurm_train.sh', 'test', 'job', CONFIG, str(folder), *options, cluster=cluster)
    ended = wait_for_end(out.split()[0], cluster, folder)
    assert (ended['JobState'], ended['ExitCode'], ended['Restarts']) == ('FAILED', '4:0', '0'), output(folder)
    assert 'cause=checkpoint' in output(folder)


def test_a_checkpoint_is_tested_by_two_tasks(cluster, whole):
    out = call('tools/slurm_test.sh', 'test', 'job', CONFIG, str(whole / 'epoch_3.pth'), *OPTIONS, cluster=cluster)
    last = RunFolder(whole).records('val')[-1]
    assert f'top1 {last["top1"]:.2f}  top5 {last["top5"]:.2f}' in out


def submit_table(arguments, cluster, *options):
    options = ('global_batch_size=400', 'train_dataloader.dataset.size=8', 'val_dataloader.dataset.size=8', *options)
    out = call(
        sys.executable, 'tools/table.py', 'run', *arguments, '--slurm', 'test', '--sbatch', 'gpus-per-task=0',
        'cpus-per-task=1', '--cfg-options', *options, cluster=cluster,
    )  # fmt: skip
    return re.search(r'Submitted batch job (\d+)', out)[1]


def queued(cluster):
    return call('squeue', '--noheader', '--array', '--format=%i', cluster=cluster).split()


def states(runs):
    return {path.parent.parent.name: RunFolder(path.parent).read()['state'] for path in runs.rglob('run.json')}


def test_a_whole_table_with_a_cell_that_fails(cluster, tmp_path):
    runs, table = tmp_path / 'runs', tmp_path / 'two.py'
    good, bad = 'digits/r8_mixup.py', 'cifar100/r18_mixup.py'  # whose data are not there
    table.write_text(f"title='two'\ncolumns=['mce']\nrows={{'good': ['{good}'], 'bad': ['{bad}']}}\n")
    arguments = (str(table), '--work-dirs', str(runs), '--trials', '2')
    call(
        sys.executable, 'tools/table.py', 'run', *arguments, '--slurm', 'test', '--sbatch', 'gpus-per-task=0',
        'cpus-per-task=1', '--cfg-options', 'train_cfg.max_epochs=1', cluster=cluster,
    )  # fmt: skip
    wait(lambda: not queued(cluster), lambda: str(states(runs)))
    logs = '\n'.join(path.read_text() for path in runs.rglob('*_*.log'))
    assert logs.count('FAILED cause=data') == 2, logs
    said = call(sys.executable, 'tools/table.py', 'status', *arguments, cluster=cluster)
    assert said.count(' done') >= 2, said
    given = call(sys.executable, 'tools/table.py', 'collect', *arguments, '--format', 'json', cluster=cluster)
    assert [cell['mean'] is not None for cell in json.loads(given)['cells']] == [True, False]


def test_a_task_that_is_cancelled_or_stopped_touches_no_other(cluster, tmp_path):
    """The last task, whose job id is that of the array."""
    runs = tmp_path / 'runs'
    arguments = ('digits', '--work-dirs', str(runs), '--trials', '1', '--cells', 'mixup/*')
    number = submit_table(arguments, cluster, 'train_cfg.max_epochs=60', 'default_hooks.records.interval=1')
    wait(lambda: len(list(runs.rglob('metrics.jsonl'))) == 2, lambda: str(queued(cluster)))
    call('scancel', '--signal=USR1', f'{number}_2', cluster=cluster)
    wait(lambda: list(runs.rglob('iter_*.pth')), lambda: str(states(runs)))
    call('scancel', f'{number}_1', cluster=cluster)
    wait(lambda: not queued(cluster), lambda: str(states(runs)))
    assert sorted(states(runs).values()) == ['done', 'preempted']
    restarts = {task: job(f'{number}_{task}', cluster)['Restarts'] for task in (1, 2)}
    assert restarts == {1: '0', 2: '1'}


def test_a_job_array_fills_a_table(cluster, tmp_path):
    arguments = ('digits', '--work-dirs', str(tmp_path / 'runs'), '--trials', '1')
    submit_table((*arguments, '--cells', 'mixup/*'), cluster, 'train_cfg.max_epochs=1')
    runs = tmp_path / 'runs'
    wait(lambda: not queued(cluster), lambda: str(list(runs.rglob('*'))))
    assert set(states(runs).values()) == {'done'}, states(runs)
    assert 'done' in call(sys.executable, 'tools/table.py', 'status', *arguments, cluster=cluster)
    filled = json.loads(
        call(sys.executable, 'tools/table.py', 'collect', *arguments, '--format', 'json', cluster=cluster)
    )
    means = {cell['cell']: cell['mean'] for cell in filled['cells']}
    assert {name for name, mean in means.items() if mean is not None} == {'mixup/mce', 'mixup/dm-ce'}
