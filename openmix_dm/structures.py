"""The contract between mixers, models and losses, written once.

The convention: `lam` and `mask` weigh the OWN side, a. Sample i shows `lam[i]` of itself and the rest of its partner.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any, Literal, Protocol, Self

import torch
from torch import Tensor


class Movable:
    """Move the tensors of a dataclass as one would move one tensor: by these names loops and data loaders ask for it.

    torch's DataLoader pins what has `pin_memory`, Lightning moves what has `to`.
    """

    def to(self, device: torch.device | str | int, non_blocking: bool = False) -> Self:
        """Return it on a device; where it is there already, tensors are not copied."""
        return self._changed(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> Self:
        """Return it in pinned memory, out of which `to(device, non_blocking=True)` does not wait."""
        return self._changed(lambda tensor: tensor.pin_memory())

    def _changed(self, change: Callable[[Tensor], Tensor]) -> Self:
        done: dict[int, Tensor] = {}  # one tensor stays one: y_a is y_b says that nothing was mixed

        def once(tensor: Tensor) -> Tensor:
            if id(tensor) not in done:
                done[id(tensor)] = change(tensor)
            return done[id(tensor)]

        return _change_tensors(self, once)


def _change_tensors(data: Any, change: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(data, Tensor):
        return change(data)
    if isinstance(data, Movable):
        names = [each.name for each in fields(data)]  # type: ignore[arg-type]
        return replace(data, **{name: _change_tensors(getattr(data, name), change) for name in names})  # type: ignore[type-var]
    if isinstance(data, dict):
        return {key: _change_tensors(inner, change) for key, inner in data.items()}
    if isinstance(data, tuple):
        return tuple(_change_tensors(inner, change) for inner in data)
    return data


@dataclass(frozen=True)
class MixTarget(Movable):
    """Say "lam[i] of class y_a[i], the rest of class y_b[i]".

    A pair, not a dense row: the decoupled losses need to know who is a, who is b, and whether both are one class. Two
    fields are for mixers whose labels are no such pair: the weight of the partner's side may be one of its own, and
    that side may be of several classes.
    """

    y_a: Tensor  # (N,) int64, own class (in semi-supervision: the labelled side)
    y_b: Tensor  # (N,) int64, the partner's class
    lam: Tensor  # (N,) float32, weight of y_a
    policy: int = 0  # which policy of a RandomMixer was drawn: losses may follow it
    lam_b: Tensor | None = None  # (N,) float32, weight of the partner's side; None: the rest, 1 - lam
    rows_b: Tensor | None = None  # (N, classes) float32, shares of the partner's side; y_b is then its largest class

    @property
    def is_pair(self) -> bool:
        """Whether it is all said by two classes and lam."""
        return self.lam_b is None and self.rows_b is None

    @property
    def weight_b(self) -> Tensor:
        """The weight of the partner's side, (N,)."""
        return 1 - self.lam if self.lam_b is None else self.lam_b

    @classmethod
    def hard(cls, labels: Tensor) -> 'MixTarget':
        """Give unmixed labels the form of mixed ones, so that "no mixing" is no special case."""
        return cls(labels, labels, torch.ones(labels.shape, device=labels.device))

    def dense(self, num_classes: int) -> Tensor:
        """Spread the pairs into (N, num_classes) rows; they sum to 1 unless the partner's side has its own weight."""
        rows = self.lam.new_zeros(len(self.lam), num_classes)
        if self.rows_b is not None:
            rows = self.weight_b[:, None] * self.rows_b
            return rows.scatter_add_(1, self.y_a[:, None], self.lam[:, None])
        rows.scatter_add_(1, self.y_a[:, None], self.lam[:, None])
        return rows.scatter_add_(1, self.y_b[:, None], self.weight_b[:, None])


@dataclass(frozen=True)
class HiddenMix:
    """Mixing that is still to be done to the output of one stage of the backbone."""

    stage: str
    mix: Callable[[Tensor], Tensor]


Want = Literal['attention', 'received', 'map', 'tokens']


@dataclass(frozen=True)
class Outputs:
    """Hold what a model made of a batch: the logits, and of the rest what was asked for."""

    logits: Tensor
    attention: Tensor | None = None  # (N, h, w) detached: what each patch gets of the class token's attention
    received: Tensor | None = None  # (N, h, w) detached: what each patch gets of all patches' attention, on average
    map: Tensor | None = None  # (N, C, h, w): the output of the last stage
    tokens: Tensor | None = None  # (N, h * w, C): the tokens of the patches after the final norm

    def get(self, want: Want) -> Tensor:
        """Return something that was asked for."""
        found = getattr(self, want)
        if found is None:
            raise ValueError(f'{want!r} is not there: name it among the wants')
        return found


@dataclass(frozen=True)
class Finished:
    """Hold what a mixer says after it has seen the outputs for its mixed batch."""

    lam: Tensor | None = None  # (N,) float32, in place of the lam that it had said before
    losses: dict[str, Tensor] = field(default_factory=dict)  # further terms, keys loss_*


@dataclass(frozen=True)
class AfterForward:
    """Something to be done when the model has run on the mixed batch."""

    finish: Callable[[Outputs], Finished]
    wants: tuple[Want, ...] = ()  # what it needs of the outputs, beside the logits


@dataclass(frozen=True)
class FurtherBatch(Movable):
    """A batch that the model is trained on besides the mixed one, such as the images as they were."""

    name: str  # its loss is called loss_<name>
    inputs: Tensor
    target: MixTarget
    weight: float


@dataclass(frozen=True)
class MixedPair:
    """Hold what became of two aligned batches; whose labels they carry is the caller's business."""

    inputs: Tensor
    lam: Tensor  # (N,) float32
    mask: Tensor | None = None  # (N or 1, 1, H, W) float32, weight of the own pixels
    hidden: HiddenMix | None = None
    after: AfterForward | None = None
    losses: dict[str, Tensor] = field(default_factory=dict)  # a learned mixer's own terms, keys loss_*
    further: tuple[FurtherBatch, ...] = ()
    lam_b: Tensor | None = None  # (N,) float32, as in MixTarget
    rows_b: Tensor | None = None  # (N, classes) float32, as in MixTarget
    partners: Tensor | None = None  # the images that were mixed in, where they are no rows of the batch


@dataclass(frozen=True)
class MixedBatch(Movable):
    """Hold a mixed batch and all that is still to be done to it."""

    inputs: Tensor
    target: MixTarget
    make_index: Callable[[], Tensor]  # what `index` calls
    mask: Tensor | None = None  # (N or 1, 1, H, W) float32, weight of the own pixels
    hidden: HiddenMix | None = None  # to be done inside the backbone
    after: AfterForward | None = None  # to be done after it
    losses: dict[str, Tensor] = field(default_factory=dict)  # a learned mixer's own terms, keys loss_*
    further: tuple[FurtherBatch, ...] = ()  # what the model is trained on besides
    partners: Tensor | None = None  # the images that were mixed in, where they are no rows of the batch

    @cached_property
    def index(self) -> Tensor:
        """The partner of each sample, (N,): target.y_b == labels[index]. A training step does not ask for it."""
        if self.partners is not None:
            raise ValueError('the partners of these samples are no rows of the batch: see `partners`')
        return self.make_index()

    @property
    def left_to_do(self) -> str:
        """What the model that runs on the batch is to do to it; '' where it is mixed and labelled already."""
        inside = '' if self.hidden is None else f'it is to be mixed after {self.hidden.stage!r} of the network'
        return inside or ('' if self.after is None else 'its labels are to be made of what the network says')

    def to(self, device: torch.device | str | int, non_blocking: bool = False) -> Self:
        """Return it on a device; one that is still to be finished stays where it was made."""
        goal, here = torch.device(device), self.inputs.device
        if self.left_to_do and not (goal.type == here.type and goal.index in (None, here.index)):
            raise ValueError(
                f'this batch cannot be moved from {here} to {goal}: {self.left_to_do}; move images and labels, and mix '
                'them there'
            )
        moved = super().to(device, non_blocking)
        return replace(moved, make_index=partial(_moved_index, self.make_index, device))

    def finish(self, outputs: Outputs) -> tuple[MixTarget, dict[str, Tensor]]:
        """Return the target and further losses, now that the model has run on the batch."""
        if self.after is None:
            return self.target, {}
        finished = self.after.finish(outputs)
        target = self.target if finished.lam is None else replace(self.target, lam=finished.lam)
        return target, finished.losses


def _moved_index(make_index: Callable[[], Tensor], device: torch.device | str | int) -> Tensor:
    return make_index().to(device)


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

    def outputs(self, inputs: Tensor, wants: tuple[Want, ...] = ()) -> Outputs:
        """Return logits, and what else is asked for, of one pass."""
        ...

    def class_map(self, inputs: Tensor, labels: Tensor) -> Tensor:
        """Return how much each place of the last map speaks for the class of each image, (N, h, w)."""
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
