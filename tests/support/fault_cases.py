"""Run the real commands with a fault put in, and look at what is left."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from support.command_runs import CONFIG, start
from support.short_runs import curves, same, timeless

from openmix_dm.runs.checkpoints import load_file
from openmix_dm.runs.folder import RunFolder

# 8 px and 200 images a step: 7 iterations an epoch, of milliseconds
SMALL = (
    'global_batch_size=200', 'train_cfg.max_epochs=2',
    'train_dataloader.dataset.size=8', 'val_dataloader.dataset.size=8',
)  # fmt: skip
EVERY_SECOND = 'default_hooks.checkpoint.save_every_iters=2'


class Outcome(NamedTuple):
    code: int
    out: str
    err: str
    seconds: float

    @property
    def said(self):
        return self.out + self.err


def command(folder, *options, arguments=(), ranks=1, config=CONFIG):
    rest = ('--work-dir', str(folder), *map(str, arguments), '--cfg-options', *SMALL, *options)
    if ranks == 1:
        return (sys.executable, 'tools/train.py', str(config), *rest)
    return ('tools/dist_train.sh', str(config), str(ranks), *rest)


def train(folder, *options, arguments=(), ranks=1, config=CONFIG, **environment):
    """Train with the real command line."""
    return finish(start(*command(folder, *options, arguments=arguments, ranks=ranks, config=config), **environment))


def tool(name, *arguments, **environment):
    return finish(start(sys.executable, f'tools/{name}.py', *map(str, arguments), **environment))


def finish(process, timeout=330):  # longer than a worker may be silent: what is said of it is worth waiting for
    began = time.monotonic()
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        for pid in children(process.pid):
            with suppress(OSError):
                os.kill(pid, signal.SIGQUIT)  # ranks and workers say where they are
        time.sleep(2)
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        pytest.fail(f'still running after {timeout} s\n{out}\n{err}')
    return Outcome(process.returncode, out, err, time.monotonic() - began)


def check_failed(outcome, code, cause, *said):
    """The code is right, and the cause is told in one line, at the end or at most three lines above a traceback."""
    assert outcome.code == code, outcome.err
    lines = outcome.err.strip().splitlines()
    told = [i for i, line in enumerate(lines) if re.match(rf'openmix_dm: (FAILED|STOPPED) cause={cause}: ', line)]
    assert told, outcome.err
    tracebacks = [i for i, line in enumerate(lines) if line.startswith('Traceback')]
    assert not tracebacks or 0 < min(tracebacks) - told[0] <= 3, outcome.err
    for words in said:
        assert words in '\n'.join(lines[told[0] :]), outcome.err


def injected(tmp_path, code):
    """Return the environment in which Python runs some code before the command: the command itself stays as it is."""
    folder = tmp_path / 'injected'
    folder.mkdir(exist_ok=True)
    (folder / 'sitecustomize.py').write_text(code)
    return {'PYTHONPATH': f'{folder}:{os.environ.get("PYTHONPATH", "")}'}


def final(folder, epochs=2):
    return load_file(folder / f'epoch_{epochs}.pth')


def check_same_run(folder, whole, epochs=2):
    """Bit for bit the weights, optimiser and records of an unbroken run, and nothing left behind."""
    assert same(final(whole, epochs), final(folder, epochs))
    one, other = RunFolder(folder), RunFolder(whole)
    assert timeless(one.records()) == timeless(other.records())
    assert curves(folder) == curves(whole)
    assert one.read()['state'] == 'done'
    assert not list(folder.glob('*.tmp'))
    assert not (folder / 'lock.json').exists()


def records(folder):
    try:
        return (folder / 'metrics.jsonl').read_text().count('\n')
    except FileNotFoundError:
        return 0


def wait_for(condition, process=None, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f'waited for {seconds} s')
        if process is not None and process.poll() is not None:
            return False
        time.sleep(0.005)
    return True


def children(pid):
    """Return the processes below a process, all generations."""
    found = []
    for path in Path('/proc').glob('[0-9]*/stat'):
        try:
            fields = path.read_text().rpartition(')')[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != 'Z':
            found += [int(path.parent.name), *children(int(path.parent.name))]
    return found


@contextmanager
def small_disk(place, size, options=''):
    """Mount a small file system for real; only root may."""
    place.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={size}{options}', 'tmpfs', str(place)])
    if done.returncode:
        pytest.skip('a small disk cannot be mounted here')
    try:
        yield place
    finally:
        subprocess.run(['umount', '-l', str(place)], check=True)
