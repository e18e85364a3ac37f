"""The same work for many items, in several processes, with progress."""

import multiprocessing
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TypeVar

from openmix_dm.engine.display import duration

Item = TypeVar('Item')
Result = TypeVar('Result')


def work_through(
    work: Callable[[Item], Result], items: Sequence[Item], pool: ProcessPoolExecutor | None, what: str
) -> list[Result]:
    """Return the results in the order of the items; without a pool, work here. `what` is said of the items."""
    progress = Progress(what, len(items))
    if pool is None:
        return [progress.passed(work(item)) for item in items]
    futures = [pool.submit(work, item) for item in items]
    for future in as_completed(futures):
        progress.passed(future.result())
    return [future.result() for future in futures]


def make_pool(jobs: int) -> ProcessPoolExecutor | None:
    """Start processes that each keep to one core; none for a single job."""
    if jobs <= 1:
        return None
    # Not forked: a process that has run torch's threads cannot be copied safely.
    return ProcessPoolExecutor(jobs, multiprocessing.get_context('spawn'), initializer=_keep_to_one_core)


def _keep_to_one_core() -> None:
    import torch

    torch.set_num_threads(1)


class Progress:
    """Say on stderr how far work is: over and over in one line of a terminal, every tenth in a file."""

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total, self.done, self.begin = what, total, 0, time.monotonic()

    def passed(self, result: Result) -> Result:
        """Count one item, and pass its result on."""
        self.done += 1
        last, terminal = self.done == self.total, sys.stderr.isatty()
        if terminal or last or self.done * 10 // self.total > (self.done - 1) * 10 // self.total:
            spent = time.monotonic() - self.begin
            left = duration(spent / self.done * (self.total - self.done))
            text = f'{self.done} of {self.total} {self.what}' + (f', {duration(spent)}' if last else f', {left} left')
            end = '' if terminal and not last else '\n'
            print(('\r\033[K' if terminal else '') + text, end=end, file=sys.stderr, flush=True)
        return result
