"""Stop on a loss that is not finite, on all ranks, before it reaches the weights."""

import json
import logging
from collections import deque
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from mmengine.logging import print_log
from torch import Tensor

from openmix_dm.engine.seed import seed_iteration
from openmix_dm.errors import NumericError
from openmix_dm.launch.signals import stop_request
from openmix_dm.structures import tensors_in
from openmix_dm.utils.dist import several_ranks
from openmix_dm.utils.files import write_atomically
from openmix_dm.utils.transfers import HostCopy


class LossGuard:
    """Ask all ranks whether their losses are finite and whether they may go on.

    The verdicts are brought together on the device. Where the optimiser can leave a step out on the device, they are
    read `lag` iterations later, the same one on all ranks, so that no rank ever waits for its device: until then
    `left_out` tells the optimiser which steps not to make. Else they are read before the step. Requests to stop travel
    along, because a second question would cost.

    Args:
        allowed: losses that are not finite that are passed over; from the next one on all steps are left out.
        lag: iterations between a loss and the reading of its verdict.
    """

    def __init__(self, allowed: int = 0, lag: int = 0) -> None:
        self.allowed, self.lag = allowed, lag
        self.passed_over = 0  # over the whole run, with its continuations
        self.stop_agreed = False  # all ranks know that one of them was asked to stop
        self.left_out: Tensor | None = None  # 1.0 where the step that this iteration belongs to is not to be made
        self._unread: deque[tuple[int, HostCopy]] = deque()
        self._request: Any = None
        self._verdict: Tensor | None = None
        self._may_go_on: Tensor | None = None  # stays on the device: a copy at each iteration would wait for it
        self._bad: Tensor | None = None  # losses that were not finite, counted on the device
        self._asked = 0

    def ask(self, loss: Tensor) -> None:
        """Start to collect the verdicts of all ranks."""
        if self._may_go_on is None:
            self._may_go_on = torch.ones((), dtype=torch.int32, device=loss.device)
        if stop_request:
            self._may_go_on = torch.zeros_like(self._may_go_on)
        finite = loss.detach().isfinite().all().to(torch.int32)
        self._verdict = torch.stack((finite, self._may_go_on))
        self._request = dist.all_reduce(self._verdict, op=dist.ReduceOp.MIN, async_op=True) if several_ranks() else None
        self._asked += 1

    def check(self) -> bool:
        """Say whether the verdict that is due is good; raise on every rank if there were too many bad ones.

        With a lag, it is the verdict of an iteration before this one, whose step was left out already if it is bad.
        """
        if self._verdict is None:
            return True
        if self._request is not None:
            self._request.wait()  # on a GPU the device waits, not the host
        if self.lag:
            self._decide_on_the_device(self._verdict[0])
        self._unread.append((self._asked, HostCopy(self._verdict)))
        self._verdict = None
        return self._read(self.lag)

    def settle(self) -> None:
        """Read all verdicts now, before anything is saved or evaluated; this may wait for the device."""
        self._read(0)

    def next_step(self) -> None:
        """Begin with what belongs to the next step of the optimiser."""
        self.left_out = None

    def _decide_on_the_device(self, finite: Tensor) -> None:
        """Leave out the step of a bad loss, and every step after one too many."""
        bad = 1.0 - finite.float()
        self._bad = self.passed_over + bad if self._bad is None else self._bad + bad
        out = torch.maximum(bad, (self._bad > self.allowed).float())
        self.left_out = out if self.left_out is None else torch.maximum(self.left_out, out)

    def _read(self, unread: int) -> bool:
        good = True
        while len(self._unread) > unread:
            asked, verdict = self._unread.popleft()
            finite, may_go_on = verdict.read()
            self.stop_agreed = not may_go_on
            if not finite:
                self._pass_over(self._asked - asked)
                good = False
        return good

    def _pass_over(self, ago: int) -> None:
        if self.passed_over >= self.allowed:
            raise NonFiniteLoss(ago)
        self.passed_over += 1
        text = f'a loss that is not finite was passed over ({self.passed_over} of {self.allowed})'
        print_log(text, logger='current', level=logging.WARNING)


class NonFiniteLoss(NumericError):
    """A loss was not finite, so many iterations before the one that found out."""

    def __init__(self, ago: int = 0) -> None:
        super().__init__('the loss is not finite')
        self.ago = ago


def report(runner: Any, iteration: int, data: dict[str, Any], samples: Any) -> Path:
    """Write nonfinite_rank<k>.json and return its path.

    Nothing but its batch was kept of the iteration: its draws are a function of its number, so that the model draws
    them again.
    """
    model = runner.bare_model
    gradients = [value.grad for value in model.parameters() if value.grad is not None]
    norm = torch.nn.utils.get_total_norm(gradients).item() if gradients else 0.0
    seed_iteration(runner.seed, iteration, runner.rank)
    with torch.no_grad():
        data = model.data_preprocessor(data, training=True)
        details = model.explain(data, samples)
        seed_iteration(runner.seed, iteration, runner.rank)
        losses = model(**data, mode='loss')
    path = Path(runner.work_dir) / f'nonfinite_rank{runner.rank}.json'
    record = {
        'iter': iteration,
        'epoch': runner.train_loop.epochs_at(iteration),
        'rank': runner.rank,
        'losses': {name: str(value.mean().item()) for name, value in losses.items()},
        'inputs_finite': all(bool(value.isfinite().all()) for value in tensors_in(data)),
        'weights_finite': all(bool(value.isfinite().all()) for value in model.parameters()),
        'gradient_norm': str(norm),
        **details,
    }
    write_atomically(path, json.dumps(record, indent=1) + '\n')
    return path
