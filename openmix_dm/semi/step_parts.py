"""What the parts of a semi-supervised training step hand to each other."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from openmix_dm.errors import ConfigError


@dataclass(frozen=True)
class Labelled:
    """A batch of the labelled stream."""

    views: tuple[Tensor, ...]  # each (B, C, H, W)
    labels: Tensor  # (B,)


@dataclass(frozen=True)
class Unlabelled:
    """A batch of the unlabelled stream: no labels, so that no term can use them."""

    views: tuple[Tensor, ...]  # each (U, C, H, W)
    index: Tensor  # (U,) which images of the stream these are


@dataclass(frozen=True)
class Step:
    """All that the terms of a loss may see of a training step."""

    labelled: Labelled
    unlabelled: Unlabelled | None
    progress: float  # share of the training that lies behind, in [0, 1]

    @property
    def others(self) -> Unlabelled:
        """The unlabelled batch, for those that cannot do without."""
        if self.unlabelled is None:
            raise ConfigError('this method needs an unlabelled stream; the data set says unlabelled=None')
        return self.unlabelled

    @classmethod
    def of(cls, labelled: dict[str, Any], unlabelled: dict[str, Any] | None, progress: float) -> 'Step':
        """Read the batch of a loader; refuse labels where none belong."""
        for name, given, known in (
            ('labelled', labelled, {'inputs', 'labels'}),
            ('unlabelled', unlabelled or {}, {'inputs', 'index'}),
        ):
            if extra := set(given) - known:
                raise ConfigError(f'the {name} stream holds {sorted(known)}, got {sorted(extra)} too: labels in the '
                                  'unlabelled stream are refused')  # fmt: skip
        others = None if unlabelled is None else Unlabelled(tuple(unlabelled['inputs']), unlabelled['index'])
        return cls(Labelled(tuple(labelled['inputs']), labelled['labels']), others, progress)


@dataclass(frozen=True)
class Output:
    """The outputs of the network for some images."""

    features: Tensor  # (N, D)
    logits: Tensor  # (N, classes)


@dataclass(frozen=True)
class PseudoLabels:
    """The pseudo-labels of the unlabelled batch; nothing of them carries a gradient."""

    hard: Tensor  # (U,) most likely class
    soft: Tensor  # (U, classes) averaged, aligned and sharpened
    confidence: Tensor  # (U,) of the most likely class, before sharpening
    mask: Tensor  # (U,) 1 where the pseudo-label is trusted, else 0
    logs: dict[str, Tensor] = field(default_factory=dict)  # what the threshold wants recorded


@dataclass(frozen=True)
class Part:
    """One summand of a loss."""

    value: Tensor  # scalar, before weighting
    weight: float = 1.0


@dataclass(frozen=True)
class Request:
    """Images that have to go through the network; the key to their output."""

    where: str  # name of the pass
    name: str


Outputs = Mapping[Request, Output]

# What a term does once the network has run: returns its parts by name ('' for a term of one part).
Finish = Callable[[Outputs, PseudoLabels | None], dict[str, Part]]
