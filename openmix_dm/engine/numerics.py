"""Stop on a loss that is not finite, on all ranks, before it reaches the weights."""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from openmix_dm.engine.preemption import several_ranks, stop_request
from openmix_dm.errors import NumericError


class LossGuard:
    """Ask all ranks whether their losses are finite and whether they may go on, while the backward pass runs.

    The answer is needed before the optimiser steps, not before the backward pass, so that the question costs no time of
    its own: `ask` before it, `check` after it. Requests to stop travel along, because a second question would cost.
    """

    def __init__(self) -> None:
        self.stop_agreed = False  # all ranks know that one of them was asked to stop
        self._verdict: Tensor | None = None
        self._answer: Any = None
        self._may_go_on: Tensor | None = None  # stays on the device: a copy at each iteration would wait for it

    def ask(self, loss: Tensor) -> None:
        """Start to collect the verdicts of all ranks."""
        if self._may_go_on is None:
            self._may_go_on = torch.ones((), dtype=torch.int32, device=loss.device)
        if stop_request:
            self._may_go_on = torch.zeros_like(self._may_go_on)
        finite = loss.detach().isfinite().all().to(torch.int32)
        self._verdict = torch.stack((finite, self._may_go_on))
        self._answer = dist.all_reduce(self._verdict, op=dist.ReduceOp.MIN, async_op=True) if several_ranks() else None

    def check(self) -> None:
        """Raise on every rank if a loss of any rank is not finite."""
        if self._verdict is None:
            return
        if self._answer is not None:
            self._answer.wait()
        finite, may_go_on = self._verdict.tolist()
        self.stop_agreed = not may_go_on
        if not finite:
            raise NumericError('the loss is not finite')
