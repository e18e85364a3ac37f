"""Answer signals from the first line of a command, before the seconds that its imports take.

Nothing but the standard library is imported here, and `import openmix_dm` imports nothing heavy either. Whoever can do
better than to leave takes the signals over: see signals.py.
"""

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)
ASKED_TO_STOP = 75  # the exit code of errors.Preempted
MARKER = 'preempted'  # the file of runs.folder.MARKER


def wants_a_new_start(number: int) -> bool:
    """Say whether a signal announces the end of a job's time, so that it goes back into the queue.

    SIGTERM is final: Slurm itself queues anew what it has preempted, and what a user has cancelled stays cancelled.
    """
    return number in (signal.SIGUSR1, signal.SIGUSR2)


def leave_at_signals(folder: str | None = None) -> None:
    """From now on leave at once at a signal, until somebody takes the signals over.

    Args:
        folder: of the run; a signal after which it is to be started again leaves the marker there. Default: None.
    """
    for number in SIGNALS:
        signal.signal(number, Leaving(folder))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)  # a launcher may have held them back until now


class Leaving:
    """Leave with the exit code of a run that was asked to stop; nothing has been done that were to be saved.

    Args:
        folder: of the run, if it is known.
    """

    def __init__(self, folder: str | None) -> None:
        self.folder = folder

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Leave."""
        for other in SIGNALS:
            signal.signal(other, signal.SIG_IGN)  # the first one decides
        name = signal.Signals(number).name
        if self.folder is not None and wants_a_new_start(number):
            mark(self.folder, name)
        text = f'openmix_dm: STOPPED cause=preempted: {name} asked to stop before anything was done\n'
        os.write(2, text.encode())
        os._exit(ASKED_TO_STOP)  # whatever is being imported need not be left in good order


@contextmanager
def held_back() -> Iterator[None]:
    """Start a process that answers signals from its first line on: until there, they wait.

    It inherits that they are held back, and `leave_at_signals` lets them through. Without it, a signal in the tenths of
    a second that Python itself takes to start would kill it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def mark(folder: str, name: str) -> None:
    """Leave the file that says that a run is to be started again."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        now = time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())
        Path(folder, MARKER).write_text(f'{now} {name} before anything was done\n')
    except OSError:
        pass  # the exit code says it too


def run_folder(arguments: Sequence[str]) -> str | None:
    """Return the folder that a command line names by --work-dir, None if it names none."""
    for place, word in enumerate(arguments):
        if word == '--work-dir':
            return arguments[place + 1] if place + 1 < len(arguments) else None
        if word.startswith('--work-dir='):
            return os.path.expanduser(word.partition('=')[2])  # noqa: PTH111  of nobody's home it makes nothing
    return None
