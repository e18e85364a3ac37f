"""Record every number of a run: metrics.jsonl is the truth, TensorBoard and the screen are views of it."""

import math
import resource
import time
from pathlib import Path
from typing import Any

import torch
from mmengine.dist import all_reduce
from mmengine.hooks import Hook
from torch import Tensor

from openmix_dm.engine.disk import Dispensable
from openmix_dm.engine.display import Display, make_display
from openmix_dm.engine.run_folder import METRICS, RunFolder, to_line
from openmix_dm.registry import HOOKS
from openmix_dm.stopwatch import stopwatch


@HOOKS.register_module()
class RecordHook(Hook):
    """Write a `train` record every `interval` iterations and at the end of each epoch, and a `val` record a validation.

    Losses are added up on the device and read once a record, so that recording does not slow the iterations down.
    """

    priority = 'LOW'

    def __init__(self, interval: int = 50) -> None:
        if interval < 1:
            raise ValueError(f'interval must be at least 1 iteration, got {interval}')
        self.interval = interval
        self._sums: dict[str, Tensor] = {}
        self._iterations, self._images = 0, 0
        self._since = 0.0
        self._display: Display = make_display(enabled=False)
        self._file: Path | None = None
        self._unwritten: list[str] = []
        self._dispensable = Dispensable(METRICS)

    def before_train(self, runner: Any) -> None:
        """Continue the record of the run."""
        self._display = make_display(enabled=runner.rank == 0)
        self._display.start(runner.max_epochs, runner.max_iters, runner.iter)
        if runner.rank == 0:
            RunFolder(Path(runner.work_dir)).trim(runner.iter, validated=not runner.train_loop.validation_is_due)
            self._file = Path(runner.work_dir) / METRICS
            if runner.iter:
                runner.visualizer.continue_from(runner.iter)

    def before_train_epoch(self, runner: Any) -> None:
        """Do not count the time between epochs."""
        self._forget()

    def after_train_iter(self, runner: Any, batch_idx: int, data_batch: Any = None, outputs: Any = None) -> None:
        """Add up an iteration; write a record when one is due."""
        for name, value in (outputs or {}).items():
            value = value.detach()
            self._sums[name] = self._sums[name] + value if name in self._sums else value
        self._iterations += 1
        self._images += count_images(data_batch)
        done = runner.iter + 1
        self._display.advance(done)
        if done % self.interval == 0 or done % len(runner.train_dataloader) == 0 or done == runner.max_iters:
            self._write(runner, self._summarise(runner, done))
            self._forget()

    def after_val_epoch(self, runner: Any, metrics: dict[str, float] | None = None) -> None:
        """Write a record of a validation."""
        record = {'kind': 'val', 'iter': runner.iter, 'epoch': runner.epoch}
        self._write(runner, {**record, **{name: float(value) for name, value in (metrics or {}).items()}})

    def after_train(self, runner: Any) -> None:
        """Leave the screen tidy."""
        self._display.stop()

    def _summarise(self, runner: Any, done: int) -> dict[str, Any]:
        means = torch.cat([value.float().reshape(-1) for value in self._sums.values()]) / self._iterations
        all_reduce(means, op='mean')
        names = [name for key, value in self._sums.items() for name in names_of(key, value)]
        numbers = with_ratios(dict(zip(names, means.tolist(), strict=True)))  # the only place that waits for the device
        elapsed = max(time.perf_counter() - self._since, 1e-9)
        return {
            'kind': 'train',
            'iter': done,
            'epoch': runner.epoch + 1,
            'lr': runner.optim_wrapper.get_lr()['lr'][0],
            **numbers,
            'images_per_s': self._images * runner.world_size / elapsed,
            'memory_mb': peak_memory_mb(),
            **{f'ms_{name}': seconds * 1e3 / self._iterations for name, seconds in stopwatch.read().items()},
        }

    def _write(self, runner: Any, record: dict[str, Any]) -> None:
        if self._file is None:
            return
        self._append(self._file, to_line(record))
        kind, step = record['kind'], record['iter']
        numbers = {f'{kind}/{k}': v for k, v in record.items() if k not in ('kind', 'iter')}
        runner.visualizer.add_scalars(numbers, step=step)
        self._display.show(record)

    def _append(self, path: Path, line: str) -> None:
        """Write a line; while the disk is full, keep it for the next time."""
        self._unwritten.append(line)
        with self._dispensable.writing():
            with path.open('a') as file:
                # what a full disk has cut off ends here, and is passed over when the file is read
                file.write('\n' * (len(self._unwritten) > 1) + ''.join(self._unwritten))
            self._unwritten.clear()

    def _forget(self) -> None:
        self._sums, self._iterations, self._images = {}, 0, 0
        self._since = time.perf_counter()
        stopwatch.read()


def names_of(key: str, value: Tensor) -> list[str]:
    """Name the entries of a value: the threshold of each class is threshold_0, threshold_1, ..."""
    return [key] if value.dim() == 0 else [f'{key}_{place}' for place in range(value.numel())]


def with_ratios(means: dict[str, float]) -> dict[str, float]:
    """Turn each `part/whole` into part = its mean over that of the whole, which may vary from iteration to iteration.

    So the accuracy of the samples above a threshold counts samples, not iterations; nan where there was none.
    """
    numbers = {}
    for name, value in means.items():
        part, _, whole = name.partition('/')
        numbers[part] = (value / means[whole] if means[whole] else math.nan) if whole else value
    return numbers


def count_images(batch: dict[str, Any]) -> int:
    """Return how many images a batch has, in all its streams; views of one image count once."""
    if 'labelled' in batch:
        return sum(len(batch[name]['inputs'][0]) for name in ('labelled', 'unlabelled') if name in batch)
    return len(batch['labels'])


def peak_memory_mb() -> float:
    """Return the most memory used so far: the GPU's, or the process's where there is none."""
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
