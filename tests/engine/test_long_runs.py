"""Five thousand iterations: neither memory nor the time of an iteration grows."""

import itertools
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent


@pytest.mark.slow
def test_memory_and_speed_are_flat(tmp_path):
    """In a process of its own: what other tests have left in memory goes away in the middle of it."""
    done = subprocess.run([sys.executable, __file__, tmp_path / 'run'], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    seen, iterations, entries = json.loads(done.stdout.splitlines()[-1])
    assert iterations >= 5_000
    memory, clock = zip(*seen, strict=True)
    assert max(memory[2:]) - memory[2] < 4, memory  # MB after the first 1,000: 1 kB an iteration
    seconds = [late - early for early, late in itertools.pairwise(clock)]
    assert statistics.median(seconds[-3:]) < 1.3 * statistics.median(seconds[1:4]), seconds
    assert entries <= 100  # of mmengine's history, of which each costs time at each step


def long_run(folder: Path) -> None:
    """Train, and print what was seen as the last line."""
    from mmengine.hooks import Hook
    from mmengine.logging import MessageHub
    from support.short_runs import train

    from openmix_dm.registry import HOOKS
    from openmix_dm.runs.folder import RunFolder

    seen = []

    @HOOKS.register_module()
    class WatchHook(Hook):
        """Note memory and CPU time every 500 iterations."""

        def before_train_iter(self, runner, batch_idx, data_batch=None):
            if runner.iter % 500 == 0:
                pages = int(Path('/proc/self/statm').read_text().split()[1])
                seen.append((pages * 4096 / 2**20, time.thread_time()))

    options = (
        'global_batch_size=2', 'train_cfg.max_epochs=7', 'default_hooks.records.interval=10',
        "custom_hooks=[dict(type='WatchHook')]",
        "model.backbone=dict(_delete_=True,type='ThinResNet',depth=8)",
    )  # fmt: skip
    if train(folder, *options):
        sys.exit('the training failed')
    history = MessageHub.get_current_instance().log_scalars
    entries = sum(len(buffer.data[0]) for buffer in history.values())
    print(json.dumps([seen, RunFolder(folder).records('train')[-1]['iter'], entries]))


if __name__ == '__main__':
    sys.path[:0] = [str(TESTS), str(TESTS.parent)]
    long_run(Path(sys.argv[1]))
