"""Where a config says something: file and line of a key, found without running anything."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from openmix_dm.config.shipped import CONFIGS, find_base

KINDS = ('.py', '.json', '.yaml', '.yml')  # that mmengine reads


def find_line(file: Path, key: str) -> str | None:
    """Return 'file:line' of where a key such as `model.mixer.alpha` or `schedule[0].end` was last set.

    Looks at the file and then at those that it inherits, at what is written as literals and dict(...) calls.
    """
    parts = re.findall(r'[^.\[\]]+', key)
    for each in inherited(file):
        line = _line_in(_parse(each), parts)
        if line is not None:
            return f'{each}:{line}'
    return None


def inherited(file: Path) -> Iterator[Path]:
    """Go through a config and what it inherits, nearest first; a file that was seen is not followed again."""
    todo, seen = [file], set()
    while todo:
        file = todo.pop(0)
        if file.resolve() not in seen and file.is_file():
            seen.add(file.resolve())
            yield file
            todo += bases(file)


def is_pure_python(file: Path) -> bool:
    """Say whether a config inherits by `with read_base():`, which mmengine has to read in another way."""
    return bool(_read_bases(_parse(file)))


def _read_bases(tree: ast.Module) -> list[ast.With]:
    return [
        node
        for node in tree.body
        if isinstance(node, ast.With) and ast.unparse(node.items[0].context_expr).split('.')[-1] == 'read_base()'
    ]


def bases(file: Path) -> list[Path]:
    """Return the files that a config inherits, by _base_ or by `with read_base():`."""
    imported = [line for node in _read_bases(_parse(file)) for line in node.body if isinstance(line, ast.ImportFrom)]
    if imported:
        return [_imported_base(file, line) for line in imported]
    return [find_base(text, file) for text in _base_texts(_parse(file))]


def _imported_base(file: Path, line: ast.ImportFrom) -> Path:
    """Return the config that an import means: relative to the file, or one of ours by openmix_dm.configs."""
    name = (line.module or '').replace('.', '/')
    if line.level == 0 and name.startswith('openmix_dm/configs/'):
        return CONFIGS / f'{name.removeprefix("openmix_dm/configs/")}.py'
    return file.parent.joinpath(*['..'] * (line.level - 1)) / f'{name}.py'


def _base_texts(tree: ast.Module) -> list[str]:
    for name, value in _assignments(tree):
        if name == '_base_':
            nodes = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
            return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return []


def imports_code(file: Path) -> bool:
    """Say whether a config, or one that it inherits, imports modules of others, which may register what it names."""
    harmless = {*sys.stdlib_module_names, 'mmengine', 'openmix_dm'}
    names = [
        name.split('.')[0]
        for each in inherited(file)
        for line in _parse(each).body
        if isinstance(line, ast.Import | ast.ImportFrom)
        for name in ([line.module or ''] if isinstance(line, ast.ImportFrom) else [alias.name for alias in line.names])
    ]
    return not harmless.issuperset(names)


def find_mixture(file: Path) -> tuple[Path, Path] | None:
    """Return a pure-Python config and a base of it that is not one, because it inherits by _base_; None if all are."""
    for each in inherited(file):
        for base in bases(each) if is_pure_python(each) else ():
            if _base_texts(_parse(base)):
                return each, base
    return None


def find_cycle(file: Path, above: tuple[Path, ...] = ()) -> list[Path]:
    """Return the files of a cycle of _base_ lines, the first one again at the end; empty if there is none."""
    file = file.resolve()
    if file in above:
        return [*above[above.index(file) :], file]
    return next((cycle for base in bases(file) if (cycle := find_cycle(base, (*above, file)))), [])


def find_fault(file: Path) -> str | None:
    """Say what keeps a config, or one that it inherits, from being read, with its file and line; None if nothing does.

    mmengine reads a copy of each, whose name tells nobody anything.
    """
    if file.suffix not in KINDS:
        return f'{file} is no config: expected a Python file (.py)'
    for each in inherited(file):
        try:
            ast.parse(each.read_text(encoding='utf-8'))
        except SyntaxError as error:
            return f'{each}:{error.lineno or 1} is no Python: {error.msg}'
        except UnicodeDecodeError as error:
            line = each.read_bytes()[: error.start].count(b'\n') + 1
            return f'{each}:{line} is not UTF-8 ({error.reason}); save the file as UTF-8'
        except (OSError, ValueError) as error:  # the latter for a zero byte
            return f'{each} cannot be read: {error}'
        for base in bases(each):
            if not base.is_file():
                return f'{each} inherits {base}, which is not there'
    return None


def _parse(file: Path) -> ast.Module:
    try:
        return ast.parse(file.read_text(encoding='utf-8'))
    except (OSError, SyntaxError, ValueError):
        return ast.Module(body=[], type_ignores=[])


def _assignments(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    yield target.id, statement.value


def _line_in(tree: ast.Module, parts: list[str]) -> int | None:
    found = None
    for name, value in _assignments(tree):
        if name == parts[0]:
            found = _descend(value, parts[1:]) or found  # a later line wins
    return found


def _descend(node: ast.expr, parts: list[str]) -> int | None:
    if not parts:
        return node.lineno
    inner = _members(node).get(parts[0])
    return None if inner is None else _descend(inner, parts[1:])


def _members(node: ast.expr) -> dict[str, ast.expr]:
    if isinstance(node, ast.Call):
        return {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {str(key.value): value for key, value in pairs if isinstance(key, ast.Constant)}
    if isinstance(node, ast.List | ast.Tuple):
        return {str(position): value for position, value in enumerate(node.elts)}
    return {}
