"""The config.py of a run folder or of a published one: read as data, never run, whoever wrote it."""

import ast
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mmengine.config import Config

from openmix_dm.errors import ConfigError, Failure, first_line
from openmix_dm.utils.files import read_plainly

# what the parser and `literal_eval` raise for text that is no config, however odd it is
UNREADABLE = (OSError, ValueError, TypeError, SyntaxError, RecursionError, MemoryError)


def read_plain_config(path: Path, imports: Sequence[str] = ()) -> Config:
    """Read the config of a run folder to build from it; see `read_plain_values`.

    Args:
        path: its config.py.
        imports: packages that the user trusts: a dotted type or a `_scope_` is taken from it only if its top package
            is one of them.
    """
    values = read_plain_values(path)
    check_names(values, path, {name.split('.')[0] for name in imports})
    try:
        return Config(values, filename=str(path))
    except (KeyError, TypeError, ValueError, AttributeError) as error:  # names that mmengine keeps for itself
        raise ConfigError(f'{path} is not the config of a run folder: {error}') from None


def read_plain_values(path: Path) -> dict[str, Any]:
    """Read a config that is nothing but `name = literal` lines, as run folders hold it; code is refused, never run.

    So a folder from anybody is safe to open.
    """
    try:
        tree = ast.parse(read_plainly(path, follow=True).decode())
        return dict(_assignment(statement) for statement in tree.body)
    except UNREADABLE as error:
        raise ConfigError(
            f'{path} is not the plain config of a run folder ({type(error).__name__}: {error}), and it is not run as '
            'code; if you trust it, give it as a config beside the checkpoint'
        ) from None


@contextmanager
def building_from(path: str | Path, given: bool = False) -> Iterator[None]:
    """Blame the config of a folder for what goes wrong while something is built from it: it can be anybody's.

    Args:
        path: the config.
        given: the user has named it, and wants to see what is wrong with it wholly. Default: False.
    """
    try:
        yield
    except Failure:
        raise
    except Exception as error:
        if given:
            raise
        raise ConfigError(f'{path} cannot be used: {type(error).__name__}: {first_line(error)}') from error


def check_names(value: Any, path: Path, trusted: Collection[str]) -> None:
    """Refuse what mmengine's registries would import: a dotted type (`os.system`), a `_scope_` (its `.registry`).

    Args:
        value: the config, or a part of it.
        path: where it is from, for the message.
        trusted: packages that the user has named.
    """
    if isinstance(value, dict):
        for key, is_plain in (('type', _is_plain_name), ('_scope_', lambda name: False)):
            name = value.get(key)
            if name is not None and not (is_plain(name) or str(name).split('.')[0] in trusted):
                raise ConfigError(
                    f'{path} asks for the {key} {name!r}; only names of registered classes are taken from it, and '
                    'dotted ones and scopes of packages that you name (imports=[...], or --import)'
                )
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    for each in inner:
        check_names(each, path, trusted)


def _is_plain_name(kind: Any) -> bool:
    """Say whether a type is a registered name; one `/` is allowed, as in torchvision/ColorJitter."""
    if not isinstance(kind, str):
        return False
    package, _, name = kind.rpartition('/')
    return name.isidentifier() and (not package or package.isidentifier())


def _assignment(statement: ast.stmt) -> tuple[str, Any]:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            return target.id, ast.literal_eval(statement.value)
    raise ValueError(f'line {statement.lineno} is not `name = value`')
