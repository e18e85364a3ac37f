"""Signals and ranks: all stop together, the guilty one is named, nobody hangs and nobody is left behind."""

import os
import signal
import sys
import time

import pytest
from support.fault_cases import (
    CONFIG,
    SMALL,
    check_failed,
    check_same_run,
    children,
    command,
    finish,
    injected,
    records,
    start,
    train,
    wait_for,
)

from openmix_dm.runs.folder import MARKER, RunFolder

pytestmark = pytest.mark.faults
LONG = ('train_cfg.max_epochs=12', 'default_hooks.records.interval=1', 'train_dataloader.num_workers=1')


def ranks_of(launcher):
    """Return the processes that a launcher has started, not their workers."""
    return [pid for pid in children(launcher) if '--launcher' in words(pid) and words(parent(pid)) != words(pid)]


def words(pid):
    try:
        with open(f'/proc/{pid}/cmdline') as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return ''


def parent(pid):
    with open(f'/proc/{pid}/stat') as file:  # noqa: PTH123
        return int(file.read().rpartition(')')[2].split()[1])


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
    """Unbroken runs on one and on two ranks."""
    folder = tmp_path_factory.mktemp('whole')
    for ranks in (1, 2):
        outcome = train(folder / str(ranks), *LONG, ranks=ranks)
        assert outcome.code == 0, outcome.err
    return folder


def check_preempted_and_goes_on(folder, outcome, whole, ranks, number, codes=(75,)):
    assert outcome.code in codes, outcome.err
    assert 'openmix_dm: STOPPED cause=preempted' in outcome.err
    assert (folder / MARKER).exists() == (number != signal.SIGTERM)
    assert RunFolder(folder).read()['state'] == 'preempted'
    outcome = train(folder, *LONG, arguments=('--resume',), ranks=ranks)
    assert outcome.code == 0, outcome.err
    assert not (folder / MARKER).exists()
    check_same_run(folder, whole / str(ranks), epochs=12)


@pytest.mark.parametrize(
    ('target', 'number'),
    [
        ('process', signal.SIGTERM),
        ('process', signal.SIGUSR1),
        ('process', signal.SIGUSR2),
        ('group', signal.SIGTERM),
        ('one rank', signal.SIGUSR1),
        ('launcher', signal.SIGUSR2),
    ],
)
def test_f20_signals(target, number, whole, tmp_path):
    """SIGTERM, SIGUSR1 and SIGUSR2 to a run, to its whole group with the workers, to one of two ranks, or to the
    launcher: saved at the next iteration, exit 75, marker except after SIGTERM; --resume ends as an unbroken run, bit
    for bit. A second signal changes nothing."""
    ranks, folder = (1 if target in ('process', 'group') else 2), tmp_path / 'run'
    process = start(*command(folder, *LONG, ranks=ranks))
    wait_for(lambda: records(folder) >= 10, process)
    if target == 'group':
        os.killpg(process.pid, number)
    else:
        os.kill(ranks_of(process.pid)[-1] if target == 'one rank' else process.pid, number)
    time.sleep(0.02)
    if process.poll() is None and target in ('process', 'launcher'):
        process.send_signal(number)
    check_preempted_and_goes_on(folder, finish(process), whole, ranks, number)


def test_f20_signal_to_torchrun(whole, tmp_path):
    """The same under torchrun, which passes SIGTERM on and turns 75 into another code: run.json tells."""
    launch = (sys.executable, '-m', 'torch.distributed.run', '--standalone', '--nproc_per_node', '2', 'tools/train.py')
    arguments = (CONFIG, '--launcher', 'pytorch', '--work-dir', str(tmp_path / 'run'), '--cfg-options', *SMALL, *LONG)
    process = start(*launch, *arguments)
    wait_for(lambda: records(tmp_path / 'run') >= 10, process)
    process.send_signal(signal.SIGTERM)
    outcome = finish(process)
    assert RunFolder(tmp_path / 'run').read()['exit_code'] == 75
    codes = (1, 75, -signal.SIGTERM, 143)
    check_preempted_and_goes_on(tmp_path / 'run', outcome, whole, 2, signal.SIGTERM, codes)


FOR_EVER = ('train_cfg.max_epochs=2000', 'default_hooks.records.interval=1', 'env_cfg.dist_cfg.timeout=5')


def check_nobody_left(pids):
    wait_for(lambda: not [pid for pid in pids if os.path.exists(f'/proc/{pid}')], seconds=10)  # noqa: PTH110


@pytest.mark.parametrize('rank', [0, 1])
def test_f21_rank_killed(rank, tmp_path):
    """One of two ranks is killed: the other notices, exit 6 at once, the guilty rank is named last, nobody is left."""
    process = start(*command(tmp_path / 'run', *FOR_EVER, ranks=2))
    wait_for(lambda: records(tmp_path / 'run') > 5, process)
    below = children(process.pid)
    os.kill(sorted(ranks_of(process.pid))[rank], signal.SIGKILL)
    outcome = finish(process, timeout=60)
    check_failed(outcome, 6, 'distributed', f'rank {rank} died or hung')
    assert outcome.err.strip().splitlines()[-1].startswith(f'openmix_dm: FAILED rank={rank}: killed by signal 9')
    check_nobody_left(below)


@pytest.mark.parametrize('rank', [0, 1])
def test_f21_rank_hangs(rank, tmp_path):
    """One of two ranks hangs: exit 6 within the time-out (5 s here, 30 minutes by default) and 5 s, it is named and
    ended, nobody is left."""
    process = start(*command(tmp_path / 'run', *FOR_EVER, ranks=2))
    wait_for(lambda: records(tmp_path / 'run') > 5, process)
    below = children(process.pid)
    os.kill(sorted(ranks_of(process.pid))[rank], signal.SIGSTOP)
    outcome = finish(process, timeout=60)
    check_failed(outcome, 6, 'distributed', f'rank {rank} died or hung')
    assert f'did not end by themselves: {rank}' in outcome.err.strip().splitlines()[-1]
    assert outcome.seconds < 5 + 5 + 10  # ten for a machine that is busy with other things
    check_nobody_left(below)


DIFFERENT_DATA = """
import os
try:
    from openmix_dm.datasets import Digits
except ImportError:
    Digits = None
if Digits and os.environ.get('RANK') == '1':
    import functools
    build = Digits.__init__
    @functools.wraps(build)
    def shorter(self, *args, **options):
        build(self, *args, **options)
        self.images, self.labels = self.images[:-100], self.labels[:-100]
    Digits.__init__ = shorter
"""
DIFFERENT_CONFIG = """
import os
try:
    from openmix_dm.config import load as config
except ImportError:
    config = None
if config and os.environ.get('RANK') == '1':
    load = config.load_config
    def other(path, options=()):
        loaded = load(path, options)
        loaded.optim_wrapper.optimizer.lr = 0.5
        return loaded
    config.load_config = other
"""


@pytest.mark.parametrize(('code', 'said'), [(DIFFERENT_DATA, 'the images of train'), (DIFFERENT_CONFIG, 'the config')])
def test_f22_ranks_disagree(code, said, tmp_path):
    """Two ranks with different data or configs: exit 6 before training, with what differs."""
    outcome = train(tmp_path / 'run', ranks=2, **injected(tmp_path, code))
    check_failed(outcome, 6, 'distributed', f'the ranks disagree about {said}', 'rank 1 has')
    assert not (tmp_path / 'run' / 'run.json').exists()
