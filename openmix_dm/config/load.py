"""From a config file and options of the command line to the config of one run."""

import ast
import errno
import hashlib
import importlib
import json
import traceback
from collections.abc import Sequence
from pathlib import Path
from pprint import pformat
from typing import Any

from mmengine.config import Config

from openmix_dm.config.fast import best_precision, make_fast
from openmix_dm.config.locate import find_cycle, find_fault, find_mixture, inherited, is_pure_python
from openmix_dm.config.shipped import OURS, find_base, find_config
from openmix_dm.errors import ConfigError, ResourceError
from openmix_dm.registry import registered_name


def _find_base(text: str, file: str) -> tuple[str, str | None]:
    """Return the file of a _base_ line, and no scope: what is ours is in our registries anyway."""
    return (str(find_base(text, Path(file))), None) if text.startswith(OURS) else _find_theirs(text, file)


# mmengine asks a fixed list of packages for what stands before `::`, and leaves no other way to add one.
_find_theirs = Config._get_cfg_path
Config._get_cfg_path = staticmethod(_find_base)

ROOM = 'make room there, or set TMPDIR to a folder that has some'
# mmengine copies each config into a file of its own: what fails there is no fault of the config.
TO_DO = {errno.EMFILE: '`ulimit -n 4096` lets more be open at once', errno.ENOSPC: ROOM, errno.EDQUOT: ROOM}


def load_config(path: str | Path, options: Sequence[str] = ()) -> Config:
    """Read a config, given by its path or by its name, with all that it inherits; apply `key.path=value` options."""
    path = find_config(path)
    if cycle := find_cycle(path):  # mmengine would follow it for long
        raise ConfigError(f'{path} inherits itself by its _base_ lines: {" -> ".join(map(str, cycle))}')
    if mixture := find_mixture(path):  # mmengine would leave out what the base inherits
        raise ConfigError(
            f'{mixture[0]} inherits {mixture[1]} by read_base, but that inherits by a _base_ line itself; write '
            f"_base_ = '...' instead of `with read_base()`: classes as types are fine there, too"
        )
    try:
        # said, not left to mmengine: a plain `import` in a config must not switch it to its other kind of config
        config = Config.fromfile(path, lazy_import=is_pure_python(path))
        said = {key: value for key, value in config.to_dict().items() if not callable(value)}  # not what was imported
        config = Config(name_types(said), filename=str(path))
    except Exception as error:
        if isinstance(error, OSError) and error.errno in TO_DO:
            raise ResourceError(f'{path} cannot be read: {error}; {TO_DO[error.errno]}') from error
        raise ConfigError(find_fault(path) or f'{_place_of(error, path)} cannot be read: {_said(error)}') from error
    merge_options(config, options)
    return config


def _place_of(error: Exception, path: Path) -> str:
    """Return file and line of the config, or of one that it inherits, whose code has raised an error."""
    files = {str(file.resolve()) for file in inherited(path)}
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f'{frame.filename}:{frame.lineno}' for frame in frames if frame.filename in files]
    return lines[-1] if lines else str(path)


def _said(error: Exception) -> str:
    return f'{type(error).__name__}: {error}'


def name_types(value: Any) -> Any:
    """Return a config in which classes are given by their registered names, as if it had been written so.

    Pure-Python configs (`with read_base():`, `type=CutMix`) are then checked, hashed and stored like all others. What
    nobody has registered keeps its dotted name.
    """
    if isinstance(value, dict):
        return {key: _name_of(inner) if key == 'type' else name_types(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(name_types(inner) for inner in value)
    return value


def _name_of(kind: Any) -> Any:
    if isinstance(kind, str):
        module, _, name = kind.rpartition('.')
        found = getattr(_imported(module), name, None) if module else None
    else:
        found = kind
    if found is None or isinstance(found, str):
        return kind
    return registered_name(found) or f'{found.__module__}.{found.__qualname__}'


def _imported(module: str) -> Any:
    """Import what a config of the user names; mmengine has left that to whoever builds it."""
    try:
        return importlib.import_module(module)
    except ImportError:  # a scope of mmengine's registries, such as `mmpretrain.ResNet`
        return None


def load_run_config(
    path: str | Path, options: Sequence[str] = (), seed: int | None = None, amp: bool = False, fast: bool = False
) -> Config:
    """Return the checked config of one run.

    Args:
        path: a config file, or the name of a config.
        options: `key.path=value` overrides.
        seed: of all draws; None leaves that of the config.
        amp: train in the precision that the device computes fast.
        fast: switch on all that makes a training fast, unless the config says otherwise.
    """
    from openmix_dm.config.check import validate  # with mmengine's runner, and torch: not for those who only read

    config = load_config(path, options)
    if seed is not None:
        if seed < 0:
            raise ConfigError(f'--seed must be a whole number, 0 or above, got {seed}')
        config.setdefault('randomness', {})['seed'] = seed
    if amp:
        config.setdefault('optim_wrapper', {})['amp'] = best_precision()
    if fast:
        make_fast(config)
    validate(config, options)
    chosen = config.get('randomness', {}).get('seed')
    if not isinstance(chosen, int) or chosen < 0:
        raise ConfigError(f'randomness.seed must be a whole number, 0 or above, got {chosen!r}')
    return config


def merge_options(config: Config, options: Sequence[str]) -> None:
    """Apply options such as `model.mixer.alpha=0.5`; whether their paths exist is for `validate` to say."""
    merged = {}
    for option in options:
        name, found, value = option.partition('=')
        if not found or not name.strip():
            raise ConfigError(f'--cfg-options takes key.path=value, got {option!r}')
        merged[name.strip()] = parse_value(value.strip())
    try:
        config.merge_from_dict(merged)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ConfigError(f'--cfg-options {" ".join(options)} does not fit the config: {error}') from error


def parse_value(text: str) -> Any:
    """Read a Python literal, in which dict(a=1) may stand for {'a': 1}; anything else is a string."""
    literals = {'true': True, 'false': False, 'none': None}
    if text.lower() in literals:
        return literals[text.lower()]
    try:
        return ast.literal_eval(_DictCalls().visit(ast.parse(text, mode='eval')))
    except (ValueError, SyntaxError):
        return text


class _DictCalls(ast.NodeTransformer):
    """Turn dict(a=1), as configs write it, into a literal."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        names = [keyword.arg for keyword in node.keywords]
        if not isinstance(node.func, ast.Name) or node.func.id != 'dict' or node.args or None in names:
            return node
        return ast.Dict([ast.Constant(name) for name in names], [keyword.value for keyword in node.keywords])


def dataset_of(config: Config) -> str:
    """Return the name under which runs of a config are filed: the folder that its file is in."""
    return Path(config.filename).resolve().parent.name


def default_work_dir(config: Config, seed: int) -> Path:
    """Return work_dirs/<dataset>/<config name>/seed<k>."""
    return Path('work_dirs') / dataset_of(config) / Path(config.filename).stem / f'seed{seed}'


def plain(config: Config) -> dict[str, Any]:
    """Return the config as plain dicts and lists, without what only the machine decides."""
    values = config.to_dict()
    return {key: value for key, value in values.items() if key not in ('work_dir', 'launcher', 'resume', 'load_from')}


def fingerprint(config: Config) -> str:
    """Return a short hash of all that a config says."""
    return fingerprint_of(plain(config))


def fingerprint_of(values: dict[str, Any]) -> str:
    """Return the fingerprint of a config that is plain already."""
    return hashlib.sha256(json.dumps(values, sort_keys=True, default=repr).encode()).hexdigest()[:16]


def to_text(config: Config) -> str:
    """Return the expanded config as Python that `Config.fromfile` reads back.

    Not by mmengine's `pretty_text`: it reformats for seconds and stumbles over values that are no literals.
    """
    lines = [f'{key} = {pformat(value, width=116, sort_dicts=False)}' for key, value in plain(config).items()]
    return '\n'.join(lines) + '\n'


def import_packages(names: Sequence[str]) -> None:
    """Import the packages that a user names, so that what they register can be built."""
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise ConfigError(f'{name} cannot be imported ({error}); is its folder on PYTHONPATH?') from None
