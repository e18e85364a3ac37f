"""The package as a house: which room a file is in, what it imports, and numbers about all of it.

`python tests/support/house.py` prints the numbers.
"""

import ast
import io
import statistics
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = 'openmix_dm'
HOUSE = Path(__file__).resolve().parents[2] / PACKAGE
GROUND = ('errors', 'structures', 'registry', 'compat', 'version', 'invocation')


@cache
def modules() -> dict[str, Path]:
    """Return all modules of the package by name."""
    files = {'.'.join(file.relative_to(HOUSE.parent).with_suffix('').parts): file for file in HOUSE.rglob('*.py')}
    return {name.removesuffix('.__init__'): file for name, file in files.items()}


def room_of(file: Path) -> str:
    """Return the room of a file: the first folder, the ground, or the package itself."""
    first, *rest = file.relative_to(HOUSE if file.is_relative_to(HOUSE) else HOUSE.parent).parts
    if rest:
        return first
    return 'ground' if file.stem in GROUND else PACKAGE


def imports_of(file: Path) -> Iterator[tuple[int, str]]:
    """Go through line and module of all imports of this package, lazy ones too."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name.split('.')[0] == PACKAGE)
        elif isinstance(node, ast.ImportFrom) and (node.module or '').split('.')[0] == PACKAGE:
            inner = [f'{node.module}.{alias.name}' for alias in node.names]
            # `from package import module` needs the package only for the module's sake
            if node.module != PACKAGE or not all(name in modules() for name in inner):
                yield node.lineno, str(node.module)
            yield from ((node.lineno, name) for name in inner if name in modules())


def code_lines(file: Path) -> int:
    """Count the lines of a file without docstrings, comments and blanks."""
    text = file.read_text()
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            lines |= set(range(token.start[0], token.end[0] + 1))
    lines.discard(text.count('\n') + 1)  # the end marker
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            lines -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(lines)


def room_cycles() -> list[tuple[str, str]]:
    """Return the pairs of rooms that import each other, lazily or not."""
    edges = {(room_of(file), room_of(modules()[name])) for file in modules().values() for _, name in imports_of(file)}
    return sorted({(a, b) for a, b in edges if a < b and (b, a) in edges})


def docstring_lines() -> list[int]:
    """Return the lines of the docstring of each registered class."""
    found = []
    for file in modules().values():
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and any(
                'register_module' in ast.unparse(decorator) for decorator in node.decorator_list
            ):
                found.append(len((ast.get_docstring(node) or '').splitlines()))
    return found


def report() -> str:
    """Return the numbers."""
    files = list(modules().values())
    lengths = [len(file.read_text().splitlines()) for file in files]
    folders = Counter(str(file.parent.relative_to(HOUSE)) for file in files)
    names = Counter(file.stem for file in files if file.stem not in ('__init__', 'base'))
    documented = docstring_lines()
    rows = {
        'files': len(files),
        'lines': sum(lengths),
        'lines of code without docstrings, comments and blanks': sum(map(code_lines, files)),
        'files of the largest folders': ', '.join(f'{folder} {count}' for folder, count in folders.most_common(4)),
        'files below 40 lines (of these __init__)': f'{sum(length < 40 for length in lengths)} '
        f'({sum(length < 40 and file.stem == "__init__" for file, length in zip(files, lengths, strict=True))})',
        'basenames used twice': ', '.join(sorted(name for name, count in names.items() if count > 1)) or 'none',
        'docstring of registered classes, median lines': f'{statistics.median(documented):g} of {len(documented)}',
        'pairs of rooms that import each other': ', '.join(map(' <-> '.join, room_cycles())) or 'none',
    }
    return '\n'.join(f'{name}: {value}' for name, value in rows.items())


if __name__ == '__main__':
    if len(sys.argv) > 1:
        HOUSE = Path(sys.argv[1]).resolve() / PACKAGE
    print(report())
