"""Record every number of a run: metrics.jsonl is the truth, TensorBoard and the screen are views of it."""

import math
import resource
import time
from pathlib import Path
from typing import Any

import torch
from mmengine.dist import all_reduce, get_world_size
from mmengine.hooks import Hook
from torch import Tensor
from torch.distributed import all_gather_object

from openmix_dm.errors import CheckpointError
from openmix_dm.registry import HOOKS
from openmix_dm.runs.records import METRICS, RecordFile, trim_records
from openmix_dm.utils.dist import several_ranks
from openmix_dm.utils.progress import Progress
from openmix_dm.utils.stopwatch import stopwatch


@HOOKS.register_module()
class RecordHook(Hook):
    """Write a `train` record every `interval` iterations and at the end of each epoch, and a `val` record a validation.

    They go to metrics.jsonl, to TensorBoard and to the screen. The losses of a record are means over the iterations
    since the one before, and over ranks; a term that some iterations or some ranks do not have counts as 0 there, so
    that terms add up to their sum. They are added up on the device and read once a record, so that recording does not
    slow the iterations down. A checkpoint between two records holds the sums: a run that goes on records what an
    unbroken one does, except for times.

    Args:
        interval: iterations between two `train` records. Default: 50.

    Example:
        default_hooks = dict(records=dict(type='RecordHook', interval=50))
    """

    priority = 'LOW'

    def __init__(self, interval: int = 50) -> None:
        if interval < 1:
            raise ValueError(f'interval must be at least 1 iteration, got {interval}')
        self.interval = interval
        self._sums: dict[str, Tensor] = {}
        self._iterations = 0  # since the last record
        self._timed, self._images, self._since = 0, 0, 0.0  # since then, or since this start of the run
        self._of_ranks: list[dict[str, Any]] = []
        self._progress = Progress('training', 0, shown=False)
        self._file: RecordFile | None = None

    def before_train(self, runner: Any) -> None:
        """Continue the record of the run."""
        self._progress = Progress('training', runner.max_iters, runner.iter, math.inf, shown=runner.rank == 0)
        self._progress.start()
        if runner.rank == 0:
            path = Path(runner.work_dir) / METRICS
            repeated = trim_records(path, runner.iter, validated=not runner.train_loop.validation_is_due)
            self._file = RecordFile(path)
            if hasattr(runner.visualizer, 'begin'):  # mmengine's own has opened its backends already
                runner.visualizer.begin(runner.iter - int(bool(repeated)))
            for record in repeated:
                self._show(runner, record)

    def before_train_epoch(self, runner: Any) -> None:
        """Do not count the time between epochs."""
        self._start_the_clock()

    def after_train_iter(self, runner: Any, batch_idx: int, data_batch: Any = None, outputs: Any = None) -> None:
        """Add up an iteration; write a record when one is due."""
        for name, value in (outputs or {}).items():
            value = value.detach()
            self._sums[name] = self._sums[name].to(value.device) + value if name in self._sums else value
        self._iterations += 1
        self._timed += 1
        self._images += count_images(data_batch)
        done = runner.iter + 1
        self._progress.update(done)
        if done % self.interval == 0 or done % len(runner.train_dataloader) == 0 or done == runner.max_iters:
            self._write(runner, self._summarise(runner, done))
            self._sums, self._iterations = {}, 0
            self._start_the_clock()

    def after_val_epoch(self, runner: Any, metrics: dict[str, float] | None = None) -> None:
        """Write a record of a validation."""
        record = {'kind': 'val', 'iter': runner.iter, 'epoch': runner.epoch}
        self._write(runner, {**record, **{name: float(value) for name, value in (metrics or {}).items()}})

    def before_save(self, runner: Any) -> None:
        """Collect the sums of all ranks, before rank 0 saves; what was recorded so far is written out."""
        if runner.rank == 0 and hasattr(runner.visualizer, 'flush'):
            runner.visualizer.flush()
        own = {'iterations': self._iterations, 'sums': {name: value.cpu() for name, value in self._sums.items()}}
        self._of_ranks = [own]
        if self._iterations and several_ranks():
            self._of_ranks = [own] * runner.world_size
            all_gather_object(self._of_ranks, own)

    def before_save_checkpoint(self, runner: Any, checkpoint: dict[str, Any]) -> None:
        """Save the sums of all ranks."""
        if self._iterations:
            checkpoint['records'] = self._of_ranks

    def after_load_checkpoint(self, runner: Any, checkpoint: dict[str, Any]) -> None:
        """Go on with the sums of this rank; where there are more or fewer ranks now, with their mean."""
        of_ranks = checkpoint.get('records')
        if not of_ranks:
            return
        try:
            own = of_ranks[runner.rank if len(of_ranks) == runner.world_size else 0]
            self._iterations, self._sums = int(own['iterations']), dict(own['sums'])
            if len(of_ranks) != runner.world_size:
                self._sums = mean_of_ranks([each['sums'] for each in of_ranks])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f'the sums of its records cannot be read ({type(error).__name__}: {error})') from None

    def after_train(self, runner: Any) -> None:
        """Leave the screen tidy."""
        self._progress.close()

    def _summarise(self, runner: Any, done: int) -> dict[str, Any]:
        sums = with_terms_of_all_ranks(self._sums)
        means = torch.cat([value.float().reshape(-1) for value in sums.values()]) / self._iterations
        all_reduce(means, op='mean')
        names = [name for key, value in sums.items() for name in names_of(key, value)]
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
            **{f'ms_{name}': seconds * 1e3 / self._timed for name, seconds in stopwatch.read().items()},
        }

    def _write(self, runner: Any, record: dict[str, Any]) -> None:
        if self._file is None:
            return
        self._file.append(record)
        self._show(runner, record)
        show = self._progress.note if record['kind'] == 'train' else self._progress.say
        show(describe(record, runner.max_epochs))

    def _show(self, runner: Any, record: dict[str, Any]) -> None:
        numbers = {f'{record["kind"]}/{k}': v for k, v in record.items() if k not in ('kind', 'iter')}
        runner.visualizer.add_scalars(numbers, step=record['iter'])

    def _start_the_clock(self) -> None:
        self._timed, self._images, self._since = 0, 0, time.perf_counter()
        stopwatch.read()


def with_terms_of_all_ranks(sums: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the sums in one order on all ranks, 0 of what only others have: ranks that add unlike lists would hang."""
    if not several_ranks():
        return sums
    shapes: list[dict[str, tuple[int, ...]]] = [{}] * get_world_size()
    all_gather_object(shapes, {name: tuple(value.shape) for name, value in sums.items()})
    device = next(iter(sums.values())).device
    every = {name: shape for of_rank in shapes for name, shape in of_rank.items()}
    return {name: sums[name] if name in sums else torch.zeros(shape, device=device) for name, shape in every.items()}


def mean_of_ranks(sums: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Return the mean of the ranks' sums, where what a rank does not have is 0."""
    totals: dict[str, Tensor] = {}
    for of_rank in sums:
        for name, value in of_rank.items():
            totals[name] = totals[name] + value.float() if name in totals else value.float()
    return {name: total / len(sums) for name, total in totals.items()}


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


def describe(record: dict[str, Any], epochs: int) -> str:
    """Return a record in a form to read."""
    head = f'epoch {record["epoch"]}/{epochs}'
    if record['kind'] == 'val':
        shown = '  '.join(f'{name} {value:.2f}' for name, value in record.items() if isinstance(value, float))
        return f'{head}  validation  {shown}'
    terms = [name for name in record if name.startswith('loss')]
    terms = ['loss'] if terms == ['loss_cls', 'loss'] or terms == ['loss', 'loss_cls'] else terms
    losses = '  '.join(f'{name} {record[name]:.4f}' for name in terms)
    return f'{head}  iter {record["iter"]}  lr {record["lr"]:.3g}  {losses}  {record["images_per_s"]:.0f} images/s'
