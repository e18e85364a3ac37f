"""Stop on a loss that is not finite, on all ranks, before it reaches the weights."""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from openmix_dm.errors import NumericError


class LossGuard:
    """Ask all ranks whether their losses are finite, while the backward pass runs.

    The answer is needed before the optimiser steps, not before the backward pass, so that the question costs no time of
    its own: `ask` before it, `check` after it.
    """

    def __init__(self) -> None:
        self._finite: Tensor | None = None
        self._answer: Any = None

    def ask(self, loss: Tensor) -> None:
        """Start to collect the verdicts of all ranks."""
        self._finite = loss.detach().isfinite().all().to(torch.int32)
        self._answer = None
        if dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1:
            self._answer = dist.all_reduce(self._finite, op=dist.ReduceOp.MIN, async_op=True)

    def check(self) -> None:
        """Raise on every rank if a loss of any rank is not finite."""
        if self._answer is not None:
            self._answer.wait()
        if self._finite is not None and not self._finite.item():
            raise NumericError('the loss is not finite')
