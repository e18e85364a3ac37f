"""What a person sees while a table runs: a bar on a terminal, a line for each run in a file."""

import math
import time
from collections.abc import Sequence

from openmix_dm.runs.state import read_state
from openmix_dm.tables.jobs import Outcome
from openmix_dm.tables.plan import Run
from openmix_dm.utils.progress import Progress

LOOK_SECONDS = 2.0  # between looks into the run folders


class JobDisplay:
    """Show how far a table is: its runs, and on a terminal the epochs of those that are under way."""

    def __init__(self) -> None:
        self._progress = Progress('runs', 0)
        self._looked = 0.0

    def begin(self, runs: int) -> None:
        """Begin, with so many runs to do."""
        self._progress = Progress('runs', runs, seconds=math.inf).start()

    def started(self, run: Run) -> None:
        """Show that a run has started; on a terminal it gets a bar."""
        if not self._progress.on_terminal:
            self._progress.say(f'{run.name} ...')

    def finished(self, outcome: Outcome) -> None:
        """Show what became of a run, and how long the rest will take."""
        self._progress.advance()
        done = f'[{self._progress.done}/{self._progress.total}]'
        self._progress.say(f'{done} {outcome}{self._progress.time_left()}')

    def tick(self, active: Sequence[Run]) -> None:
        """Show how far the running ones are, now and then."""
        if not self._progress.on_terminal or time.monotonic() - self._looked < LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        states = {run.name: read_state(run.folder) for run in active}
        self._progress.show_parts({name: (state.epoch, state.epochs) for name, state in states.items()})

    def stopping(self, active: int) -> None:
        """Show that so many runs are being stopped."""
        self._progress.say(f'stopping {active} running; the same command goes on with them')

    def end(self) -> None:
        """Leave the terminal as it was."""
        self._progress.close()
