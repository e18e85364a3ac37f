"""Stop in good order when a scheduler asks for it by a signal.

A signal only sets a flag. The flags of all ranks are compared at the next iteration, all ranks stop at the same one,
its state is saved, and the run can go on from there, bit for bit.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch
import torch.distributed as dist
from mmengine.dist import get_comm_device

from openmix_dm.errors import Preempted
from openmix_dm.launch.early_signals import SIGNALS, Leaving, wants_a_new_start
from openmix_dm.utils.dist import several_ranks
from openmix_dm.utils.transfers import HostCopy

Handler = Callable[[int, FrameType | None], None]


class StopRequest:
    """Remember that a signal asked this process to stop; further signals change nothing."""

    def __init__(self) -> None:
        self.signal: str | None = None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take the signals over while something runs that can be resumed."""
        self.signal = None
        with taken_over(self._remember):
            yield

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self.signal = self.signal or signal.Signals(number).name

    def __bool__(self) -> bool:
        return self.signal is not None

    def leave_if_asked(self, done: str) -> None:
        """End the run on all ranks if any of them was asked to stop; every rank has to ask."""
        vote = StopVote()
        vote.ask()
        if vote.agreed():
            self.leave(done)

    def leave(self, done: str) -> None:
        """End the run on all ranks, which all have to come here; say what is left of it."""
        again = self.signal is not None and wants_a_new_start(signal.Signals[self.signal])
        if several_ranks():  # rank 0, which leaves the marker, may not know the signal
            wishes = torch.tensor(int(again), device=get_comm_device())
            dist.all_reduce(wishes, op=dist.ReduceOp.MAX)
            again = bool(wishes.item())
        who = self.signal or 'another rank was'
        raise Preempted(f'{who} asked to stop; {done}; --resume goes on from there', again=again)


stop_request = StopRequest()  # one for the process, as signals are


@contextmanager
def stopping_at_once() -> Iterator[None]:
    """End what leaves nothing to go on with, such as a test, at the first signal."""

    def leave(number: int, frame: FrameType | None) -> None:
        for other in SIGNALS:
            signal.signal(other, signal.SIG_IGN)
        raise Preempted(f'{signal.Signals(number).name} asked to stop; start it again')

    with taken_over(leave):
        yield


@contextmanager
def taken_over(handler: Handler) -> Iterator[None]:
    """Give the signals to a handler; afterwards to whoever had them before.

    Only the handlers of a command's first line do not come back: what the command has done by now is what counts.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread may take signals over
        yield
        return
    before = {number: signal.signal(number, handler) for number in SIGNALS}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, signal.SIG_IGN if isinstance(earlier, Leaving) else earlier)


class StopVote:
    """Ask all ranks whether any of them was asked to stop; the answer travels while other work is done."""

    def __init__(self) -> None:
        self._wanted: torch.Tensor | None = None
        self._request: Any = None
        self._answer: HostCopy | None = None

    def ask(self) -> None:
        """Start to collect the answers; every rank has to ask as often."""
        if not several_ranks():
            return
        # filled on the device: a number of the host would have to wait for it
        self._wanted = torch.full((1,), int(bool(stop_request)), device=get_comm_device())
        self._request = dist.all_reduce(self._wanted, op=dist.ReduceOp.MAX, async_op=True)
        if self._wanted.is_cuda:
            self._request.wait()  # the device waits, not the host
            self._answer = HostCopy(self._wanted)

    def agreed(self) -> bool:
        """Say whether all ranks are to stop now."""
        if self._wanted is None:
            return bool(stop_request)
        if self._answer is None:
            self._request.wait()
            return bool(self._wanted.item())
        return bool(self._answer.read()[0])
