"""Compare functions by CPU time in interleaved rounds."""

import ctypes
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1  # the names of glibc's options


@dataclass(frozen=True)
class Timing:
    """The median time of a function, and the median over rounds of its ratio to the limit."""

    name: str
    milliseconds: float
    ratio: float


def compare(functions: dict[str, Callable[[], object]], rounds: int) -> list[Timing]:
    """Time functions on one thread; the first is the limit that the ratios refer to.

    Each round runs all of them once, in an order of its own: whatever else the machine does, and whatever the function
    before left in the caches, meets all alike, as it does in a training loop. CPU time of this thread, so that waiting
    does not count.
    """
    torch.set_num_threads(1)
    for function in functions.values():
        function()
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    order, shuffle = list(functions), random.Random(0).shuffle
    for _ in range(rounds):
        shuffle(order)
        for name in order:
            function = functions[name]
            start = time.thread_time()
            function()
            seconds[name].append(time.thread_time() - start)
    limit = seconds[next(iter(functions))]
    return [
        Timing(
            name,
            statistics.median(values) * 1e3,
            statistics.median(value / base for value, base in zip(values, limit, strict=True)),
        )
        for name, values in seconds.items()
    ]


def tune_malloc() -> bool:
    """Let glibc keep large blocks instead of returning them to the system after each use; return whether it could.

    Otherwise every result above 32 MB is mapped and faulted in anew, which takes longer than computing it.
    """
    try:
        libc = ctypes.CDLL('libc.so.6')
        return bool(libc.mallopt(MMAP_THRESHOLD, 1 << 30)) and bool(libc.mallopt(TRIM_THRESHOLD, 2**31 - 1))
    except (OSError, AttributeError):
        return False
