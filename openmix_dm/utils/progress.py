"""How far long work is: a bar on a terminal, a line now and then in a file."""

import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

T = TypeVar('T')
SECONDS = 10.0  # between two lines where there is no terminal


def track(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """Yield the items and show how many of the total are done."""
    with Progress(what, total) as progress:
        for item in items:
            yield item
            progress.advance()


class Progress:
    """Show on stderr how far work of a known size is, for as long as the context lasts.

    Args:
        what: the name of the work.
        total: its size, in any unit.
        done: how much of it is behind at the start, as in a resumed run.
        seconds: time between two lines where there is no terminal; `math.inf` leaves the lines to `say` and `note`.
        shown: False shows nothing at all, for ranks other than 0.
    """

    def __init__(self, what: str, total: int, done: int = 0, seconds: float = SECONDS, shown: bool = True) -> None:
        self.what, self.total, self.done, self.shown = what, total, done, shown
        self.on_terminal = shown and sys.stderr.isatty()
        self._first, self._seconds = done, seconds
        self._began = self._last_line = time.monotonic()
        self._bars: Any = None
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Self:
        return self.start()

    def start(self) -> Self:
        """Begin to show; `close` ends it."""
        self._began = self._last_line = time.monotonic()
        if self.on_terminal:
            self._bars = _rich_bars()
            self._tasks[''] = self._bars.add_task(self.what, total=self.total, completed=self.done)
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave the terminal as it was; the last of several lines says how long all of it took."""
        if self._bars is not None:
            self._bars.stop()
            self._bars = None
        elif self._last_line > self._began and self.shown:
            spent = duration(time.monotonic() - self._began)
            self._print(f'{self.what}: {self.done:,} of {self.total:,}, took {spent}')

    def advance(self, amount: int = 1) -> None:
        """Add to what is done."""
        self.update(self.done + amount)

    def update(self, done: int) -> None:
        """Say how much is done in all."""
        self.done = done
        if self._bars is not None:
            self._bars.update(self._tasks[''], completed=done)
        elif self.shown and time.monotonic() - self._last_line >= self._seconds and done < self.total:
            self._last_line = time.monotonic()
            share = f'{done / self.total:.0%}' if self.total else ''
            self._print(f'{self.what}: {done:,} of {self.total:,} ({share}){self.time_left()}')

    def note(self, text: str) -> None:
        """Show the latest numbers: beside the bar, or as a line with the time that is left."""
        if self._bars is not None:
            self._bars.update(self._tasks[''], description=text)
        elif self.shown:
            self._print(f'{text}{self.time_left()}')

    def say(self, text: str) -> None:
        """Print a line that stays."""
        if self._bars is not None:
            self._bars.console.print(text, highlight=False, markup=False)
        elif self.shown:
            self._print(text)

    def show_parts(self, parts: Mapping[str, tuple[int, int]]) -> None:
        """Show a bar for each part that is under way, name -> (done, total); only on a terminal."""
        if self._bars is None:
            return
        for name in [name for name in self._tasks if name and name not in parts]:
            self._bars.remove_task(self._tasks.pop(name))
        for name, (done, total) in parts.items():
            if name not in self._tasks:
                self._tasks[name] = self._bars.add_task(name, total=total or None)
            self._bars.update(self._tasks[name], completed=done, total=total or None)

    def time_left(self) -> str:
        """Return '  eta h:mm:ss' by the speed so far; nothing before the first step and after the last."""
        done = self.done - self._first
        if done <= 0 or self.done >= self.total:
            return ''
        return f'  eta {duration((time.monotonic() - self._began) / done * (self.total - self.done))}'

    def _print(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """Return seconds as h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    return f'{minutes // 60}:{minutes % 60:02d}:{rest:02d}'


def _rich_bars() -> Any:
    # Imported here: rich takes a while, and only a terminal needs it.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn('{task.description}'), BarColumn(), TextColumn('{task.completed:,.0f}'), TaskProgressColumn(),
        TimeElapsedColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    return Progress(*columns, console=Console(stderr=True))
