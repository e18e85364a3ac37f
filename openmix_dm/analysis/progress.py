"""Show how far a long analysis is: a bar on a terminal, a few lines in a file."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from openmix_dm.engine.display import duration

T = TypeVar('T')
SECONDS = 10  # between two lines where there is no terminal


def track(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """Yield the items and show how many of the total are done."""
    return _bar(items, total, what) if sys.stderr.isatty() else _lines(items, total, what)


def _bar(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    from rich.console import Console
    from rich.progress import track as rich_track

    return iter(rich_track(items, description=what, total=total, console=Console(stderr=True), transient=True))


def _lines(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    began = shown = time.perf_counter()
    for done, item in enumerate(items, start=1):
        yield item
        now = time.perf_counter()
        if now - shown > SECONDS and done < total:
            shown = now
            left = duration((now - began) / done * (total - done))
            print(f'{what}: {done} of {total}, eta {left}', file=sys.stderr, flush=True)
