"""What tables there are, and how far their runs are, as lines of text."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten

from openmix_dm.errors import printable
from openmix_dm.runs.state import State, read_state
from openmix_dm.tables.catalogue import all_tables
from openmix_dm.tables.cells import Cell, Table
from openmix_dm.tables.plan import Run, config_path, run_folder, runs_of, shown
from openmix_dm.utils.progress import duration


def table_lines(root: Path) -> list[str]:
    """Return a line for each table."""
    rows = [('table', 'of the paper', 'cells', 'runs', 'title')]
    for table in all_tables().values():
        runs = len(runs_of(table, root)) if table.runnable() else 0
        rows.append((table.name, table.source, str(len(table.cells)), str(runs), shorten(table.title, 90)))
    return align(rows)


def cell_lines(table: Table, root: Path) -> list[str]:
    """Return a line for each cell: id, config, the paper's number, and the states of its runs."""
    rows = [('cell', 'config', 'paper', 'runs')]
    for cell in table.cells:
        printed = '' if cell.printed is None else f'{cell.printed:g}'
        rows.append((cell.id, describe_config(cell), printed or '-', describe_runs(table, cell, root)))
    return [printable(table.title), *align(rows)]


def describe_config(cell: Cell) -> str:
    """Return the config of a cell with its overrides."""
    return ' '.join((shown(config_path(cell)), *cell.options)) if cell.config else '-'


def describe_runs(table: Table, cell: Cell, root: Path) -> str:
    """Count the states of the runs of a cell."""
    if cell.config is None:
        return '-'
    kinds = Counter(read_state(run_folder(cell, seed, root)).kind for seed in table.seeds())
    return ', '.join(f'{count} {kind}' for kind, count in kinds.items())


def status_lines(table: Table, root: Path, trials: int | None = None) -> list[str]:
    """Return a line for each run, how far it is, and one with how many are in which state."""
    runs = runs_of(table, root, trials=trials)
    states = [read_state(run.folder) for run in runs]
    kinds = Counter(state.kind for state in states)
    counts = ', '.join(f'{count} {kind}' for kind, count in kinds.most_common())
    rows = [status_row(run, state) for run, state in zip(runs, states, strict=True)]
    return [*align(rows), f'{table.name}: {len(runs)} runs: {counts}']


def status_row(run: Run, state: State) -> tuple[str, ...]:
    """Return name, state and what else is to be said of a run."""
    epoch = f'epoch {state.epoch}/{state.epochs}' if state.epochs else ''
    eta = '' if state.seconds_left is None else f'eta {duration(state.seconds_left)}'
    return run.name, state.kind, '' if state.kind == 'waiting' else epoch, eta or state.cause


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines with columns below each other; what a run folder says may hold anything."""
    rows = [[printable(text) for text in row] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ['  '.join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
