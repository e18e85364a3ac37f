"""`table.py list` and `table.py status`: what there is, and how far it is."""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten

from openmix_dm.engine.display import duration
from openmix_dm.paper.cells import Cell, Table
from openmix_dm.paper.runs import Run, config_path, run_folder, runs_of, shown
from openmix_dm.paper.states import State, read_state
from openmix_dm.paper.tables import all_tables, find_table


def show_tables(args: argparse.Namespace) -> None:
    """Print all tables, or the cells of one."""
    if args.table is not None:
        print('\n'.join(cell_lines(find_table(args.table), args.work_dirs)))
        return
    rows = [('table', 'of the paper', 'cells', 'runs', 'title')]
    for table in all_tables().values():
        runs = len(runs_of(table, args.work_dirs)) if table.runnable() else 0
        rows.append((table.name, table.source, str(len(table.cells)), str(runs), shorten(table.title, 90)))
    print('\n'.join(align(rows)))


def cell_lines(table: Table, root: Path) -> list[str]:
    """Return a line for each cell: id, config, the paper's number, and the states of its runs."""
    rows = [('cell', 'config', 'paper', 'runs')]
    for cell in table.cells:
        printed = '' if cell.printed is None else f'{cell.printed:g}'
        rows.append((cell.id, describe_config(cell), printed or '-', describe_runs(table, cell, root)))
    return [table.title, *align(rows)]


def describe_config(cell: Cell) -> str:
    """Return the config of a cell with its overrides."""
    return ' '.join((shown(config_path(cell)), *cell.options)) if cell.config else '-'


def describe_runs(table: Table, cell: Cell, root: Path) -> str:
    """Count the states of the runs of a cell."""
    if cell.config is None:
        return '-'
    kinds = Counter(read_state(run_folder(cell, seed, root)).kind for seed in range(table.trials))
    return ', '.join(f'{count} {kind}' for kind, count in kinds.items())


def show_status(args: argparse.Namespace) -> None:
    """Print how far each run is, and how many are in which state."""
    table = find_table(args.table)
    runs = runs_of(table, args.work_dirs, trials=args.trials)
    states = [read_state(run.folder) for run in runs]
    for line in align([status_row(run, state) for run, state in zip(runs, states, strict=True)]):
        print(line)
    kinds = Counter(state.kind for state in states)
    print(f'{table.name}: {len(runs)} runs: {", ".join(f"{count} {kind}" for kind, count in kinds.most_common())}')


def status_row(run: Run, state: State) -> tuple[str, ...]:
    """Return name, state and what else is to be said of a run."""
    epoch = f'epoch {state.epoch}/{state.epochs}' if state.epochs else ''
    eta = '' if state.seconds_left is None else f'eta {duration(state.seconds_left)}'
    return run.name, state.kind, '' if state.kind == 'waiting' else epoch, eta or state.cause


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines with columns below each other."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ['  '.join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
