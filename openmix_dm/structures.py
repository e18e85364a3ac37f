"""The contract between mixers, models and losses, written once.

The convention: `lam` and `mask` weigh the OWN side, a. Sample i shows `lam[i]` of itself and the rest of its partner.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import torch
from torch import Tensor


@dataclass(frozen=True)
class MixTarget:
    """Say "lam[i] of class y_a[i], the rest of class y_b[i]".

    A pair, not a dense row: the decoupled losses need to know who is a, who is b, and whether both are one class.
    """

    y_a: Tensor  # (N,) int64, own class (in semi-supervision: the labelled side)
    y_b: Tensor  # (N,) int64, the partner's class
    lam: Tensor  # (N,) float32, weight of y_a
    policy: int = 0  # which policy of a RandomMixer was drawn: losses may follow it

    @classmethod
    def hard(cls, labels: Tensor) -> 'MixTarget':
        """Give unmixed labels the form of mixed ones, so that "no mixing" is no special case."""
        return cls(labels, labels, torch.ones(labels.shape, device=labels.device))

    def dense(self, num_classes: int) -> Tensor:
        """Spread the pairs into (N, num_classes) rows that sum to 1."""
        rows = self.lam.new_zeros(len(self.lam), num_classes)
        rows.scatter_add_(1, self.y_a[:, None], self.lam[:, None])
        return rows.scatter_add_(1, self.y_b[:, None], (1 - self.lam)[:, None])


@dataclass(frozen=True)
class HiddenMix:
    """Mixing that is still to be done to the output of one stage of the backbone."""

    stage: str
    mix: Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class MixedPair:
    """Hold what became of two aligned batches; whose labels they carry is the caller's business."""

    inputs: Tensor
    lam: Tensor  # (N,) float32
    mask: Tensor | None = None  # (N or 1, 1, H, W) float32, weight of the own pixels
    hidden: HiddenMix | None = None
    relabel: Callable[[Tensor], Tensor] | None = None  # attention -> lam
    losses: dict[str, Tensor] = field(default_factory=dict)  # a learned mixer's own terms, keys loss_*
    clean: float = 0.0  # weight of the model's loss on the batch as it was, to be added


@dataclass(frozen=True)
class MixedBatch:
    """Hold a mixed batch and all that is still to be done to it."""

    inputs: Tensor
    target: MixTarget
    make_index: Callable[[], Tensor]  # what `index` calls
    mask: Tensor | None = None  # (N or 1, 1, H, W) float32, weight of the own pixels
    hidden: HiddenMix | None = None  # to be done inside the backbone
    relabel: Callable[[Tensor], MixTarget] | None = None  # attention -> target, to be done after it
    losses: dict[str, Tensor] = field(default_factory=dict)  # a learned mixer's own terms, keys loss_*
    clean: float = 0.0  # weight of the model's loss on the batch as it was, to be added

    @cached_property
    def index(self) -> Tensor:
        """The partner of each sample, (N,): target.y_b == labels[index]. A training step does not ask for it."""
        return self.make_index()


class Probe(Protocol):
    """Name all that a mixer may ask of the model that it serves."""

    def saliency(self, inputs: Tensor, labels: Tensor) -> Tensor:
        """Return |d loss / d input|, of the shape of the inputs; no parameter gets a gradient."""
        ...

    def features(self, inputs: Tensor, stage: str) -> Tensor:
        """Return the output of a named stage of the backbone."""
        ...

    def attention(self, inputs: Tensor) -> Tensor:
        """Return the class token's attention to the patches, (N, h, w)."""
        ...

    def denormalise(self, inputs: Tensor) -> Tensor:
        """Return the images as they were before normalisation, in [0, 1]."""
        ...


def tensors_in(data: Any) -> Iterator[Tensor]:
    """Go through the tensors of a batch, whatever dicts and tuples they are in."""
    if isinstance(data, Tensor):
        yield data
    elif isinstance(data, dict):
        for inner in data.values():
            yield from tensors_in(inner)
    elif isinstance(data, list | tuple):
        for inner in data:
            yield from tensors_in(inner)
