"""Helpers for networks and tensors: modes, precision, hashes."""

import hashlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """Put a module into eval mode, and each of its parts back into its own mode at exit."""
    modes = {part: part.training for part in module.modules()}
    module.eval()
    try:
        yield
    finally:
        for part, mode in modes.items():
            part.training = mode


@contextmanager
def counting_at_once(network: nn.Module) -> Iterator[None]:
    """Bring the batch counters of all batch norms up to date by one operation, after the work inside is done.

    A counter is a tensor of one number, and each layer of a network adds 1 to its own: fifty operations of a GPU for a
    ResNet-50, in every forward pass. Inside the context a number of the host stands in for each of them.
    """
    norms = [
        module
        for module in network.modules()
        if isinstance(module, _BatchNorm) and module.training and module.num_batches_tracked is not None
        # without a momentum, batch norm looks at its count
        if module.momentum is not None
    ]
    tallies = [_Tally() for _ in norms]
    for norm, tally in zip(norms, tallies, strict=True):
        norm.__dict__['num_batches_tracked'] = tally  # hides the buffer, which stays where it is
    try:
        yield
    finally:
        for norm in norms:
            del norm.__dict__['num_batches_tracked']
        ran = [(norm, tally.count) for norm, tally in zip(norms, tallies, strict=True) if tally.count]
        if ran:
            counters: list[Any] = [norm.num_batches_tracked for norm, _ in ran]
            torch._foreach_add_(counters, [count for _, count in ran])


class _Tally:
    """Count like a tensor of one number, on the host."""

    def __init__(self) -> None:
        self.count = 0

    def add_(self, number: int) -> None:
        self.count += number


def full_precision(device: torch.device) -> AbstractContextManager:
    """Leave autocast: what is shown of an image must not depend on the precision that it is trained in."""
    if torch.amp.is_autocast_available(device.type):
        return torch.autocast(device.type, enabled=False)
    return nullcontext()


def digest(*tensors: Tensor) -> str:
    """Hash the bytes of tensors."""
    total = hashlib.sha256()
    for tensor in tensors:
        total.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return total.hexdigest()[:16]
