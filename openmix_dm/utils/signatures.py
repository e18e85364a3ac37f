"""Which arguments a registered class really takes, and of which types."""

import inspect
import types
import typing
from dataclasses import dataclass
from numbers import Real
from typing import Any


@dataclass(frozen=True)
class Arguments:
    """The names that a class takes, those that it cannot do without, and their types where they are known."""

    known: frozenset[str]
    required: frozenset[str]
    types: dict[str, Any]
    open: bool  # takes any name


def arguments_of(target: Any) -> Arguments:
    """Collect the arguments of a class or function; `**kwargs` is followed to the classes that it is passed on to."""
    known: dict[str, bool] = {}
    hints: dict[str, Any] = {}
    is_open = True
    for function in _constructors(target):
        hints = {**_hints(function), **hints}
        parameters = inspect.signature(function).parameters.values()
        for parameter in parameters:
            if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) and parameter.name != 'self':
                known.setdefault(parameter.name, parameter.default is parameter.empty)
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            is_open = False
            break
    required = frozenset(name for name, is_required in known.items() if is_required)
    return Arguments(frozenset(known), required, {k: v for k, v in hints.items() if k in known}, is_open)


def fits(value: Any, annotation: Any) -> bool:
    """Say whether a value can be of a type; only numbers, strings, booleans and None are looked at."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return any(fits(value, option) for option in typing.get_args(annotation))
    if annotation is bool:
        return isinstance(value, bool)
    if annotation is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if annotation is float:
        return isinstance(value, Real) and not isinstance(value, bool)
    if annotation is str:
        return isinstance(value, str)
    return value is None if annotation is type(None) else True


def describe(annotation: Any) -> str:
    """Return a type in words."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return ' or '.join(describe(option) for option in typing.get_args(annotation))
    words = {bool: 'True or False', int: 'a whole number', float: 'a number', str: 'a string', type(None): 'None'}
    return words.get(annotation, str(annotation))


def _hints(function: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except (NameError, TypeError, AttributeError):  # annotations of other packages that only a type checker can read
        return {}


def _constructors(target: Any) -> list[Any]:
    if not inspect.isclass(target):
        return [target]
    own = [cls.__dict__['__init__'] for cls in target.__mro__ if '__init__' in cls.__dict__ and cls is not object]
    return own or [lambda: None]
