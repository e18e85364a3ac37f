"""Checks of arguments that several families share; each error says the name, what was expected and what was given."""

import math
from collections.abc import Collection, Sequence
from numbers import Real
from typing import TypeGuard


def positive(name: str, value: float) -> float:
    """Return value if it is a finite number above zero."""
    if not _is_number(value) or not math.isfinite(value) or value <= 0:
        raise ValueError(f'{name} must be a finite number above 0, got {value!r}')
    return value


def non_negative(name: str, value: float) -> float:
    """Return value if it is a finite number, zero or above."""
    if not _is_number(value) or not math.isfinite(value) or value < 0:
        raise ValueError(f'{name} must be a finite number, 0 or above, got {value!r}')
    return value


def in_range(name: str, value: float, low: float, high: float, *, open_low: bool = False) -> float:
    """Return value if low <= value <= high (low < value with open_low)."""
    inside = _is_number(value) and (low < value if open_low else low <= value) and value <= high
    if not inside:  # NaN fails every comparison and lands here too
        raise ValueError(f'{name} must be in {"(" if open_low else "["}{low}, {high}], got {value!r}')
    return value


def positive_range(name: str, ends: Sequence[float]) -> tuple[float, float]:
    """Return a pair (low, high) if both are finite numbers above zero, in order."""
    if not isinstance(ends, tuple | list) or len(ends) != 2:
        raise ValueError(f'{name} must be a pair (low, high), got {ends!r}')
    low, high = (positive(name, value) for value in ends)
    if low > high:
        raise ValueError(f'{name} must be a pair (low, high) with low <= high, got {ends!r}')
    return low, high


def one_of(name: str, value: str, choices: Collection[str]) -> str:
    """Return value if it is one of the choices."""
    if value not in choices:
        raise ValueError(f'{name} must be one of {sorted(choices)}, got {value!r}')
    return value


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool)
