"""Loaders of batches, and their workers: started, watched, ended."""

import faulthandler
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from multiprocessing.queues import Queue
from typing import Any

import numpy as np
import torch
from mmengine.registry import DefaultScope
from torch import Tensor
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter

from openmix_dm.datasets.samplers.sample_index import SampleIndex, asked_for
from openmix_dm.errors import DataError, first_line
from openmix_dm.launch.early_signals import SIGNALS
from openmix_dm.registry import DATA_SAMPLERS, DATASETS, SCOPE

START_WITHIN, STARTS = 30.0, 3  # seconds for workers to start (they take hundredths), and how often it is tried
LOOK_EVERY = 5.0  # seconds of a wait for a batch after which workers are looked at
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

    Args:
        dataset: config of the data set.
        sampler: config of the sampler; data set, batch size, seed and repeats are filled in here.
        batch_size: images of a batch of one rank.
        seed: what all draws of sampler and transforms are a function of, beside the place in the epoch.
        repeats: how often a training batch holds each of its images, differently augmented; see `TrainBatches`.
            Default: 1.
        num_workers: processes that load; 0 loads in the process that trains. Default: 0.
        prefetch_factor: batches that each worker loads ahead. Default: 2.
        persistent_workers: keep the workers from epoch to epoch. Where a config does not say, those of training are
            kept, and those of validation and test end with their last batch: while training goes on, they would only
            hold memory. Default: True.
        timeout: seconds after which a hung worker is an error. Default: 300.
    """
    with init_scope():
        images = DATASETS.build(dataset)
    if not getattr(images, 'takes_samples', False):
        images = ForeignImages(images)
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
    return (RestartingLoader if num_workers else DataLoader)(
        images,
        batch_sampler=batches,
        num_workers=num_workers,
        collate_fn=collate,
        pin_memory=torch.cuda.is_available(),
        **with_workers,
    )


class ForeignImages(Dataset):
    """Serve a data set of another package, which is asked by plain numbers: mmengine's ConcatDataset, torchvision's.

    Its draws, and those of our data sets inside of it, are a function of the sample's key, so that resuming is exact.

    Args:
        dataset: gives {'inputs': uint8 (3, H, W), 'labels'} or (image, label) for a number.
    """

    metainfo: dict[str, Any] = {}  # mmengine asks for it

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, sample: SampleIndex | int) -> dict[str, Tensor]:
        if not isinstance(sample, SampleIndex):
            return as_sample(self.dataset[sample])
        with asked_for(sample.key):
            return as_sample(self.dataset[sample.image])

    def __getattr__(self, name: str) -> Any:
        if name in ('dataset', '__getitems__'):
            raise AttributeError(name)
        return getattr(self.dataset, name)


def as_sample(item: Any) -> dict[str, Tensor]:
    """Return what a data set gave as a sample of ours: bytes (3, H, W) and a label."""
    if isinstance(item, dict):
        return item
    image, label = item
    if not isinstance(image, Tensor):  # Pillow's, or an array
        image = torch.from_numpy(np.array(image)).movedim(-1, 0)
    if image.dtype != torch.uint8 or image.dim() != 3:
        raise DataError(
            f'a data set gave an image of {image.dtype} {tuple(image.shape)}, expected bytes (3, H, W): the model '
            'normalises them itself, so leave ToTensor and Normalize out of the transforms'
        )
    return {'inputs': image, 'labels': torch.as_tensor(label)}


def init_scope() -> AbstractContextManager:
    """Let other packages' data sets find ours by their plain names while they are built."""
    return DefaultScope.overwrite_default_scope(SCOPE)


def collate(samples: 'dict[str, Tensor] | list[dict[str, Tensor]]') -> dict[str, Tensor]:
    """Stack samples; a data set that makes whole batches has done so already."""
    if isinstance(samples, dict):
        return samples
    return {name: torch.stack([sample[name] for sample in samples]) for name in samples[0]}


def first_samples(loader: DataLoader) -> Any:
    """Return what the sampler asks for first; of two streams, a tuple of both."""
    return next(iter(loader.batch_sampler), [])  # type: ignore[arg-type]


def first_images(loader: DataLoader) -> Any:
    """Return an image as a batch of one; of two streams, which cannot be taken apart, their whole first batch."""
    dataset: Any = loader.dataset
    samples = first_samples(loader)
    one = samples if isinstance(samples, tuple) else samples[:1]
    return dataset.__getitems__(one) if hasattr(dataset, '__getitems__') else collate([dataset[one[0]]])


def stop_workers(loader: DataLoader) -> None:
    """End the workers of a loader now, while they can be told to.

    The garbage collector would close the queue to them before it sends them home; they notice after five seconds.
    """
    # torch has no public way to end workers
    batches: Any = loader.running() if isinstance(loader, RestartingLoader) else loader._iterator
    loader._iterator = None
    if batches is not None:
        batches._shutdown_workers()


def _prepare_worker(worker: int) -> None:
    """Keep a worker to one core: the number of workers is the number of cores that loading takes."""
    _leave_signals_to_the_parent()
    Queue._on_queue_feeder_error = staticmethod(_end_with_words)  # type: ignore[attr-defined]
    faulthandler.register(signal.SIGQUIT)  # says where the worker is
    torch.set_num_threads(1)
    if 'cv2' in sys.modules:  # no need to import it where no image is decoded
        sys.modules['cv2'].setNumThreads(0)


def _end_with_words(error: BaseException, batch: object) -> None:
    """End a worker that cannot hand its batch over; Python would drop the batch, and the parent wait for it.

    Batches travel through /dev/shm. Where that is full, end as one does who writes there: by a bus error.
    """
    print(f'openmix_dm: a worker cannot hand over a batch: {first_line(error)}', file=sys.stderr, flush=True)
    if 'No space left' in str(error):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.raise_signal(signal.SIGBUS)
    os._exit(1)


def _leave_signals_to_the_parent() -> None:
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


class RestartingLoader(DataLoader):
    """Start workers anew that hang at their start; which batches come does not depend on it.

    A worker is a fork of a process that has threads. Where one of them, such as one of the process group, is entering
    Python at that moment, the worker waits inside of CPython's `os.fork` for what that thread holds, without end (3.11:
    `_PyThreadState_DeleteExcept`; seen once in some 300 starts of two ranks on a busy machine). It would cost a run
    minutes and then its life. So each worker says that it has started.

    Args:
        start_within: seconds that all workers have for it.
        arguments, options: those of torch's DataLoader.
    """

    def __init__(self, *arguments: Any, start_within: float = START_WITHIN, **options: Any) -> None:
        self._started, self.start_within = multiprocessing.Semaphore(0), start_within
        self.running: Callable[[], Any] = lambda: None  # gives the batches that workers are making, if there are any
        options['worker_init_fn'] = partial(_prepare, options.get('worker_init_fn'), self._started)
        super().__init__(*arguments, **options)

    def _get_iterator(self) -> Any:
        for _ in range(STARTS - 1):
            batches = self._start()
            if all(self._started.acquire(timeout=self.start_within) for _ in range(self.num_workers)):
                return batches
            warnings.warn(
                f'a worker of the data loader did not start within {self.start_within:g} s; starting all of them anew',
                stacklevel=2,
            )
            end_workers(batches)
        return self._start()  # from here on its time-out decides

    def _start(self) -> Any:
        while self._started.acquire(block=False):
            pass  # what workers of an earlier start have said too late
        self.check_worker_number_rationality()
        batches = WatchedBatches(self)
        self.running = weakref.ref(batches)  # weak: workers that are not kept end where the last batch is forgotten
        return batches


class WatchedBatches(_MultiProcessingDataLoaderIter):
    """Look every few seconds of a wait whether the workers live, not only at its end.

    torch raises the death of a worker once, wherever this process happens to be. Where it is saving a checkpoint, that
    looks like an error of the disk, and the second try succeeds: the next batch would be waited for in vain.
    """

    def _try_get_data(self, timeout: float = LOOK_EVERY) -> tuple[bool, Any]:
        until = time.monotonic() + timeout
        while True:
            left = until - time.monotonic()
            found, batch = super()._try_get_data(max(0.0, min(left, LOOK_EVERY)))  # says so if a worker is dead
            if found or left <= LOOK_EVERY:
                return found, batch


def end_workers(batches: Any) -> None:
    """End workers that may not listen any more."""
    from torch.utils.data._utils.signal_handling import _remove_worker_pids

    _remove_worker_pids(id(batches))  # or torch would raise for each of them
    batches._worker_pids_set = False
    for worker in batches._workers:
        worker.kill()
    batches._shutdown_workers()


def _prepare(prepare: Any, started: Any, worker: int) -> None:
    try:
        if prepare is not None:
            prepare(worker)
    finally:
        started.release()  # one that fails has started, too: torch says what it has to say
