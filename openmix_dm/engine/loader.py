"""Build a loader from its config."""

import faulthandler
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from openmix_dm.launch.signals import SIGNALS
from openmix_dm.registry import DATA_SAMPLERS, DATASETS

WORKER_TIMEOUT = 300  # seconds after which a hung worker is an error instead of an endless wait


def build_dataloader(
    dataset: dict[str, Any],
    sampler: dict[str, Any],
    batch_size: int,
    seed: int,
    repeats: int = 1,
    num_workers: int = 0,
    prefetch_factor: int = 2,
    persistent_workers: bool = True,
    timeout: int = WORKER_TIMEOUT,
) -> DataLoader:
    """Build a loader of {'inputs', 'labels'} batches; `sampler` makes whole batches.

    repeats: how often a training batch holds each of its images, differently augmented; see `TrainBatches`.
    """
    images = DATASETS.build(dataset)
    filled = {
        'dataset': images,
        'batch_size': batch_size,
        'seed': seed,
        **({'repeats': repeats} if repeats != 1 else {}),
    }
    batches = DATA_SAMPLERS.build({**sampler, **filled})
    with_workers: dict[str, Any] = {}
    if num_workers:
        with_workers = {
            'prefetch_factor': prefetch_factor,
            'persistent_workers': persistent_workers,
            'timeout': timeout,
            'worker_init_fn': _prepare_worker,
        }
    return (WakefulLoader if num_workers else DataLoader)(
        images,
        batch_sampler=batches,
        num_workers=num_workers,
        collate_fn=collate,
        pin_memory=torch.cuda.is_available(),
        **with_workers,
    )


def collate(samples: 'dict[str, Tensor] | list[dict[str, Tensor]]') -> dict[str, Tensor]:
    """Stack samples; a data set that makes whole batches has done so already."""
    if isinstance(samples, dict):
        return samples
    return {name: torch.stack([sample[name] for sample in samples]) for name in samples[0]}


def stop_workers(loader: DataLoader) -> None:
    """End the workers of a loader now, while they can be told to.

    The garbage collector would close the queue to them before it sends them home; they notice after five seconds.
    """
    batches: Any = loader._iterator  # torch has no public way to end persistent workers
    loader._iterator = None
    if batches is not None:
        batches._shutdown_workers()


def _prepare_worker(worker: int) -> None:
    """Keep a worker to one core: the number of workers is the number of cores that loading takes."""
    _obey_nobody_but_the_parent()
    faulthandler.register(signal.SIGQUIT)  # says where the worker is
    torch.set_num_threads(1)
    if 'cv2' in sys.modules:  # no need to import it where no image is decoded
        sys.modules['cv2'].setNumThreads(0)


def _obey_nobody_but_the_parent() -> None:
    """Leave signals to the rank: schedulers send them to all processes, and it needs its workers until it has saved.

    SIGTERM is how the parent ends its workers, so that what counts is who sent it.
    """
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # one that is ignored could not be waited for
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    threading.Thread(target=_wait_for_the_parent, args=(os.getppid(),), daemon=True).start()


def _wait_for_the_parent(parent: int) -> None:
    while signal.sigwaitinfo([signal.SIGTERM]).si_pid != parent:
        pass
    os._exit(0)


AWAKE_AFTER = 30.0  # seconds; workers take hundredths

STARTS = 3


class WakefulLoader(DataLoader):
    """Start workers anew that have not prepared themselves in time; which batches come does not depend on it."""

    def __init__(self, *arguments: Any, awake_after: float = AWAKE_AFTER, **options: Any) -> None:
        self._awake, self.awake_after = multiprocessing.Semaphore(0), awake_after
        options['worker_init_fn'] = partial(_prepare, options.get('worker_init_fn'), self._awake)
        super().__init__(*arguments, **options)

    def _get_iterator(self) -> Any:
        for _ in range(STARTS - 1):
            batches: Any = super()._get_iterator()
            if all(self._awake.acquire(timeout=self.awake_after) for _ in range(self.num_workers)):
                return batches
            warnings.warn(
                f'a worker of the data loader did not start within {self.awake_after:g} s; starting all of them anew',
                stacklevel=2,
            )
            end_workers(batches)
        return super()._get_iterator()  # from here on its time-out decides


def end_workers(batches: Any) -> None:
    """End workers that may not listen any more."""
    from torch.utils.data._utils.signal_handling import _remove_worker_pids

    _remove_worker_pids(id(batches))  # or torch would raise for each of them
    batches._worker_pids_set = False
    for worker in batches._workers:
        worker.kill()
    batches._shutdown_workers()


def _prepare(prepare: Any, awake: Any, worker: int) -> None:
    try:
        if prepare is not None:
            prepare(worker)
    finally:
        awake.release()  # one that fails is awake, too: torch says what it has to say
