"""A loader that does not wait for workers that never wake up.

A worker is a fork of a process that has threads. Where one of them, such as one of the process group, is entering
Python at that moment, the worker waits inside of CPython's `os.fork` for what that thread holds, without end (3.11:
`_PyThreadState_DeleteExcept`; seen once in some 300 starts of two ranks on a busy machine). It would cost a run minutes
and then its life. So each worker says that it is awake.
"""

import multiprocessing
import warnings
from functools import partial
from typing import Any

from torch.utils.data import DataLoader

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
