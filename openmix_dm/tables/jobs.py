"""Run trainings N at a time; stop them cleanly, lose and repeat nothing, and say how each ended."""

import re
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from openmix_dm.errors import ConfigError, Failure, printable
from openmix_dm.invocation import start_words
from openmix_dm.launch.processes import GRACE_SECONDS, Stops, launch, listening, share_of, stop
from openmix_dm.runs.folder import RunFolder
from openmix_dm.runs.lock import held
from openmix_dm.runs.state import read_state
from openmix_dm.tables.plan import TODO, Run, Step, decide
from openmix_dm.utils.progress import duration

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
            return f'{self.run.name} FAILED with exit code {self.code}: {printable(self.cause)}'
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
    if code == ConfigError.exit_code and held(run.folder):  # two were started at once, and the other was faster
        return Outcome(run, 'busy', seconds, code)
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


if TYPE_CHECKING:
    from openmix_dm.tables.job_display import JobDisplay

POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Commands:
    """The programs that do the work; each is followed by arguments."""

    train: tuple[str, ...] = tuple(start_words('train'))
    measure: tuple[str, ...] = tuple(start_words('analyze'))

    def of(self, step: Step) -> list[list[str]]:
        """Return what is to be run for a step, in order."""
        measures = [[*self.measure, *arguments] for arguments in step.run.measure_arguments()]
        return measures if step.action == 'measure' else [[*self.train, *step.run.train_arguments()], *measures]


@dataclass
class Job:
    """A run in one of the slots: the command that runs, and those that follow."""

    run: Run
    share: dict[str, str]
    left: list[list[str]]
    process: 'subprocess.Popen[bytes]' = field(init=False)
    began: float = field(default_factory=time.time)

    def __post_init__(self) -> None:
        self.next()

    def next(self) -> None:
        """Start the next command."""
        self.process = launch(self.left.pop(0), self.run.folder / OUTPUT, self.share)

    def poll(self) -> int | None:
        """Return the exit code once the last command has ended or one has failed; start the next one meanwhile."""
        code = self.process.poll()
        if code == 0 and self.left:
            self.next()
            return None
        return code

    def end(self) -> Outcome:
        """Say how the run ended."""
        return judge(self.run, self.process.returncode, time.time() - self.began)


def execute(
    steps: Sequence[Step],
    jobs: int,
    progress: 'JobDisplay',
    commands: Commands | None = None,
    grace: float = GRACE_SECONDS,
    stops: Stops | None = None,
) -> list[Outcome]:
    """Run what is to be done of a plan, `jobs` at a time; on Ctrl-C or a signal stop what runs, and say so.

    Args:
        steps: the plan.
        jobs: how many run at a time.
        progress: shows how far it is.
        commands: the programs that do the work. Default: None.
        grace: seconds that those that are stopped have to save. Default: 60.
        stops: what somebody else who listens has heard; without it, signals are listened to here. Default: None.
    """
    if stops is None:
        with listening() as stops:
            return execute(steps, jobs, progress, commands, grace, stops)
    waiting = [step for step in steps if step.action in TODO]
    active: dict[int, Job] = {}
    outcomes: list[Outcome] = []
    progress.begin(len(waiting))

    def settle(outcome: Outcome) -> None:
        outcomes.append(outcome)
        progress.finished(outcome)

    while (waiting or active) and stops.number is None:
        for slot in range(jobs):
            if slot not in active and waiting:
                job = start(waiting.pop(0), commands or Commands(), share_of(slot, jobs), settle)
                if job:
                    active[slot] = job
                    progress.started(job.run)
        for slot, job in list(active.items()):
            if job.poll() is not None:
                settle(active.pop(slot).end())
        progress.tick([job.run for job in active.values()])
        time.sleep(POLL_SECONDS if active else 0)
    if active:
        progress.stopping(len(active))
        stop([job.process for job in active.values()], grace, stops)
    for job in active.values():
        finished = job.process.returncode == 0 and not job.left
        outcome = job.end()
        settle(outcome if finished else Outcome(job.run, 'stopped', outcome.seconds))
    progress.end()
    return outcomes


def start(step: Step, commands: Commands, share: dict[str, str], settle: Callable[[Outcome], None]) -> Job | None:
    """Start what is to be done for a run now: the plan may be hours old, and another `run` may have been faster."""
    now = decide(step.run)
    if now.action not in TODO:
        settle(Outcome(step.run, 'busy' if now.action == 'busy' else 'done'))
        return None
    step.run.folder.mkdir(parents=True, exist_ok=True)  # what it prints goes there
    return Job(step.run, share, commands.of(now))
