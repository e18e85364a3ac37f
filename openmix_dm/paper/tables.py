"""All tables that the command line knows: the paper's, and those in configs/tables."""

from pathlib import Path

from openmix_dm.errors import ConfigError
from openmix_dm.paper.cells import Table
from openmix_dm.paper.own import CONFIGS, read_table
from openmix_dm.paper.published import paper_tables
from openmix_dm.suggest import did_you_mean


def all_tables() -> dict[str, Table]:
    """Return the paper's tables and those of configs/tables, by name."""
    own = [read_table(path) for path in sorted((CONFIGS / 'tables').glob('*.py'))]
    return {table.name: table for table in (*paper_tables(), *own)}


def find_table(name: str) -> Table:
    """Return a table by its name, by the paper's number ('Table A2', 'A2') or by the path of its file."""
    if name.endswith('.py'):
        return read_table(Path(name))
    tables = all_tables()
    if name in tables:
        return tables[name]
    by_number = {table.source.lower(): table for table in tables.values() if table.source}
    for key in (name.lower(), f'table {name.lower()}'):
        if key in by_number:
            return by_number[key]
    raise ConfigError(f'there is no table {name!r}{did_you_mean(name, tables)}; see: python tools/table.py list')
