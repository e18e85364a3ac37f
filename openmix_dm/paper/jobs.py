"""Run trainings as processes of this machine, N at a time; stop them cleanly, and lose and repeat nothing."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import FrameType

from openmix_dm.paper.claim import Claim, claim
from openmix_dm.paper.plan import TODO, Step, decide
from openmix_dm.paper.progress import Progress
from openmix_dm.paper.runs import TOOLS, Run
from openmix_dm.paper.states import read_state
from openmix_dm.paper.verdict import Outcome, judge

OUTPUT = 'output.log'  # what the processes of a run print, over all of its starts
GRACE_SECONDS = 60  # to write a checkpoint after a signal
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
    """A run in one of the slots."""

    run: Run
    claim: Claim
    process: subprocess.Popen[bytes]
    left: list[list[str]]
    environment: dict[str, str]
    began: float = field(default_factory=time.time)

    def advance(self) -> int | None:
        """Return the exit code once the last command has ended or one has failed; start the next one meanwhile."""
        code = self.process.poll()
        if code == 0 and self.left:
            self.process = launch(self.left.pop(0), self.run, self.claim, self.environment)
            return None
        return code


def execute(
    steps: Sequence[Step], jobs: int, progress: Progress, commands: Commands | None = None, grace: float = GRACE_SECONDS
) -> list[Outcome]:
    """Run what is to be done of a plan, `jobs` at a time; on Ctrl-C or SIGTERM stop what runs, and say so."""
    commands = commands or Commands()
    waiting = [step for step in steps if step.action in TODO]
    active: dict[int, Job] = {}
    outcomes: list[Outcome] = []
    progress.begin(len(waiting))

    def settle(outcome: Outcome) -> None:
        outcomes.append(outcome)
        progress.finished(outcome)

    try:
        with terminable():
            while waiting or active:
                for slot in range(jobs):
                    if slot not in active and waiting:
                        job = start(waiting.pop(0), commands, environment(slot, jobs), settle)
                        if job:
                            active[slot] = job
                            progress.started(job.run)
                for slot, job in list(active.items()):
                    code = job.advance()
                    if code is not None:
                        del active[slot]
                        job.claim.release()
                        settle(judge(job.run, code, time.time() - job.began))
                progress.tick([job.run for job in active.values()])
                time.sleep(POLL_SECONDS if active else 0)
    except KeyboardInterrupt:
        progress.stopping(len(active))
        stop(list(active.values()), grace)
        for job in active.values():
            job.claim.release()
            settle(Outcome(job.run, 'stopped', time.time() - job.began))
    finally:
        progress.end()
    return outcomes


def start(step: Step, commands: Commands, environment: dict[str, str], settle: Callable[[Outcome], None]) -> Job | None:
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
    todo = commands.of(now)
    return Job(step.run, held, launch(todo[0], step.run, held, environment), todo[1:], environment)


def launch(command: list[str], run: Run, held: Claim, environment: dict[str, str]) -> 'subprocess.Popen[bytes]':
    """Start a process that outlives a Ctrl-C in the terminal and keeps the claim while it lives."""
    with (run.folder / OUTPUT).open('ab') as log:
        log.write(f'$ {" ".join(command)}\n'.encode())
        log.flush()
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
            pass_fds=(held.handle,),
            start_new_session=True,
        )


def stop(jobs: Sequence[Job], grace: float) -> None:
    """Ask the processes to save and leave; kill those that are still there after a while, or at a second Ctrl-C."""
    for job in jobs:
        with contextlib.suppress(ProcessLookupError):
            job.process.send_signal(signal.SIGTERM)
    deadline = time.time() + grace
    with contextlib.suppress(KeyboardInterrupt):
        while time.time() < deadline and any(job.process.poll() is None for job in jobs):
            time.sleep(0.05)
    for job in jobs:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.process.pid, signal.SIGKILL)  # with what they may have started
        job.process.wait()


def environment(slot: int, jobs: int) -> dict[str, str]:
    """Share the machine: an equal part of the cores, and a GPU in turn where there are some."""
    shares: dict[str, str] = {}
    if 'OMP_NUM_THREADS' not in os.environ:
        shares['OMP_NUM_THREADS'] = str(max(1, len(os.sched_getaffinity(0)) // jobs))
    gpus = visible_gpus()
    if gpus:
        shares['CUDA_VISIBLE_DEVICES'] = gpus[slot % len(gpus)]
    return shares


def visible_gpus() -> list[str]:
    """Return the names by which GPUs can be chosen, none without GPUs."""
    import torch

    listed = os.environ.get('CUDA_VISIBLE_DEVICES')
    return listed.split(',') if listed else [str(number) for number in range(torch.cuda.device_count())]


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
