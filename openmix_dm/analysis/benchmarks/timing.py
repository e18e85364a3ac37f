"""Compare functions with a limit by CPU time, turn by turn."""

import ctypes
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


def compare(
    limit: str, functions: dict[str, Callable[[], object]], rounds: int, seconds_each: float = 3.0
) -> list[Timing]:
    """Time functions on one thread against one of them, the limit.

    Each function takes turns with the limit, so that whatever else the machine does meets both alike, and no third one
    clears the caches between them. CPU time of this thread, so that waiting does not count. A slow function gets fewer
    rounds: as many as fit into `seconds_each`, at least three.
    """
    torch.set_num_threads(1)
    timings = []
    for name, function in functions.items():
        base, own = _take_turns(functions[limit], function, rounds, seconds_each)
        ratios = [value / other for value, other in zip(own, base, strict=True)]
        ratio = 1.0 if name == limit else statistics.median(ratios)
        timings.append(Timing(name, statistics.median(own) * 1e3, ratio))
    return timings


def _take_turns(
    limit: Callable[[], object], function: Callable[[], object], rounds: int, seconds_each: float
) -> tuple[list[float], list[float]]:
    """Return the CPU seconds of both in each round, after a round that does not count."""
    base, own = [], []
    began = time.perf_counter()
    for number in range(rounds + 1):
        base.append(_time(limit))
        own.append(_time(function))
        if number > 3 and time.perf_counter() - began > seconds_each:
            break
    return base[1:], own[1:]


def _time(function: Callable[[], object]) -> float:
    start = time.thread_time()
    function()
    return time.thread_time() - start


def tune_malloc() -> bool:
    """Let glibc keep large blocks instead of returning them to the system after each use; return whether it could.

    Otherwise every result above 32 MB is mapped and faulted in anew, which takes longer than computing it.
    """
    try:
        libc = ctypes.CDLL('libc.so.6')
        return bool(libc.mallopt(MMAP_THRESHOLD, 1 << 30)) and bool(libc.mallopt(TRIM_THRESHOLD, 2**31 - 1))
    except (OSError, AttributeError):
        return False
