"""Stop in good order when a scheduler asks for it by a signal.

A signal only sets a flag. The flags of all ranks are compared at the next iteration, all ranks stop at the same one,
its state is saved, and the run can go on from there, bit for bit.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch
import torch.distributed as dist
from mmengine.dist import get_comm_device

from openmix_dm.errors import Preempted
from openmix_dm.utils.dist import several_ranks

SIGNALS = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)


class StopRequest:
    """Remember that a signal asked this process to stop; further signals change nothing."""

    def __init__(self) -> None:
        self.signal: str | None = None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take the signals over while something runs that can be resumed."""
        self.signal = None
        if threading.current_thread() is not threading.main_thread():  # only the main thread may take signals over
            yield
            return
        before = {number: signal.signal(number, self._remember) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self.signal = self.signal or signal.Signals(number).name

    def __bool__(self) -> bool:
        return self.signal is not None

    def leave(self, saved: str) -> None:
        """End the run, with what was saved of it."""
        raise Preempted(f'{self.signal or "another rank was"} asked to stop; {saved}; --resume goes on from there')


stop_request = StopRequest()  # one for the process, as signals are


class StopVote:
    """Ask all ranks whether any of them was asked to stop; the answer travels while other work is done."""

    def __init__(self) -> None:
        self._wanted: torch.Tensor | None = None
        self._request: Any = None

    def ask(self) -> None:
        """Start to collect the answers; every rank has to ask as often."""
        if several_ranks():
            self._wanted = torch.tensor(int(bool(stop_request)), device=get_comm_device())
            self._request = dist.all_reduce(self._wanted, op=dist.ReduceOp.MAX, async_op=True)

    def agreed(self) -> bool:
        """Say whether all ranks are to stop now."""
        if self._wanted is None:
            return bool(stop_request)
        self._request.wait()
        return bool(self._wanted.item())
