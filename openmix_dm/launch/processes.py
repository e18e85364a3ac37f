"""Processes of this machine: started with their share of it, and stopped so that they can save."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

from openmix_dm.launch.early_signals import SIGNALS
from openmix_dm.utils.files import append_plainly

GRACE_SECONDS = 60  # to write a checkpoint after a signal


class Stops:
    """What asked for a stop first, and how often Ctrl-C did."""

    number: signal.Signals | None = None
    interrupts = 0

    def note(self, number: int, frame: FrameType | None = None) -> None:
        """Note a signal; the first one decides."""
        self.number = self.number or signal.Signals(number)
        self.interrupts += number == signal.SIGINT


@contextlib.contextmanager
def listening() -> Iterator[Stops]:
    """Note the wishes to stop instead of being torn out of whatever is being done."""
    stops = Stops()
    # a Ctrl-C that the shell has switched off for a job in the background stays so
    numbers = [n for n in (signal.SIGINT, *SIGNALS) if signal.getsignal(n) is not signal.SIG_IGN]
    before = {number: signal.signal(number, stops.note) for number in numbers}
    try:
        yield stops
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def launch(command: Sequence[str], log: Path, environment: dict[str, str]) -> 'subprocess.Popen[bytes]':
    """Start a process that outlives a Ctrl-C in the terminal; its words go to a log."""
    with append_plainly(log) as file:
        file.write(f'$ {" ".join(command)}\n'.encode())
        file.flush()
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
            start_new_session=True,
        )


def stop(processes: Sequence['subprocess.Popen[bytes]'], grace: float, stops: Stops) -> None:
    """Ask processes to save and leave; kill those that are still there after a while, or at a second Ctrl-C."""
    for process in processes:
        process.terminate()
    deadline, before = time.time() + grace, stops.interrupts
    while time.time() < deadline and stops.interrupts == before and any(each.poll() is None for each in processes):
        time.sleep(0.05)
    for process in processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)  # with what it may have started
        process.wait()


def share_of(slot: int, slots: int) -> dict[str, str]:
    """Share the machine: an equal part of the cores, and a GPU in turn where there are some."""
    shares: dict[str, str] = {}
    if 'OMP_NUM_THREADS' not in os.environ:
        shares['OMP_NUM_THREADS'] = str(max(1, len(os.sched_getaffinity(0)) // slots))
    gpus = visible_gpus()
    if gpus:
        shares['CUDA_VISIBLE_DEVICES'] = gpus[slot % len(gpus)]
    return shares


def visible_gpus() -> list[str]:
    """Return the names by which GPUs can be chosen, none without GPUs."""
    import torch

    listed = os.environ.get('CUDA_VISIBLE_DEVICES')
    return listed.split(',') if listed else [str(number) for number in range(torch.cuda.device_count())]
