"""Which tables there are: those that a package registers, and Python files of rows x columns -> configs."""

import re
import runpy
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, get_args

from openmix_dm.config.shipped import CONFIGS, OURS, list_configs
from openmix_dm.errors import ConfigError
from openmix_dm.invocation import command
from openmix_dm.tables.cells import Cell, Metric, Protocol, Table
from openmix_dm.tables.measures import find_measure, is_measured
from openmix_dm.utils.suggest import did_you_mean

_REGISTERED: list[Callable[[], Sequence[Table]]] = []
NEEDED = ('title', 'columns', 'rows')
DEFAULTS = {
    'baseline': '',
    'metric': 'top1',
    'protocol': 'median_last10',
    'trials': 3,
    'first_seed': 0,
    'axis': '',
    'source': '',
}


def read_table(path: str | Path) -> Table:
    """Read a table; its name is that of the file.

    The file sets `title`, `columns` (names) and `rows` (name -> for each column a config, `dict(config=..., options=
    ['key=value'])`, or None for an empty cell), and may set `baseline` (the column, or else the row, that the others
    are compared with), `metric`, `protocol`, `trials`, `first_seed`, `axis` (rows are values of this setting, to be
    plotted) and `source` (what of the paper it is: 'Figure A2').
    """
    path = Path(path)
    values = _load(path)
    columns, rows = values['columns'], values['rows']
    _check(path, values)
    ids = {(row, column): f'{_slug(row)}/{_slug(column)}' for row in rows for column in columns}
    if len(set(ids.values())) < len(ids):
        raise ConfigError(f'{path}: two rows or two columns have names that differ only in signs')
    against_column = values['baseline'] in columns
    cells = []
    for row, entries in rows.items():
        for column, entry in zip(columns, entries, strict=True):
            config, options = _entry(path, row, column, entry)
            own = column if against_column else row
            other = (row, values['baseline']) if against_column else (values['baseline'], column)
            cells.append(
                Cell(
                    id=ids[row, column],
                    row=row,
                    column=column,
                    config=config,
                    metric=values['metric'],
                    protocol=values['protocol'],
                    baseline=ids[other] if config and values['baseline'] not in ('', own) else None,
                    facts={'row': row, 'column': column},
                    options=options,
                )
            )
    facts = {name: values[name] for name in ('trials', 'first_seed', 'axis', 'source')}
    return Table(path.stem, values['title'], tuple(cells), **facts)


def _load(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ConfigError(f'there is no table {path}')
    try:
        names = runpy.run_path(str(path))
    except Exception as error:
        raise ConfigError(f'{path} cannot be read: {type(error).__name__}: {error}') from error
    data = {
        name: value
        for name, value in names.items()
        if not name.startswith('_') and not isinstance(value, ModuleType | FunctionType | type)
    }
    known = {*NEEDED, *DEFAULTS}
    for name in data:
        if name not in known:
            raise ConfigError(
                f'{path} sets {name!r}, which a table does not have{did_you_mean(name, known)}; '
                'names of your own begin with _'
            )
    missing = [name for name in NEEDED if name not in data]
    if missing:
        raise ConfigError(f'{path} sets no {", ".join(missing)}: a table has a title, columns and rows')
    return {**DEFAULTS, **data}


def _check(path: Path, values: dict[str, Any]) -> None:
    columns, rows, baseline = (values[name] for name in ('columns', 'rows', 'baseline'))
    if not isinstance(rows, dict) or not rows or not columns:
        raise ConfigError(f'{path}: rows must be a dict of names and lists, and columns a list, neither of them empty')
    for row, entries in rows.items():
        if not isinstance(entries, list | tuple) or len(entries) != len(columns):
            raise ConfigError(f'{path}: row {row!r} must list {len(columns)} configs, one for each of {columns}')
    if baseline and baseline not in columns and baseline not in rows:
        raise ConfigError(
            f'{path}: baseline {baseline!r} is neither a column nor a row{did_you_mean(baseline, [*columns, *rows])}'
        )
    for name, least in (('trials', 1), ('first_seed', 0)):
        if not isinstance(values[name], int) or values[name] < least:
            raise ConfigError(f'{path}: {name} must be a whole number, {least} or above, got {values[name]!r}')
    if values['protocol'] not in get_args(Protocol):
        raise ConfigError(
            f'{path}: protocol must be one of {", ".join(get_args(Protocol))}, got {values["protocol"]!r}'
        )
    for name in ('axis', 'source'):
        if not isinstance(values[name], str):
            raise ConfigError(f'{path}: {name} must be a text, got {values[name]!r}')
    if not isinstance(values['metric'], str) or not values['metric']:
        raise ConfigError(f'{path}: metric must be the name of a value of the validations, got {values["metric"]!r}')
    if is_measured(values['metric']):
        find_measure(values['metric'])


def _entry(path: Path, row: str, column: str, entry: Any) -> tuple[str | None, tuple[str, ...]]:
    """Return config and options of an entry; configs are looked for in configs/, then beside the table."""
    if entry is None:
        return None, ()
    settings = {'config': entry} if isinstance(entry, str | Path) else entry
    if not isinstance(settings, dict) or not {'config'} <= settings.keys() <= {'config', 'options'}:
        raise ConfigError(
            f'{path}, {row}, {column}: expected a config, dict(config=..., options=[...]) or None, got {entry!r}'
        )
    config, options = str(settings['config']), tuple(settings.get('options', ()))
    names = (config.removeprefix(OURS), f'{config.removeprefix(OURS)}.py')  # the .py may be left out
    for name in names:
        if (CONFIGS / name).is_file():
            return name, options
    for name in names:
        beside = path.absolute().parent / name
        if beside.is_file():
            return str(beside.resolve()), options
    near = did_you_mean(config.removesuffix('.py'), list_configs())
    raise ConfigError(f'{path}, {row}, {column}: there is no config {config}{near}')


def _slug(name: str) -> str:
    """Return a name in small letters, digits, dots and dashes, as --cells matches it."""
    return re.sub(r'[^a-z0-9.]+', '-', name.lower()).strip('-')


def register_tables(tables: Callable[[], Sequence[Table]]) -> None:
    """Let the command line know the tables of a package; they are made when they are asked for."""
    if tables not in _REGISTERED:
        _REGISTERED.append(tables)


def all_tables() -> dict[str, Table]:
    """Return the registered tables and those of configs/tables, by name."""
    registered = _registered()
    own = [_with_printed(read_table(path), registered) for path in sorted((CONFIGS / 'tables').glob('*.py'))]
    return {table.name: table for table in (*registered, *own)}


def find_table(name: str) -> Table:
    """Return a table by its name, by the paper's number ('Table A2', 'A2') or by the path of its file."""
    if name.endswith('.py'):
        return _with_printed(read_table(Path(name)), _registered())
    tables = all_tables()
    if name in tables:
        return tables[name]
    for key in (name.lower(), f'table {name.lower()}'):
        found = [table for table in tables.values() if table.source and table.source.lower() == key]
        if len(found) == 1:
            return found[0]
        if found:
            raise ConfigError(f'{name} has {len(found)} tables: {", ".join(table.name for table in found)}; name one')
    own = ' (a table of your own is a .py file)' if Path(name).exists() else ''
    raise ConfigError(f'there is no table {name!r}{own}{did_you_mean(name, tables)}; see: {command("table", "list")}')


def _registered() -> list[Table]:
    return [table for tables in _REGISTERED for table in tables()]


def _with_printed(own: Table, registered: Sequence[Table]) -> Table:
    """Give cells the numbers that the first registered table prints for their configs as they are, without options."""
    printed: dict[tuple[str | None, Metric, Protocol], Cell] = {}
    for cell in (cell for table in registered for cell in table.runnable()):
        printed.setdefault((cell.config, cell.metric, cell.protocol), cell)
    cells = []
    for cell in own.cells:
        said = None if cell.options else printed.get((cell.config, cell.metric, cell.protocol))
        cells.append(replace(cell, printed=said.printed, printed_std=said.printed_std) if said else cell)
    return replace(own, cells=tuple(cells))
