"""Ten thousand iterations: neither memory nor the time of an iteration grows."""

import itertools
import statistics
import time
from pathlib import Path

import pytest
from mmengine.hooks import Hook
from mmengine.logging import MessageHub
from support.short_runs import train

from openmix_dm.registry import HOOKS
from openmix_dm.runs.folder import RunFolder


def resident_mb():
    pages = int(Path('/proc/self/statm').read_text().split()[1])
    return pages * 4096 / 2**20


@HOOKS.register_module(force=True)
class WatchHook(Hook):
    """Note memory and CPU time every 1000 iterations."""

    seen: list = []

    def before_train_iter(self, runner, batch_idx, data_batch=None):
        if runner.iter % 1000 == 0:
            type(self).seen.append((resident_mb(), time.thread_time()))


@pytest.mark.slow
def test_memory_and_speed_are_flat(tmp_path):
    WatchHook.seen = []
    options = (
        'global_batch_size=2', 'train_cfg.max_epochs=14', 'default_hooks.records.interval=10',
        "custom_hooks=[dict(type='WatchHook')]",
        "model.backbone=dict(_delete_=True,type='ThinResNet',depth=8)",
    )  # fmt: skip
    assert train(tmp_path / 'run', *options) == 0
    iterations = RunFolder(tmp_path / 'run').records('train')[-1]['iter']
    assert iterations >= 10_000
    memory, clock = zip(*WatchHook.seen, strict=True)
    assert max(memory[2:]) - memory[2] < 8, memory  # MB, after the first 2,000 have filled all caches
    seconds = [late - early for early, late in itertools.pairwise(clock)]
    assert statistics.median(seconds[-3:]) < 1.3 * statistics.median(seconds[1:4]), seconds
    history = MessageHub.get_current_instance().log_scalars  # mmengine's, of which each entry costs time at each step
    assert sum(len(buffer.data[0]) for buffer in history.values()) <= 100
