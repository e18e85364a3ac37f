"""How the weight of a term grows with the progress of the training."""

import math
from typing import Any

from openmix_dm.registry import SEMI_PARTS
from openmix_dm.utils.checks import in_range


class Ramp:
    """Map progress in [0, 1] to a factor in [0, 1]."""

    def __call__(self, progress: float) -> float:
        """Return the factor."""
        return 1.0


@SEMI_PARTS.register_module()
class LinearRamp(Ramp):
    """Raise the weight of a term in a straight line from 0, and hold it at its full value from `end` on.

    Args:
        end: share of the training after which the full weight is reached, in (0, 1]. Default: 1.0.

    Example:
        terms = dict(unlabelled=dict(type='Consistency', ramp=dict(type='LinearRamp', end=0.4)))
    """

    def __init__(self, end: float = 1.0) -> None:
        self.end = in_range('end', end, 0, 1, open_low=True)

    def __call__(self, progress: float) -> float:
        """Return min(1, progress / end)."""
        return min(1.0, progress / self.end)


@SEMI_PARTS.register_module()
class CosineRamp(Ramp):
    """Raise the weight of a term from 0 to its full value as half a cosine over the whole training.

    The factor is (1 - cos(pi * progress)) / 2.

    Args:
        falling: lower the weight from its full value to 0 instead; the factor is (1 + cos(pi * progress)) / 2.
            Default: False.

    Example:
        terms = dict(unlabelled=dict(type='Consistency', ramp=dict(type='CosineRamp')))
    """

    def __init__(self, falling: bool = False) -> None:
        self.sign = 1 if falling else -1

    def __call__(self, progress: float) -> float:
        """Return (1 - cos(pi * progress)) / 2, or with a plus."""
        return (1 + self.sign * math.cos(math.pi * progress)) / 2


def build_ramp(ramp: dict[str, Any] | None) -> Ramp:
    """Build a ramp; none at all is a constant 1."""
    return Ramp() if ramp is None else SEMI_PARTS.build(ramp)
