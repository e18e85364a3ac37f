"""Where the time of an iteration goes: named spans, added up until somebody reads them.

One stopwatch for the process, because spans are marked where the work is (model, optimiser) and read where the numbers
are recorded. It costs about a microsecond a span, and does not wait for a GPU: events are read when the record is made.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

SPANS = ('data', 'mix', 'forward', 'backward')


class Stopwatch:
    """Add up the seconds of named spans."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._events: list[tuple[str, Any, Any]] = []

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """Time what is inside, on the device where the work runs."""
        if torch.cuda.is_available():
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            yield
            end.record()
            self._events.append((name, start, end))
        else:
            begin = time.perf_counter()
            yield
            self.add(name, time.perf_counter() - begin)

    def add(self, name: str, seconds: float) -> None:
        """Add seconds that were measured elsewhere."""
        self._seconds[name] = self._seconds.get(name, 0.0) + seconds

    def read(self) -> dict[str, float]:
        """Return the seconds of each span since the last reading, and start anew."""
        for name, start, end in self._events:
            end.synchronize()
            self.add(name, start.elapsed_time(end) / 1e3)
        seconds, self._seconds, self._events = self._seconds, {}, []
        return seconds


stopwatch = Stopwatch()
