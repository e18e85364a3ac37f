"""Checkpoints: whatever happens to one, the run goes on from a good one and ends as an unbroken run does."""

import os
import random
import shutil
import signal
import subprocess
from contextlib import contextmanager

import pytest
from commands.test_malicious import PAYLOADS
from support.fault_cases import (
    CONFIG,
    EVERY_SECOND,
    check_failed,
    check_same_run,
    children,
    command,
    final,
    finish,
    injected,
    records,
    small_disk,
    start,
    tool,
    train,
    wait_for,
)
from support.short_runs import same

from openmix_dm.runs.checkpoints import CheckpointStore, load_file
from openmix_dm.runs.folder import RunFolder

pytestmark = pytest.mark.faults
EMA = ('default_hooks.ema.type=EmaHook', 'default_hooks.ema.decay=0.9')
LONG = ('train_cfg.max_epochs=20', 'default_hooks.checkpoint.save_every_iters=5', 'default_hooks.records.interval=1')


@pytest.mark.parametrize(('ranks', 'workers'), [(1, 0), (2, 1)])
def test_f1_killed_ten_times(ranks, workers, tmp_path):
    """kill -9 of all processes at ten random moments of a run (on one rank; on two with workers), then --resume: the
    weights of an unbroken run, bit for bit; at most five iterations are run again."""
    options = (*LONG, *EMA, f'train_dataloader.num_workers={workers}')
    outcome = train(tmp_path / 'whole', *options, ranks=ranks)
    assert outcome.code == 0, outcome.err
    dice, folder = random.Random(ranks + workers), tmp_path / 'cut'
    for _ in range(10):
        before, more = records(folder), dice.randint(2, 14)
        process = start(*command(folder, *options, arguments=('--resume',), ranks=ranks))
        reached = wait_for(lambda before=before, more=more: records(folder) >= before + more, process)
        assert reached, process.communicate()[1]
        for pid in [*children(process.pid), process.pid]:
            os.kill(pid, signal.SIGKILL)
        process.communicate()
        saved = CheckpointStore(folder).entries()
        lost = RunFolder(folder).records()[-1]['iter'] - (saved[-1].iter if saved else 0)
        assert lost <= 5 + 1
    outcome = train(folder, *options, arguments=('--resume',), ranks=ranks)
    assert outcome.code == 0, outcome.err
    check_same_run(folder, tmp_path / 'whole', epochs=20)


def test_f2_resume_at_position_100000(tmp_path):
    """A run that has 100,000 iterations behind goes on within seconds: nothing is replayed."""
    options = ('global_batch_size=1', 'train_cfg.max_epochs=80', 'default_hooks.records.interval=1')
    process = start(*command(tmp_path / 'run', *options, 'default_hooks.checkpoint.save_every_iters=1'))
    wait_for(lambda: records(tmp_path / 'run') > 3)
    process.kill()
    process.communicate()
    found = CheckpointStore(tmp_path / 'run').newest(print)
    assert found is not None
    state = found[1]
    state['meta'] |= {'iter': 100_000, 'epoch': 100_000 // 1437}
    CheckpointStore(tmp_path / 'run').save(state, 'iter_100000.pth', 100_000, keep=2)
    options = (*options, 'default_hooks.checkpoint.save_every_iters=1')
    process = start(*command(tmp_path / 'run', *options, arguments=('--resume',)))
    wait_for(lambda: RunFolder(tmp_path / 'run').records()[-1:] and
             RunFolder(tmp_path / 'run').records()[-1]['iter'] > 100_000, process, seconds=60)  # fmt: skip
    process.kill()
    process.communicate()
    assert RunFolder(tmp_path / 'run').records()[-1]['iter'] > 100_000


KILLER = """
import os, random, signal
try:
    from openmix_dm.runs import checkpoints
except ImportError:
    checkpoints = None
class Killing:
    def __init__(self, file, left):
        self.file, self.left = file, left
    def write(self, data):
        data = bytes(data)
        if len(data) >= self.left:
            self.file.write(data[:self.left]); self.file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= len(data)
        return self.file.write(data)
    def __getattr__(self, name):
        return getattr(self.file, name)
if checkpoints:
    save, saves = checkpoints.torch.save, []
    def killing(state, file):
        saves.append(1)
        if len(saves) == int(os.environ['KILL_IN_SAVE']):
            file = Killing(file, int(os.environ['KILL_AT_BYTE']))
        save(state, file)
    checkpoints.torch.save = killing
"""


def test_f3_killed_in_twenty_writes_of_a_checkpoint(tmp_path):
    """kill -9 at 20 random bytes of a checkpoint's file, with only one kept: 20 of 20 go on, no save but the broken
    one is lost, nothing temporary stays."""
    options = ('train_cfg.max_epochs=6', EVERY_SECOND, 'default_hooks.checkpoint.keep=1')
    assert train(tmp_path / 'whole', *options).code == 0
    size = next((tmp_path / 'whole').glob('*.pth')).stat().st_size
    dice, folder, environment = random.Random(0), tmp_path / 'cut', injected(tmp_path, KILLER)
    before = 0
    for _ in range(20):
        kill = {'KILL_IN_SAVE': '2', 'KILL_AT_BYTE': str(dice.randrange(1, size))}
        outcome = train(folder, *options, arguments=('--resume',), **environment, **kill)
        assert outcome.code == -signal.SIGKILL, outcome.err
        assert len(list(folder.glob('*.tmp'))) == 1  # of this kill: the one before is gone
        newest = CheckpointStore(folder).newest(pytest.fail)
        assert newest is not None
        assert newest[1]['meta']['iter'] > before  # the save before the broken one is there
        before = newest[1]['meta']['iter']
    outcome = train(folder, *options, arguments=('--resume',))
    assert outcome.code == 0, outcome.err
    check_same_run(folder, tmp_path / 'whole', epochs=6)


def test_f4_disk_full_during_a_save(tmp_path):
    """A disk of 1.2 MB is full at the second save: exit 7 with the bytes needed and free; the older checkpoints are
    intact; with more room the run goes on to the weights of an unbroken one."""
    assert train(tmp_path / 'whole').code == 0
    with small_disk(tmp_path / 'disk', '1200k') as disk:
        outcome = train(disk / 'run')
        check_failed(outcome, 7, 'resources', 'bytes', 'free', 'make room')
        assert not list((disk / 'run').glob('*.tmp'))
        assert load_file(disk / 'run' / 'epoch_1.pth')['meta']['epoch'] == 1
        assert os.system(f'mount -o remount,size=20m {disk}') == 0
        outcome = train(disk / 'run', arguments=('--resume',))
        assert outcome.code == 0, outcome.err
        check_same_run(disk / 'run', tmp_path / 'whole')


@contextmanager
def always_full(path):
    """Put a file into a place that can be opened, and has no room; a link to it would be refused."""
    path.touch()
    subprocess.run(['mount', '--bind', '/dev/full', str(path)], check=True)
    try:
        yield
    finally:
        subprocess.run(['umount', str(path)], check=True)


def test_f4_disk_full_for_logs(tmp_path):
    """No room for log and TensorBoard: training goes on, and says so once."""
    folder = tmp_path / 'run'
    folder.mkdir()
    with small_disk(folder / 'tensorboard', '4k'), always_full(folder / 'train.log'):
        os.system(f'head -c 100000 /dev/zero > {folder}/tensorboard/filler 2>/dev/null')
        outcome = train(folder)
    assert outcome.code == 0, outcome.err
    assert outcome.err.count('the log cannot be written') == 1
    assert outcome.err.count('TensorBoard cannot be written') == 1
    assert 'Traceback' not in outcome.err
    assert RunFolder(folder).read()['state'] == 'done'


def truncate(path):
    path.write_bytes(path.read_bytes()[:-1000])


def flip_a_bit(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def check_falls_back(damage, tmp_path):
    assert train(tmp_path / 'whole', EVERY_SECOND).code == 0
    process = start(*command(tmp_path / 'cut', EVERY_SECOND))
    wait_for(lambda: (tmp_path / 'cut' / 'iter_4.pth').exists(), process)
    process.kill()
    process.communicate()
    newest = CheckpointStore(tmp_path / 'cut').entries()[-1].file
    damage(tmp_path / 'cut' / newest)
    outcome = train(tmp_path / 'cut', EVERY_SECOND, arguments=('--resume',))
    assert outcome.code == 0, outcome.err
    # by its hash, or because it does not read as a checkpoint
    assert f'{newest} is damaged' in outcome.said or f'{newest} cannot be loaded' in outcome.said
    check_same_run(tmp_path / 'cut', tmp_path / 'whole')


def test_f5_newest_checkpoint_truncated(tmp_path):
    """The newest checkpoint is cut short: a warning that names it, and the run goes on from the one before."""
    check_falls_back(truncate, tmp_path)


def test_f5_all_checkpoints_truncated(tmp_path):
    """All checkpoints are cut short: exit 4, and no fresh start over them."""
    assert train(tmp_path / 'run').code == 0
    for path in (tmp_path / 'run').glob('*.pth'):
        truncate(path)
    check_failed(train(tmp_path / 'run', arguments=('--resume',)), 4, 'checkpoint', 'none of the 2')


def test_f6_one_bit_flipped(tmp_path):
    """One bit of the newest checkpoint's weights is flipped: as a truncated one."""
    check_falls_back(flip_a_bit, tmp_path)


@pytest.mark.parametrize('name', PAYLOADS)
def test_f18_malicious_checkpoint(name, tmp_path):
    """A pickle that runs code, in three ways, given to test.py, load_from and --resume: exit 4, and it did not run."""
    marker, bad = tmp_path / 'marker', tmp_path / 'bad.pth'
    PAYLOADS[name](marker, bad)
    check_failed(tool('test', CONFIG, bad), 4, 'checkpoint', 'refused')
    check_failed(train(tmp_path / 'a', f'load_from={bad}'), 4, 'checkpoint')
    check_failed(train(tmp_path / 'b', arguments=('--resume', bad)), 4, 'checkpoint')
    assert not marker.exists()


@pytest.mark.parametrize(
    'change',
    ['optim_wrapper.optimizer.lr=0.5', 'global_batch_size=100', 'model.head.num_classes=11', 'train_cfg.max_epochs=3'],
)
def test_f23_changed_config_on_resume(change, tmp_path):
    """--resume with another learning rate, batch, number of classes or epochs: exit 2 with the difference."""
    assert train(tmp_path / 'run').code == 0
    outcome = train(tmp_path / 'run', change, arguments=('--resume',))
    check_failed(outcome, 2, 'config', change.partition('=')[0], '--allow-change')


def test_f23_changed_number_of_ranks(tmp_path):
    """--resume on another number of ranks: the global batch stays, and the log says that the draws differ."""
    process = start(*command(tmp_path / 'run', EVERY_SECOND))
    wait_for(lambda: (tmp_path / 'run' / 'iter_4.pth').exists(), process)
    process.kill()
    process.communicate()
    outcome = train(tmp_path / 'run', EVERY_SECOND, arguments=('--resume',), ranks=2)
    assert outcome.code == 0, outcome.err
    assert '1 rank before, 2 now' in outcome.said
    assert final(tmp_path / 'run')['meta']['iter'] == 14


def test_f24_moved_folder(tmp_path):
    """The run folder is moved, and a copy of it too: both go on."""
    assert train(tmp_path / 'whole', EVERY_SECOND).code == 0
    process = start(*command(tmp_path / 'before', EVERY_SECOND))
    wait_for(lambda: (tmp_path / 'before' / 'iter_4.pth').exists(), process)
    process.kill()
    finish(process)
    shutil.copytree(tmp_path / 'before', tmp_path / 'copy')
    (tmp_path / 'before').rename(tmp_path / 'after')
    for name in ('after', 'copy'):
        outcome = train(tmp_path / name, EVERY_SECOND, arguments=('--resume',))
        assert outcome.code == 0, outcome.err
        assert same(final(tmp_path / name), final(tmp_path / 'whole'))
