"""Who mixes with whom, and the one operation that mixes them.

The partners of a batch are its own samples in another order. A cyclic shift is the default: nobody is paired with
itself, and both sides are plain slices of the batch, so that nothing has to be gathered: half the memory traffic.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from openmix_dm.utils.transfers import to_device

PARTNERS = ('shift', 'permutation')


class Partner(Protocol):
    """Know the partner of each row."""

    def take(self, values: Tensor) -> Tensor:
        """Return the partner's value for each row."""
        ...

    def index(self, size: int, device: torch.device) -> Tensor:
        """Return the row of each row's partner."""
        ...

    def derive(self, function: Callable[[Tensor], Tensor], own: Tensor) -> Tensor:
        """Return what a function of images makes of each row's partner."""
        ...

    def locate(self, own: Tensor) -> tuple[Tensor, Tensor]:
        """Return the batch that the partners are in, and the row of each."""
        ...

    def blend(self, own: Tensor, weight: Tensor) -> Tensor:
        """Return weight * own + (1 - weight) * partner in new memory; weight broadcasts against own."""
        ...


class Reordering(ABC):
    """Pair the rows of a batch with each other."""

    @abstractmethod
    def take(self, values: Tensor) -> Tensor:
        """Return the partner's value for each row."""

    @abstractmethod
    def index(self, size: int, device: torch.device) -> Tensor:
        """Return the row of each row's partner."""

    @abstractmethod
    def blend(self, own: Tensor, weight: Tensor) -> Tensor:
        """Return weight * own + (1 - weight) * partner in new memory; weight broadcasts against own."""

    def derive(self, function: Callable[[Tensor], Tensor], own: Tensor) -> Tensor:
        """Return what a function of images makes of each row's partner."""
        return self.take(function(own))

    def locate(self, own: Tensor) -> tuple[Tensor, Tensor]:
        """Return the batch that the partners are in, and the row of each."""
        return own, self.index(own.shape[0], own.device)


class Shift(Reordering):
    """Pair row i with row i + step, cyclically."""

    def __init__(self, step: int) -> None:
        self.step = step

    def take(self, values: Tensor) -> Tensor:
        """Return the partner's value for each row."""
        return values.roll(-self.step, 0)

    def index(self, size: int, device: torch.device) -> Tensor:
        """Return the row of each row's partner."""
        return torch.arange(size, device=device).roll(-self.step, 0)

    def blend(self, own: Tensor, weight: Tensor) -> Tensor:
        """Return weight * own + (1 - weight) * partner in new memory."""
        if _needs_graph(own, weight):
            return torch.lerp(self.take(own), own, weight)
        cut = own.shape[0] - self.step
        mixed = torch.empty_like(own)
        each = weight.dim() and weight.shape[0] > 1  # a weight for each row is cut where the batch is cut
        # The rows before the cut meet the rows after the first `step`, and the last rows meet the first: in one call
        # each, because slicing one by one takes longer than mixing small images.
        head, tail = own.split_with_sizes((cut, self.step))
        begin, rest = own.split_with_sizes((self.step, cut))
        mixed_head, mixed_tail = mixed.split_with_sizes((cut, self.step))
        torch.lerp(rest, head, weight[:cut] if each else weight, out=mixed_head)
        torch.lerp(begin, tail, weight[cut:] if each else weight, out=mixed_tail)
        return mixed


class Permutation(Reordering):
    """Pair row i with row order[i]."""

    def __init__(self, order: Tensor) -> None:
        self.order = order

    def take(self, values: Tensor) -> Tensor:
        """Return the partner's value for each row."""
        return values.index_select(0, self.index(values.shape[0], values.device))

    def index(self, size: int, device: torch.device) -> Tensor:
        """Return the row of each row's partner."""
        if self.order.device != device:  # once a batch: it is asked for labels, images and more
            self.order = to_device(self.order, device)
        return self.order

    def blend(self, own: Tensor, weight: Tensor) -> Tensor:
        """Return weight * own + (1 - weight) * partner in new memory."""
        if _needs_graph(own, weight):
            return torch.lerp(self.take(own), own, weight)
        return self.take(own).lerp_(own, weight)  # the gathered copy is ours to write into


class Given:
    """Pair each row with the same row of another batch."""

    def __init__(self, other: Tensor) -> None:
        self.other = other

    def take(self, values: Tensor) -> Tensor:
        """Refuse: the other batch is known by its images alone."""
        raise TypeError('a given partner has no order of rows to apply to other values')

    def index(self, size: int, device: torch.device) -> Tensor:
        """Refuse: the other batch has rows of its own."""
        raise TypeError('a given partner is not a row of the batch')

    def derive(self, function: Callable[[Tensor], Tensor], own: Tensor) -> Tensor:
        """Return what a function of images makes of each row's partner."""
        return function(self.other)

    def locate(self, own: Tensor) -> tuple[Tensor, Tensor]:
        """Return the batch that the partners are in, and the row of each."""
        return self.other, torch.arange(own.shape[0], device=own.device)

    def blend(self, own: Tensor, weight: Tensor) -> Tensor:
        """Return weight * own + (1 - weight) * partner in new memory."""
        return torch.lerp(self.other, own, weight)


def draw_partner(kind: str, size: int) -> Shift | Permutation:
    """Draw partners for a batch, on the CPU: the same seed pairs the same samples on every device, without a sync."""
    if kind == 'permutation':
        return Permutation(torch.randperm(size, device='cpu'))
    return Shift(int(torch.randint(1, size, (), device='cpu')) if size > 1 else 0)


def both(partner: Partner, inputs: Tensor, measure: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """Return what is measured of the inputs and of their partners, measuring each image once."""
    own = measure(inputs)
    return own, partner.derive(lambda images: own if images is inputs else measure(images), inputs)


def _needs_graph(own: Tensor, weight: Tensor) -> bool:
    """Say whether autograd has to see the operation; writing into ready memory hides it."""
    return torch.is_grad_enabled() and (own.requires_grad or weight.requires_grad)
