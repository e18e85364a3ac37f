"""Stop on a loss that is not finite, on all ranks, before it reaches the weights."""

import json
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from openmix_dm.engine.seed import seed_iteration
from openmix_dm.errors import NumericError
from openmix_dm.launch.signals import stop_request
from openmix_dm.structures import tensors_in
from openmix_dm.utils.dist import several_ranks
from openmix_dm.utils.files import write_atomically


class LossGuard:
    """Ask all ranks whether their losses are finite and whether they may go on, while the backward pass runs.

    The answer is needed before the optimiser steps, not before the backward pass, so that the question costs no time of
    its own: `ask` before it, `check` after it. Requests to stop travel along, because a second question would cost.
    """

    def __init__(self) -> None:
        self.stop_agreed = False  # all ranks know that one of them was asked to stop
        self._verdict: Tensor | None = None
        self._request: Any = None
        self._may_go_on: Tensor | None = None  # stays on the device: a copy at each iteration would wait for it

    def ask(self, loss: Tensor) -> None:
        """Start to collect the verdicts of all ranks."""
        if self._may_go_on is None:
            self._may_go_on = torch.ones((), dtype=torch.int32, device=loss.device)
        if stop_request:
            self._may_go_on = torch.zeros_like(self._may_go_on)
        finite = loss.detach().isfinite().all().to(torch.int32)
        self._verdict = torch.stack((finite, self._may_go_on))
        self._request = dist.all_reduce(self._verdict, op=dist.ReduceOp.MIN, async_op=True) if several_ranks() else None

    def check(self) -> None:
        """Raise on every rank if a loss of any rank is not finite."""
        if self._verdict is None:
            return
        if self._request is not None:
            self._request.wait()
        finite, may_go_on = self._verdict.tolist()
        self.stop_agreed = not may_go_on
        if not finite:
            raise NumericError('the loss is not finite')


def report(runner: Any, data: dict[str, Any], samples: Any) -> Path:
    """Write nonfinite_rank<k>.json and return its path.

    Nothing was kept of the iteration: its draws are a function of its number, so that the model draws them again.
    """
    model = runner.bare_model
    gradients = [value.grad for value in model.parameters() if value.grad is not None]
    norm = torch.nn.utils.get_total_norm(gradients).item() if gradients else 0.0
    seed_iteration(runner.seed, runner.iter, runner.rank)
    with torch.no_grad():
        data = model.data_preprocessor(data, training=True)
        details = model.explain(data, samples)
        seed_iteration(runner.seed, runner.iter, runner.rank)
        losses = model(**data, mode='loss')
    path = Path(runner.work_dir) / f'nonfinite_rank{runner.rank}.json'
    record = {
        'iter': runner.iter,
        'epoch': runner.epoch,
        'rank': runner.rank,
        'losses': {name: str(value.mean().item()) for name, value in losses.items()},
        'inputs_finite': all(bool(value.isfinite().all()) for value in tensors_in(data)),
        'weights_finite': all(bool(value.isfinite().all()) for value in model.parameters()),
        'gradient_norm': str(norm),
        **details,
    }
    write_atomically(path, json.dumps(record, indent=1) + '\n')
    return path
