"""`table.py check`: does every cell's config load, validate, build and learn, with the values of the paper?"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openmix_dm.engine.checkpoints import write_atomically
from openmix_dm.paper.cells import Cell, Table
from openmix_dm.paper.parallel import make_pool, work_through
from openmix_dm.paper.printed import is_semi
from openmix_dm.paper.published import paper_tables, printed_cell, supervised_tables
from openmix_dm.paper.reading import Reading, Source, attempt, read
from openmix_dm.paper.rules import expected_values
from openmix_dm.paper.semi_rules import expected_semi_values
from openmix_dm.paper.trial import Trial, memory_gb

Row = dict[str, Any]
NOT_RUN = '-'  # the state of a cell for which the paper prints no number


def check(tables: Sequence[Table], jobs: int = 2, json_path: str | Path | None = None, supervised: bool = False) -> int:
    """Check tables without data or GPU, and say what is wrong; return the number of cells that are not ok.

    jobs: processes. json_path: where to write a line of facts about every cell. supervised: leave the paper's
    semi-supervised tables out.
    """
    if supervised:
        semi = [table for table in paper_tables() if table not in supervised_tables()]
        tables = [table for table in tables if table not in semi]
    rows = check_rows(tables, jobs)
    if json_path is not None:
        write_atomically(Path(json_path), json.dumps(rows, indent=1) + '\n')
    print('\n'.join(report(rows)))
    return sum(row['state'] not in ('ok', NOT_RUN) for row in rows)


def check_rows(tables: Sequence[Table], jobs: int, only: Sequence[Cell] | None = None) -> list[Row]:
    """Return what is to be said of every cell, or `only` of some."""
    cells = [(table, cell) for table in tables for cell in table.cells if only is None or cell in only]
    sources = list(dict.fromkeys(_source(cell) for _, cell in cells if cell.config is not None))
    pool = make_pool(jobs)
    try:
        readings = dict(zip(sources, work_through(read, sources, pool, 'configs read'), strict=True))
        kinds = list({kind.key: kind for reading in readings.values() for kind in reading.kinds}.values())
        trials = work_through(attempt, kinds, pool, 'models tried')
    finally:
        if pool is not None:
            pool.shutdown(cancel_futures=True)
    tried = {kind.key: trial for kind, trial in zip(kinds, trials, strict=True)}
    return [_row(table, cell, readings.get(_source(cell)) if cell.config else None, tried) for table, cell in cells]


def report(rows: Sequence[Row]) -> list[str]:
    """Return a line for every config with a problem, and one for all."""
    problems: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row['state'] not in ('ok', NOT_RUN):
            problems.setdefault((row['config'], row['problem']), []).append(row)
    lines = []
    for (config, problem), found in problems.items():
        where = ', '.join(dict.fromkeys(row['source'] or row['table'] for row in found))
        lines.append(f'configs/{config} ({where}): {problem}')
    runnable = [row for row in rows if row['state'] != NOT_RUN]
    good = sum(row['state'] == 'ok' for row in runnable)
    return [*lines, f'{good} of {len(runnable)} cells ok, {len(rows) - len(runnable)} printed as -']


def _row(table: Table, cell: Cell, reading: Reading | None, tried: dict[str, Trial | str]) -> Row:
    facts = {name: cell.facts.get(name) for name in ('dataset', 'backbone', 'method', 'loss', 'setting')}
    row = {'table': table.name, 'source': table.source, 'cell': cell.id, **facts, 'config': cell.config}
    if reading is None:
        return {**row, 'state': NOT_RUN, 'problem': ''}
    found = [tried[kind.key] for kind in reading.kinds]
    trials = [trial for trial in found if isinstance(trial, Trial)]
    problems = [reading.problem, *(trial for trial in found if isinstance(trial, str))]
    problems += _differences(table, cell, reading.values) if reading.state == 'ok' else []
    problem = '; '.join(dict.fromkeys(filter(None, problems)))
    state = reading.state if reading.state != 'ok' else 'failed' if problem else 'ok'
    return {**row, 'state': state, 'problem': problem, **reading.values, **_costs(trials, reading.values)}


def _costs(trials: Sequence[Trial], values: dict[str, Any]) -> dict[str, Any]:
    """Return the size of a model; of a mixture, what its costliest policy needs."""
    if not trials:
        return {}
    return {
        'parameters': trials[0].parameters,
        'gflops': round(trials[0].gflops, 3),
        'memory_gb': round(max(memory_gb(trial, values) for trial in trials), 2),
    }


def _differences(table: Table, cell: Cell, values: dict[str, Any]) -> list[str]:
    """Return where a config of the paper has other values than the paper."""
    if table not in paper_tables():
        return []
    printed = printed_cell(table, cell)
    expected = expected_semi_values(printed) if is_semi(printed) else expected_values(printed)
    wrong = {name: value for name, value in expected.items() if values[name] != value}
    return [f'{name} is {values[name]}, but {value} by the rules of the paper' for name, value in wrong.items()]


def _source(cell: Cell) -> Source:
    return str(cell.config), cell.options
