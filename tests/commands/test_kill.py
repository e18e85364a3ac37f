"""kill -9 at random moments, then --resume: the weights of an unbroken run, on one rank and on two."""

import contextlib
import os
import random
import signal
import sys
import time
from pathlib import Path

import pytest
from support.command_runs import CONFIG, run, start
from support.short_runs import final, same

from openmix_dm.runs.folder import RunFolder

OPTIONS = (
    '--cfg-options', 'train_cfg.max_epochs=12', 'default_hooks.checkpoint.save_every_iters=5',
    'model.mixer.type=CutMix',
    'default_hooks.ema.type=EmaHook', 'default_hooks.ema.decay=0.9', 'train_dataloader.num_workers=1',
)  # fmt: skip


def command(ranks, folder, *arguments):
    if ranks == 1:
        return (sys.executable, 'tools/train.py', CONFIG, '--work-dir', str(folder), *arguments, *OPTIONS)
    return ('tools/dist_train.sh', CONFIG, str(ranks), '--work-dir', str(folder), *arguments, *OPTIONS)


def kill_after(seconds, folder, *arguments):
    """Kill all processes of a run so many seconds after its first checkpoint of this start."""
    process = start(*arguments)
    before, deadline = newest(folder), time.time() + 120
    while newest(folder) == before and process.poll() is None and time.time() < deadline:
        time.sleep(0.02)
    time.sleep(seconds)
    killed = kill_all(str(folder))
    process.communicate()
    return killed


def kill_all(word):
    """Kill every process that has a word in its command line: torchrun puts its children into sessions of their own."""
    found = [path.parent for path in Path('/proc').glob('[0-9]*/cmdline') if word in read(path)]
    for process in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(process.name), signal.SIGKILL)
    return len(found)


def read(path):
    try:
        return path.read_bytes().decode(errors='replace')
    except OSError:
        return ''


def newest(folder):
    return max((path.stat().st_mtime_ns for path in folder.glob('*.pth')), default=0)


@pytest.mark.slow
@pytest.mark.parametrize('ranks', [1, 2])
def test_killed_three_times_ends_like_an_unbroken_run(ranks, tmp_path):
    code, _, err = run(*command(ranks, tmp_path / 'whole'))
    assert code == 0, err
    dice = random.Random(ranks)
    for _ in range(3):
        assert (
            kill_after(dice.uniform(0, 0.6), tmp_path / 'cut', *command(ranks, tmp_path / 'cut', '--resume')) >= ranks
        )
        assert RunFolder(tmp_path / 'cut').read()['state'] == 'running'
    code, _, err = run(*command(ranks, tmp_path / 'cut', '--resume'))
    assert code == 0, err
    assert same(final(tmp_path / 'whole', 12), final(tmp_path / 'cut', 12))
    assert not list((tmp_path / 'cut').glob('*.tmp'))
    whole, cut = (RunFolder(tmp_path / name) for name in ('whole', 'cut'))
    assert whole.records('val') == cut.records('val')
    assert [record['iter'] for record in cut.records()] == [record['iter'] for record in whole.records()]
