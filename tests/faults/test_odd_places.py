"""Odd environments: too little of something, and a file system that changes below a run."""

import shutil
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.fault_cases import (
    EVERY_SECOND,
    check_failed,
    check_same_run,
    command,
    finish,
    injected,
    records,
    start,
    train,
    wait_for,
)

from openmix_dm.runs.folder import RunFolder

pytestmark = pytest.mark.faults
LONG = ('train_cfg.max_epochs=3000', 'default_hooks.records.interval=1', EVERY_SECOND)


def under(setup, folder, *options):
    """Start a training in a shell that has changed its surroundings first."""
    words = ' '.join(f"'{word}'" for word in command(folder, *options))
    return start('unshare', '--mount', 'sh', '-c', f'{setup} && exec {words}')


def with_shared_memory(size, folder):
    if subprocess.run(['unshare', '--mount', 'true']).returncode:
        pytest.skip('mounts cannot be changed here')
    mount = f'mount -t tmpfs -o size={size} tmpfs /dev/shm'
    return finish(under(mount, folder, 'train_dataloader.num_workers=2'), 60)


def test_f31_tiny_shared_memory(tmp_path):
    """/dev/shm is smaller than one batch of the workers: exit 7 before the run has a folder or a worker, with what is
    free, what is needed, and what to give or to lower."""
    outcome = with_shared_memory('32k', tmp_path / 'run')
    check_failed(outcome, 7, 'resources', '/dev/shm has 0.03 MB free', 'one takes 0.04 MB', '--shm-size', 'num_workers')
    assert not (tmp_path / 'run').exists()


def test_f31_small_shared_memory(tmp_path):
    """/dev/shm holds one batch, but not all that workers load ahead: a warning; where a worker dies of it, exit 7 with
    the same words, and the run goes on once there is more."""
    outcome = with_shared_memory('64k', tmp_path / 'run')
    assert 'batches of 0.04 MB ahead' in outcome.err
    check_failed(outcome, 7, 'resources', '/dev/shm', '--shm-size', 'num_workers')
    assert train(tmp_path / 'run', 'train_dataloader.num_workers=2', arguments=('--resume',)).code == 0


@pytest.mark.parametrize('limit', [5, 8, 16, 24])
def test_f32_few_open_files(limit, tmp_path):
    """`ulimit -n` of 5 (the config cannot be read), 8, 16 and 24: exit 7 with the limit to raise, or with what the
    worker that failed said."""
    outcome = finish(under(f'ulimit -n {limit}', tmp_path / 'run', 'train_dataloader.num_workers=2'), 60)
    assert outcome.code == 7, outcome.err
    assert 'ulimit -n' in outcome.err or 'Too many open files' in outcome.err


def goes_on_to_the_same_end(folder, tmp_path):
    """The last checkpoint is whole, and the run goes on from it to the weights of an unbroken one."""
    end = ('train_cfg.max_epochs=2', EVERY_SECOND)
    assert train(tmp_path / 'whole', *end).code == 0
    outcome = train(folder, *end, arguments=('--resume', '--allow-change', 'train_cfg', 'default_hooks'))
    assert outcome.code == 0, outcome.err
    check_same_run(folder, tmp_path / 'whole')


SLOW = """
try:
    from openmix_dm.engine.train_loops import EpochTrainLoop
except ImportError:
    EpochTrainLoop = None
if EpochTrainLoop:
    import time
    run_iter = EpochTrainLoop.run_iter
    def slowly(self, idx, batch):
        time.sleep(0.3)
        run_iter(self, idx, batch)
    EpochTrainLoop.run_iter = slowly
"""


def saved(folder):
    return any(folder.glob('iter_*.pth'))


@contextmanager
def real_disk(tmp_path):
    """Mount a file system of a file, and give the switch that makes it fail; only root may, and only on some kernels.

    An error makes ext4 read-only in mid-run, with all files open: what `mount -o remount,ro` refuses to do.
    """
    image, place = tmp_path / 'image', tmp_path / 'disk'
    place.mkdir()
    image.write_bytes(bytes(32 << 20))
    made = (
        subprocess.run(['mkfs.ext4', '-q', str(image)], stderr=subprocess.PIPE) if shutil.which('mkfs.ext4') else None
    )
    if made is None or subprocess.run(['mount', '-o', 'loop,errors=remount-ro', str(image), str(place)]).returncode:
        pytest.skip('no file system can be mounted here')
    try:
        source = next(line.split()[0] for line in Path('/proc/mounts').read_text().splitlines() if f' {place} ' in line)
        yield place, Path('/sys/fs/ext4') / Path(source).name / 'trigger_fs_error'
    finally:
        subprocess.run(['umount', '-l', str(place)], check=True)


def test_f33_file_system_really_turns_read_only(tmp_path):
    """An error of an ext4 in mid-run makes it read-only: exit 7 with the reason; what was saved before is whole, and
    copied to a disk that can be written, the run goes on to the weights of an unbroken one."""
    with real_disk(tmp_path) as (disk, switch):
        process = start(*command(disk / 'run', EVERY_SECOND), **injected(tmp_path, SLOW))
        wait_for(lambda: saved(disk / 'run'), process)
        switch.write_text('a fault')
        outcome = finish(process, 60)
        check_failed(outcome, 7, 'resources', 'cannot write')
        assert 'Read-only file system' in outcome.err or 'Input/output error' in outcome.err  # whatever comes first
        shutil.copytree(disk / 'run', tmp_path / 'copy')
    goes_on_to_the_same_end(tmp_path / 'copy', tmp_path)


READ_ONLY = """
try:
    from openmix_dm.utils import files
    from openmix_dm.runs import checkpoints
except ImportError:
    checkpoints = None
if checkpoints:
    import errno
    write, calls = checkpoints._write, []
    def refuse(state, path):
        calls.append(1)
        if len(calls) > 1:
            raise OSError(errno.EROFS, 'Read-only file system', str(path))
        write(state, path)
    checkpoints._write = refuse
"""


def test_f33_file_system_turns_read_only(tmp_path):
    """From the second checkpoint on, writing is refused as on a file system that was mounted anew, read-only: exit 7,
    the checkpoint before is whole, and once there is a place to write, the run goes on from it."""
    outcome = train(tmp_path / 'run', EVERY_SECOND, **injected(tmp_path, READ_ONLY))
    check_failed(outcome, 7, 'resources', 'Read-only')
    assert RunFolder(tmp_path / 'run').read()['exit_code'] == 7
    goes_on_to_the_same_end(tmp_path / 'run', tmp_path)


def test_f34_run_folder_disappears(tmp_path):
    """Moved away in mid-run, as by a clean-up: exit 7 with the folder's name, nothing hangs; what was moved is whole,
    and the run goes on from there."""
    folder, moved = tmp_path / 'run', tmp_path / 'moved'
    process = start(*command(folder, EVERY_SECOND), **injected(tmp_path, SLOW))
    wait_for(lambda: saved(folder), process)
    folder.rename(moved)
    check_failed(finish(process, 60), 7, 'resources', str(folder), 'is gone')
    assert not folder.exists()
    goes_on_to_the_same_end(moved, tmp_path)


MEMORY = """
try:
    from openmix_dm.engine.train_loops import EpochTrainLoop
except ImportError:
    EpochTrainLoop = None
if EpochTrainLoop:
    run_iter = EpochTrainLoop.run_iter
    def greedy(self, idx, batch):
        run_iter(self, idx, batch)
        if self._iter == 5:
            bytearray(1 << 60)
    EpochTrainLoop.run_iter = greedy
"""


def test_f35_memory_runs_out_in_the_main_process(tmp_path):
    """An allocation that fails: exit 7 with what to lower, and a checkpoint to go on from. (The kernel that kills a
    process is a kill -9, see F1: nothing can be said at that moment.)"""
    outcome = train(tmp_path / 'run', EVERY_SECOND, **injected(tmp_path, MEMORY))
    check_failed(outcome, 7, 'resources', 'memory has run out', 'global_batch_size')
    goes_on_to_the_same_end(tmp_path / 'run', tmp_path)


def test_f36_files_are_replaced_below_the_run(tmp_path):
    """metrics.jsonl, run.json and the log are replaced by copies while they are open, as on a network file system that
    lost its handles: what is recorded later is not lost."""
    folder = tmp_path / 'run'
    process = start(*command(folder, EVERY_SECOND), **injected(tmp_path, SLOW))
    wait_for(lambda: saved(folder), process)
    for name in ('metrics.jsonl', 'run.json', 'train.log', 'checkpoints.json'):
        if (folder / name).exists():
            shutil.copy(folder / name, folder / f'{name}.copy')
            (folder / f'{name}.copy').rename(folder / name)
    outcome = finish(process, 60)
    assert outcome.code == 0, outcome.err
    assert train(tmp_path / 'whole', EVERY_SECOND).code == 0
    check_same_run(folder, tmp_path / 'whole')


def test_f36_a_stop_while_files_are_replaced(tmp_path):
    """The lock is replaced by a copy: the run still ends in good order and gives the folder free."""
    folder = tmp_path / 'run'
    process = start(*command(folder, *LONG))
    wait_for(lambda: records(folder) > 3, process)
    shutil.copy(folder / 'lock.json', folder / 'copy')
    (folder / 'copy').rename(folder / 'lock.json')
    process.send_signal(signal.SIGUSR1)
    check_failed(finish(process, 60), 75, 'preempted', 'SIGUSR1')
    assert not (folder / 'lock.json').exists()
