"""A hundred kills at random moments, from the first line of a command to its last, over four kinds of training."""

import os
import random
import signal
import sys
import time
from contextlib import suppress

import pytest
from support.command_runs import start
from support.fault_cases import children, finish
from support.short_runs import curves, same, timeless

from openmix_dm.runs.checkpoints import CheckpointStore, load_file
from openmix_dm.runs.folder import RunFolder

pytestmark = pytest.mark.faults
SEED, KILLS = 20261, 25  # of each kind

SAVING = ('default_hooks.checkpoint.save_every_iters=3', 'default_hooks.records.interval=4')
SIZES = ('train_dataloader.dataset.size=8', 'val_dataloader.dataset.size=8', 'global_batch_size=100')
ONE = ('tools/train.py',)
TWO = ('-m', 'torch.distributed.run', '--standalone', '--nproc_per_node', '2', 'tools/train.py', '--launcher=pytorch')
EMA = "default_hooks.ema=dict(type='EmaHook',decay=0.9)"
KINDS = {  # how it is started, the config, and options that make it short
    'one process with a worker': (
        ONE,
        'digits/r8_mixup_dm',
        ('train_cfg.max_epochs=8', 'train_dataloader.num_workers=1', EMA, *SIZES),
    ),
    'two ranks of torchrun': (TWO, 'digits/r8_mixup_dm', ('train_cfg.max_epochs=8', *SIZES)),
    'a learned mixer': (ONE, 'digits/r8_automix_dm', ('train_cfg.max_epochs=3', *SIZES)),
    'semi-supervised': (ONE, 'digits_semi/r8_fixmatch_dm', ('train_cfg.max_iters=60', 'train_cfg.val_interval=15')),
}


def launch(kind, folder):
    how, config, options = KINDS[kind]
    words = (f'configs/{config}.py', '--work-dir', str(folder), '--resume', '--cfg-options', *options, *SAVING)
    return start(sys.executable, *how, *words)


def strike(process, dice):
    """Kill all processes, as a machine that goes down does, or one of them alone; wait until the others have ended.

    Return who it was.
    """
    below = children(process.pid)
    everybody = [process.pid, *below]
    victims = everybody if dice.random() < 0.7 else [dice.choice(everybody)]
    print(f'killing {victims} of {everybody}')
    for pid in victims:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    outcome = finish(process)
    deadline = time.monotonic() + 60
    while any(alive(pid) for pid in below):
        assert time.monotonic() < deadline, f'somebody is left: {outcome.said}'
        time.sleep(0.05)
    return 'all' if len(victims) > 1 else 'first' if victims == [process.pid] else 'one'


def alive(pid):
    try:
        with open(f'/proc/{pid}/stat') as file:  # noqa: PTH123
            return file.read().rpartition(')')[2].split()[0] != 'Z'
    except OSError:
        return False


def check_same_end(folder, whole):
    """Bit for bit the last checkpoint of an unbroken run, and apart from times its records and curves."""
    last, other = (CheckpointStore(place).entries()[-1].file for place in (folder, whole))
    assert last == other
    assert same(load_file(folder / last), load_file(whole / other))
    assert timeless(RunFolder(folder).records()) == timeless(RunFolder(whole).records())
    assert str(curves(folder)) == str(curves(whole))  # as text, in which a nan equals itself
    assert RunFolder(folder).read()['state'] == 'done'
    assert not list(folder.glob('*.tmp'))
    assert not (folder / 'lock.json').exists()


@pytest.mark.parametrize('kind', KINDS)
def test_f45_killed_at_random_moments(kind, tmp_path):
    """A hundred kill -9 at random moments between start and end (25 each of one process with a worker, two ranks of
    torchrun, a learned mixer, and a semi-supervised training; of all processes, or of one of them), each followed by
    --resume: all runs end with the checkpoint of an unbroken run, bit for bit, and with its metrics.jsonl and
    TensorBoard curves."""
    dice, kills, moments, ended = random.Random(f'{SEED} {kind}'), 0, [], 0
    began = time.monotonic()
    outcome = finish(launch(kind, tmp_path / 'whole'))
    assert outcome.code == 0, outcome.err
    length = time.monotonic() - began
    while kills < KILLS:
        folder = tmp_path / f'run{ended}'
        while True:
            process, moment = launch(kind, folder), dice.uniform(0, length)
            with suppress(Exception):
                process.wait(moment if kills < KILLS else 120)
            if process.poll() is not None:
                break
            moments.append(f'{moment:.1f} s ({strike(process, dice)})')
            kills += 1
        outcome = finish(process)
        assert outcome.code == 0, (moments, outcome.err)
        check_same_end(folder, tmp_path / 'whole')
        ended += 1
    print(f'{kind}: {kills} kills at {", ".join(moments)} of {length:.1f} s; {ended} runs, all as the unbroken one')
