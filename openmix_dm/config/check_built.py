"""Check what a config builds against the real signatures: a class, its arguments, and what it builds in turn.

No list here says what may be built where: a class declares what it builds (`builds`, see `registry.Built`). A class of
another package has its own arguments checked by its signature; what is below them is left to it.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from mmengine.registry import Registry

from openmix_dm.errors import ConfigError, Failure
from openmix_dm.registry import SCOPE, TRANSFORMS, Built, TransformRegistry
from openmix_dm.utils.signatures import Arguments, arguments_of, describe, fits
from openmix_dm.utils.suggest import did_you_mean, nearest

INHERITED = (
    '. If it was inherited: a changed type keeps the arguments of the old one, and '
    'dict(_delete_=True, type={kind!r}, ...) drops them'
)


def check_built(path: str, built: Built, value: Any) -> None:
    """Check a config, a list of them, or configs by name."""
    if isinstance(value, list | tuple):
        for position, inner in enumerate(value):
            check_built(f'{path}[{position}]', built, inner)
    elif isinstance(built.by, frozenset):
        check_names(path, value, built.by)
    elif not isinstance(value, Mapping) or (built.named and 'type' in value):
        wanted = 'a dict of configs by name' if built.named else 'a dict with a type'
        raise ConfigError(f'{path} must be {wanted}, got {value!r}')
    elif built.named:
        one = Built(built.by, built.filled, built.taken, default=built.default)
        for name, inner in value.items():
            if inner is not None:
                check_built(f'{path}.{name}', one, inner)
    elif isinstance(built.by, Registry):
        _check_class(path, built, built.by, value)
    else:
        _check_arguments(path, built.by.__name__, arguments_of(built.by), value, built)
        with refusing(path):
            built.by(**value)


def _check_class(path: str, built: Built, registry: Registry, value: Mapping[str, Any]) -> None:
    kind = value.get('type', built.default)
    if kind is None:
        raise ConfigError(f'{path} has no type (known: {", ".join(sorted(names_in(registry)))})')
    kind = TRANSFORMS.name_of(kind) or kind  # a class of another package stands for its adapter
    with refusing(f'{path}.type'):
        target = registry.get(kind) if isinstance(kind, str) else kind
    if not callable(target) and not isinstance(kind, str):
        raise ConfigError(f'{path}.type must be a class or the name of one, got {kind!r}')
    if target is None:
        raise ConfigError(f'{path}.type: there is no {registry.name} {kind!r}{did_you_mean(kind, names_in(registry))}')
    _check_arguments(path, getattr(target, '__name__', str(kind)), arguments_of(target), value, built)
    builds = getattr(target, 'builds', {})
    for key, inner in value.items():
        if key in built.taken or inner is None:
            continue
        if key in builds:
            declared = builds[key]
            check_built(f'{path}.{key}', declared if isinstance(declared, Built) else Built(declared), inner)
        elif _is_ours(target) and isinstance(inner, Mapping) and 'type' in inner and key != 'type':
            raise ConfigError(f'{path}.{key} names a type, but {kind} builds nothing from it')
    if hasattr(target, 'try_out'):  # it knows of values that no signature tells about
        with refusing(path):
            target.try_out({key: inner for key, inner in value.items() if key != 'type'})


def _is_ours(target: Any) -> bool:
    return getattr(target, '__module__', '').split('.')[0] == SCOPE


def _check_arguments(path: str, kind: str, arguments: Arguments, value: Mapping[str, Any], built: Built) -> None:
    own = (arguments.known - set(built.filled)) | set(built.taken)
    for key in value:
        if key != 'type' and key not in own and not arguments.open:
            inherited = '' if nearest(key, own) else INHERITED.format(kind=kind)
            raise ConfigError(f'{path}.{key} is not an argument of {kind}{did_you_mean(key, own)}{inherited}')
        elif key in arguments.types and key not in built.taken and not fits(value[key], arguments.types[key]):
            raise ConfigError(f'{path}.{key} must be {describe(arguments.types[key])}, got {value[key]!r}')
    missing = arguments.required - set(built.filled) - set(value)
    if missing and not arguments.open:
        raise ConfigError(f'{path}: {kind} needs {", ".join(sorted(missing))}')


def names_in(registry: Registry) -> set[str]:
    """Return all names that a registry knows, those of mmengine too."""
    if isinstance(registry, TransformRegistry):
        return registry.names()
    registry.import_from_location()
    return set(registry.module_dict) | (set(registry.parent.module_dict) if registry.parent else set())


def check_names(path: str, value: Any, allowed: Collection[str]) -> None:
    """Refuse what is no dict, and keys that nobody reads."""
    if not isinstance(value, Mapping):
        raise ConfigError(f'{path} must be a dict, got {value!r}')
    for key in value:
        if key not in allowed:
            raise ConfigError(f'{path}.{key} is not known{did_you_mean(str(key), allowed)}')


@contextmanager
def refusing(path: str) -> Iterator[None]:
    """Turn what a constructor says about a value into an error of the config."""
    try:
        yield
    except Failure:
        raise
    except (ValueError, TypeError, KeyError, AssertionError) as error:
        raise ConfigError(f'{path}: {error}') from error
