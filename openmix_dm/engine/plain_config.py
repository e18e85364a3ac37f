"""Read the config of a run folder without running it: a folder from anybody is safe to open."""

import ast
from pathlib import Path
from typing import Any

from mmengine.config import Config

from openmix_dm.errors import ConfigError


def read_plain_config(path: Path) -> Config:
    """Read a config that is nothing but `name = literal` lines, as run folders hold it; code is refused, never run."""
    try:
        tree = ast.parse(path.read_text())
        values = dict(_assignment(statement) for statement in tree.body)
    except (ValueError, SyntaxError) as error:
        raise ConfigError(
            f'{path} is not the plain config of a run folder ({error}), and it is not run as code; if you trust it, '
            'give it as a config beside the checkpoint'
        ) from None
    _check_types(values, path)
    return Config(values, filename=str(path))


def _check_types(value: Any, path: Path) -> None:
    """Refuse dotted types: mmengine's registries import whatever they name, `os.system` too."""
    if isinstance(value, dict):
        kind = value.get('type')
        if kind is not None and not (isinstance(kind, str) and kind.isidentifier()):
            raise ConfigError(f'{path} asks for the type {kind!r}; only names of registered classes are taken from it')
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    for each in inner:
        _check_types(each, path)


def _assignment(statement: ast.stmt) -> tuple[str, Any]:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            return target.id, ast.literal_eval(statement.value)
    raise ValueError(f'line {statement.lineno} is not `name = value`')
