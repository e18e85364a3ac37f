"""Run trainings N at a time; stop them cleanly, and lose and repeat nothing."""

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from openmix_dm.paper.claim import Claim, claim
from openmix_dm.paper.plan import TODO, Step, decide
from openmix_dm.paper.processes import GRACE_SECONDS, launch, listening, share_of, stop
from openmix_dm.paper.progress import Progress
from openmix_dm.paper.runs import TOOLS, Run
from openmix_dm.paper.states import read_state
from openmix_dm.paper.verdict import OUTPUT, Outcome, judge

POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Commands:
    """The programs that do the work; each is followed by arguments."""

    train: tuple[str, ...] = (sys.executable, str(TOOLS / 'train.py'))
    attack: tuple[str, ...] = (sys.executable, str(TOOLS / 'analyze.py'))

    def of(self, step: Step) -> list[list[str]]:
        """Return what is to be run for a step, in order."""
        attack = [[*self.attack, *step.run.attack_arguments()]] if step.run.attacked else []
        return attack if step.action == 'attack' else [[*self.train, *step.run.train_arguments()], *attack]


@dataclass
class Job:
    """A run in one of the slots: the command that runs, and those that follow."""

    run: Run
    claim: Claim
    share: dict[str, str]
    left: list[list[str]]
    process: 'subprocess.Popen[bytes]' = field(init=False)
    began: float = field(default_factory=time.time)

    def __post_init__(self) -> None:
        self.next()

    def next(self) -> None:
        """Start the next command."""
        self.process = launch(self.left.pop(0), self.run.folder / OUTPUT, self.claim.handle, self.share)

    def poll(self) -> int | None:
        """Return the exit code once the last command has ended or one has failed; start the next one meanwhile."""
        code = self.process.poll()
        if code == 0 and self.left:
            self.next()
            return None
        return code

    def end(self) -> Outcome:
        """Give the folder free, and say how the run ended."""
        self.claim.release()
        return judge(self.run, self.process.returncode, time.time() - self.began)


def execute(
    steps: Sequence[Step], jobs: int, progress: Progress, commands: Commands | None = None, grace: float = GRACE_SECONDS
) -> list[Outcome]:
    """Run what is to be done of a plan, `jobs` at a time; on Ctrl-C or SIGTERM stop what runs, and say so."""
    waiting = [step for step in steps if step.action in TODO]
    active: dict[int, Job] = {}
    outcomes: list[Outcome] = []
    progress.begin(len(waiting))

    def settle(outcome: Outcome) -> None:
        outcomes.append(outcome)
        progress.finished(outcome)

    with listening() as stops:
        while (waiting or active) and not stops.count:
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
    """Claim the folder of a run and start it, unless another `run` has been faster."""
    busy = read_state(step.run.folder).kind == 'running'  # the plan may be hours old
    held = None if busy else claim(step.run.folder)
    if held is None:
        settle(Outcome(step.run, 'busy'))
        return None
    now = decide(step.run, ours=True)
    if now.action not in TODO:
        held.release()
        settle(Outcome(step.run, 'done'))
        return None
    return Job(step.run, held, share, commands.of(now))
