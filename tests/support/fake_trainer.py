"""A trainer that does in a moment what train.py does, and misbehaves on demand: python fake_trainer.py BEHAVIOUR ...

It counts its starts in starts.log, makes a `metrics.jsonl` of five epochs (goes on where it stopped), and writes
run.json. It holds lock.json while it runs, and leaves with exit code 2 where another process holds it.
BEHAVIOUR: `well`, `slow` (a fifth of a second an epoch), or a path: slow, and fails while that file exists.
"""

import fcntl
import json
import os
import platform
import signal
import sys
import time
from pathlib import Path

EPOCHS = 5


def main(behaviour, arguments):
    seed = int(arguments[arguments.index('--seed') + 1])
    folder = Path(arguments[arguments.index('--work-dir') + 1])
    assert '--resume' in arguments
    folder.mkdir(parents=True, exist_ok=True)
    lock = (folder / 'lock.json').open('a+')
    try:
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return 2
    try:
        lock.truncate(0)
        json.dump({'pid': os.getpid(), 'host': platform.node()}, lock)
        lock.flush()
        return train(behaviour, arguments, seed, folder)
    finally:
        (folder / 'lock.json').unlink()


def train(behaviour, arguments, seed, folder):
    with (folder / 'starts.log').open('a') as file:
        print(' '.join(arguments), file=file)
    run, metrics = folder / 'run.json', folder / 'metrics.jsonl'
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(75))
    run.write_text(json.dumps({'state': 'running', 'seed': seed}))
    behind = len(metrics.read_text().splitlines()) if metrics.exists() else 0
    for epoch in range(behind + 1, EPOCHS + 1):
        if behaviour != 'well':
            time.sleep(0.2)
        if epoch == 3 and Path(behaviour).exists():
            run.write_text(json.dumps({'state': 'failed: NumericError: loss is nan', 'seed': seed}))
            print('openmix_dm: FAILED cause=numeric: loss is nan', file=sys.stderr)
            return 5
        with metrics.open('a') as file:
            print(json.dumps({'kind': 'train', 'iter': epoch, 'epoch': epoch, 'images_per_s': 1.0}), file=file)
    run.write_text(json.dumps({'state': 'done', 'seed': seed, 'hours': 0.0, 'final': {'median_last10': 90.0 + seed}}))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], sys.argv[2:]))
