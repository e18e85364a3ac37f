"""What a person sees while a table runs: a bar on a terminal, a line for each run in a file."""

import sys
import time
from collections.abc import Sequence
from typing import Any, Protocol

from openmix_dm.engine.display import duration
from openmix_dm.paper.runs import Run
from openmix_dm.paper.states import read_state
from openmix_dm.paper.verdict import Outcome

LOOK_SECONDS = 2.0  # between looks into the run folders


class Progress(Protocol):
    """Show how far a table is."""

    def begin(self, runs: int) -> None:
        """Begin, with so many runs to do."""
        ...

    def started(self, run: Run) -> None:
        """Show that a run has started."""
        ...

    def finished(self, outcome: Outcome) -> None:
        """Show what became of a run."""
        ...

    def tick(self, active: Sequence[Run]) -> None:
        """Show how far the running ones are."""
        ...

    def stopping(self, active: int) -> None:
        """Show that so many runs are being stopped."""
        ...

    def end(self) -> None:
        """End."""
        ...


def make_progress() -> Progress:
    """Choose by where the output goes."""
    return Bar() if sys.stderr.isatty() else Lines()


class Lines:
    """Print a line when a run starts and when it ends."""

    def begin(self, runs: int) -> None:
        """Begin."""
        self._runs, self._ended, self._began = runs, 0, time.time()

    def started(self, run: Run) -> None:
        """Print that a run has started."""
        self.say(f'{run.name} ...')

    def finished(self, outcome: Outcome) -> None:
        """Print what became of a run, and how long the rest will take."""
        self._ended += 1
        left = (time.time() - self._began) / self._ended * (self._runs - self._ended)
        rest = f'  eta {duration(left)}' if self._ended < self._runs else ''
        self.say(f'[{self._ended}/{self._runs}] {outcome}{rest}')

    def tick(self, active: Sequence[Run]) -> None:
        """Print nothing in between."""

    def stopping(self, active: int) -> None:
        """Print that the running ones are being stopped."""
        self.say(f'stopping {active} running; the same command goes on with them')

    def end(self) -> None:
        """End."""

    def say(self, text: str) -> None:
        """Print a line."""
        print(text, file=sys.stderr, flush=True)


class Bar(Lines):
    """Keep a bar for the table, and the epochs of the running ones, at the bottom of the terminal."""

    def begin(self, runs: int) -> None:
        """Begin."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        super().begin(runs)
        columns = (BarColumn(), TextColumn('{task.fields[count]}'), TimeElapsedColumn())
        text, rest = TextColumn('{task.description}'), TimeRemainingColumn()
        self._bars = Progress(text, *columns, rest, console=Console(stderr=True))
        self._table = self._bars.add_task('runs', total=runs, count=f'0/{runs}')
        self._tasks: dict[Run, Any] = {}
        self._looked = 0.0
        self._bars.start()

    def started(self, run: Run) -> None:
        """Add a bar."""
        self._tasks[run] = self._bars.add_task(run.name, total=None, count='')

    def finished(self, outcome: Outcome) -> None:
        """Replace the bar of a run by a line above."""
        if outcome.run in self._tasks:
            self._bars.remove_task(self._tasks.pop(outcome.run))
        super().finished(outcome)
        self._bars.update(self._table, completed=self._ended, count=f'{self._ended}/{self._runs}')

    def tick(self, active: Sequence[Run]) -> None:
        """Move the bars, now and then."""
        if time.time() - self._looked < LOOK_SECONDS:
            return
        self._looked = time.time()
        for run in active:
            state = read_state(run.folder)
            if state.epochs:
                count = f'{state.epoch}/{state.epochs}'
                self._bars.update(self._tasks[run], completed=state.epoch, total=state.epochs, count=count)

    def end(self) -> None:
        """Leave the terminal as it was."""
        self._bars.stop()

    def say(self, text: str) -> None:
        """Print a line above the bars."""
        self._bars.console.print(text, highlight=False, markup=False)
