"""What a person sees of a training: a progress bar on a terminal, plain lines in a file."""

import sys
import time
from typing import Any, Protocol


class Display(Protocol):
    """Show the progress of a training."""

    def start(self, epochs: int, iterations: int, done: int) -> None:
        """Begin, with `done` of all iterations behind."""
        ...

    def advance(self, done: int) -> None:
        """Show that so many iterations are behind."""
        ...

    def show(self, record: dict[str, Any]) -> None:
        """Show a record."""
        ...

    def stop(self) -> None:
        """End."""
        ...


def make_display(enabled: bool) -> Display:
    """Choose by where the output goes."""
    if not enabled:
        return Nothing()
    return Bar() if sys.stderr.isatty() else Lines()


class Nothing:
    """Show nothing: other ranks, and before a training starts."""

    def start(self, epochs: int, iterations: int, done: int) -> None:
        """Begin."""

    def advance(self, done: int) -> None:
        """Advance."""

    def show(self, record: dict[str, Any]) -> None:
        """Show."""

    def stop(self) -> None:
        """End."""


class Lines(Nothing):
    """Print a line for each record."""

    def start(self, epochs: int, iterations: int, done: int) -> None:
        """Begin."""
        self._epochs, self._total = epochs, iterations
        self._first, self._began = done, time.perf_counter()

    def show(self, record: dict[str, Any]) -> None:
        """Print a record."""
        print(f'{describe(record, self._epochs)}{self._left(record)}', file=sys.stderr, flush=True)

    def _left(self, record: dict[str, Any]) -> str:
        done = record['iter'] - self._first
        if record['kind'] != 'train' or done <= 0:
            return ''
        seconds = (time.perf_counter() - self._began) / done * (self._total - record['iter'])
        return f'  eta {duration(seconds)}'


class Bar(Nothing):
    """Keep a progress bar with the latest numbers at the bottom of the terminal."""

    def start(self, epochs: int, iterations: int, done: int) -> None:
        """Begin."""
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        self._epochs = epochs
        self._progress = Progress(
            TextColumn('{task.description}'),
            BarColumn(),
            TextColumn('{task.completed:.0f}/{task.total:.0f}'),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=_stderr_console(),
        )
        self._task = self._progress.add_task('training', total=iterations, completed=done)
        self._progress.start()

    def advance(self, done: int) -> None:
        """Move the bar."""
        self._progress.update(self._task, completed=done)

    def show(self, record: dict[str, Any]) -> None:
        """Put a training record beside the bar and a validation above it."""
        if record['kind'] == 'val':
            self._progress.console.print(describe(record, self._epochs), highlight=False)
        else:
            self._progress.update(self._task, description=describe(record, self._epochs))

    def stop(self) -> None:
        """Leave the terminal as it was."""
        self._progress.stop()


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


def duration(seconds: float) -> str:
    """Return seconds as h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    return f'{minutes // 60}:{minutes % 60:02d}:{rest:02d}'


def _stderr_console() -> Any:
    from rich.console import Console

    return Console(stderr=True)
