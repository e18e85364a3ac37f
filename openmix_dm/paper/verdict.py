"""How a run ended, and the words for it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from openmix_dm.engine.display import duration
from openmix_dm.engine.run_folder import RunFolder
from openmix_dm.errors import Failure
from openmix_dm.paper.runs import Run
from openmix_dm.paper.states import read_state

OUTPUT = 'output.log'  # what the processes of a run print, over all of its starts
PREEMPTED = 75  # exit code of a training that was told to stop and has saved
CAUSE = re.compile(r'openmix_dm: FAILED cause=(.*)')


class RunsFailed(Failure):
    """Some runs of a table failed; what they said is listed above."""

    cause = 'runs'

    def __init__(self, outcomes: Sequence['Outcome']) -> None:
        codes = {outcome.code for outcome in outcomes}
        self.exit_code = codes.pop() if len(codes) == 1 and min(codes) > 0 else 1
        super().__init__(f'{len(outcomes)} failed; the same command goes on with them once their causes are gone')


@dataclass(frozen=True)
class Outcome:
    """What became of a run: done, failed, stopped on demand, or in the hands of somebody else."""

    run: Run
    kind: Literal['done', 'failed', 'stopped', 'busy']
    seconds: float = 0.0
    code: int = 0
    cause: str = ''

    def __str__(self) -> str:
        if self.kind == 'failed':
            return f'{self.run.name} FAILED with exit code {self.code}: {self.cause}'
        if self.kind == 'busy':
            return f'{self.run.name} is run by somebody else'
        epoch = read_state(self.run.folder).epoch
        if self.kind == 'stopped':
            return f'{self.run.name} stopped in epoch {epoch}'
        final = RunFolder(self.run.folder).read().get('final') or {}
        number = f' top-1 {final["median_last10"]:.2f} %' if 'median_last10' in final else ''
        return f'{self.run.name} done:{number} in {duration(self.seconds)}'


def judge(run: Run, code: int, seconds: float) -> Outcome:
    """Say how a process ended, by its exit code and by what it wrote."""
    if code == 0:
        return Outcome(run, 'done', seconds)
    if code == PREEMPTED:
        return Outcome(run, 'stopped', seconds, code)
    return Outcome(run, 'failed', seconds, code, cause_of(run, code))


def cause_of(run: Run, code: int) -> str:
    """Return the cause that the process named last, or its last words."""
    try:
        text = (run.folder / OUTPUT).read_text(errors='replace')
    except FileNotFoundError:
        text = ''
    lines = [line.strip() for line in text.rpartition('\n$ ')[2].splitlines() if line.strip()]
    named = [match[1] for match in map(CAUSE.search, lines) if match]
    if named:
        return named[-1]
    if code < 0:
        return f'killed by signal {-code}'
    return lines[-1] if len(lines) > 1 else 'it said nothing'
