"""Does every cell's config load, validate, build and learn, with the values and the parts that its table asks for?"""

import json
import multiprocessing
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from openmix_dm.config.check import validate
from openmix_dm.config.load import load_config
from openmix_dm.config.resolve import resolve
from openmix_dm.config.settings import Settings, differences, flat, settings_of
from openmix_dm.config.shipped import CONFIGS
from openmix_dm.tables.cells import Cell, Said, Table
from openmix_dm.tables.config_values import resolved_values
from openmix_dm.tables.model_trial import Kind, TrialStep, kinds_of, memory_gb, try_kind
from openmix_dm.utils.files import write_atomically
from openmix_dm.utils.progress import track

Row = dict[str, Any]
NOT_RUN = '-'  # the state of a cell for which the paper prints no number


Source = tuple[str, tuple[str, ...]]  # a config, and the options that override it


@dataclass(frozen=True)
class ConfigFacts:
    """What a config says, or why it cannot be used."""

    values: dict[str, Any] = field(default_factory=dict)
    settings: Settings = field(default_factory=dict)
    kinds: tuple[Kind, ...] = ()
    state: str = 'ok'
    problem: str = ''


def check(tables: Sequence[Table], jobs: int = 2, json_path: Path | None = None) -> int:
    """Check tables without data or GPU, and say what is wrong; return the number of cells that are not ok.

    Args:
        tables: what to check.
        jobs: processes.
        json_path: where to write a line of facts about every cell.
    """
    rows = check_rows(tables, jobs)
    if json_path is not None:
        write_atomically(json_path, json.dumps(rows, indent=1) + '\n')
    print('\n'.join(report(rows)))
    return sum(row['state'] not in ('ok', NOT_RUN) for row in rows)


def check_rows(tables: Sequence[Table], jobs: int, only: Sequence[Cell] | None = None) -> list[Row]:
    """Return what is to be said of every cell, or `only` of some."""
    cells = [(table, cell) for table in tables for cell in table.cells if only is None or cell in only]
    sources = list(dict.fromkeys(_source(cell) for _, cell in cells if cell.config is not None))
    pool = make_pool(jobs)
    try:
        found = dict(zip(sources, work_through(read, sources, pool, 'reading configs'), strict=True))
        kinds = list({kind.key: kind for facts in found.values() for kind in facts.kinds}.values())
        trials = work_through(attempt, kinds, pool, 'trying models')
    finally:
        if pool is not None:
            pool.shutdown(cancel_futures=True)
    tried = {kind.key: trial for kind, trial in zip(kinds, trials, strict=True)}
    return [_row(table, cell, found.get(_source(cell)) if cell.config else None, tried) for table, cell in cells]


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


def _row(table: Table, cell: Cell, facts: ConfigFacts | None, tried: dict[str, TrialStep | str]) -> Row:
    said = {name: cell.facts.get(name) for name in ('dataset', 'backbone', 'method', 'loss', 'setting')}
    row = {'table': table.name, 'source': table.source, 'cell': cell.id, **said, 'config': cell.config}
    if facts is None:
        return {**row, 'state': NOT_RUN, 'problem': ''}
    found = [tried[kind.key] for kind in facts.kinds]
    trials = [trial for trial in found if isinstance(trial, TrialStep)]
    problems = [facts.problem, *(trial for trial in found if isinstance(trial, str))]
    problems += wrong_values(table, cell, facts.values, facts.settings) if facts.state == 'ok' else []
    problem = '; '.join(dict.fromkeys(filter(None, problems)))
    state = facts.state if facts.state != 'ok' else 'failed' if problem else 'ok'
    found_values = {**facts.values, **_costs(trials, facts.values), 'settings': facts.settings}
    return {**row, 'state': state, 'problem': problem, **found_values}


def _costs(trials: Sequence[TrialStep], values: dict[str, Any]) -> dict[str, Any]:
    """Return the size of a model; of a mixture, what its costliest policy needs."""
    if not trials:
        return {}
    return {
        'parameters': trials[0].parameters,
        'gflops': round(trials[0].gflops, 3),
        'memory_gb': round(max(memory_gb(trial, values) for trial in trials), 2),
    }


def wrong_values(table: Table, cell: Cell, values: dict[str, Any], settings: Settings) -> list[str]:
    """Return where a config has other values, or parts with other settings, than its table asks for."""
    expected = table.expected(cell) if table.expected is not None else {}
    wrong = {name: (values[name], value) for name, value in expected.items() if values[name] != value}
    told = [f'{name} is {found}, but {value} by the rules of the paper' for name, (found, value) in wrong.items()]
    said = table.settings(cell) if table.settings is not None else {}
    asked: Settings = {}
    for part, each in said.items():
        asked |= flat(each.part, part)
    for name, pair in differences(settings, asked, tuple(said)).items():
        if pair not in wrong.values():  # the rules have told it already
            told.append(f'{name} is {pair[0]}, but {pair[1]} by {_source_of(name, said)}')
    return told


def _source_of(name: str, said: Mapping[str, Said]) -> str:
    """Return who says what a setting is: the one who speaks of the smallest part that it belongs to."""
    parts = [part for part in said if name == part or name.startswith(f'{part}.')]
    return said[max(parts, key=len)].source


def _source(cell: Cell) -> Source:
    return str(cell.config), cell.options


def read(source: Source) -> ConfigFacts:
    """Load and validate a config; whatever is wrong is told, not raised."""
    name, options = source
    if not (CONFIGS / name).is_file():
        return ConfigFacts(state='missing', problem=f'there is no configs/{name}')
    try:
        config = load_config(CONFIGS / name, options)
        validate(config, options)
        resolve(config, world_size=1)
        return ConfigFacts(resolved_values(config), settings_of(config), tuple(kinds_of(config)))
    except Exception as error:  # of any kind: the others still have to be checked
        return ConfigFacts(state='failed', problem=f'{type(error).__name__}: {error}')


def attempt(kind: Kind) -> TrialStep | str:
    """Try a model; return what is wrong with it as text."""
    try:
        return try_kind(kind)
    except Exception as error:
        return f'{type(error).__name__}: {error}'


Item = TypeVar('Item')
Result = TypeVar('Result')


def work_through(
    work: Callable[[Item], Result], items: Sequence[Item], pool: ProcessPoolExecutor | None, what: str
) -> list[Result]:
    """Return the results in the order of the items; without a pool, work here. `what` names the work."""
    if pool is None:
        return [work(item) for item in track(items, len(items), what)]
    futures = [pool.submit(work, item) for item in items]
    for future in track(as_completed(futures), len(items), what):
        future.result()
    return [future.result() for future in futures]


def make_pool(jobs: int) -> ProcessPoolExecutor | None:
    """Start processes that each keep to one core; none for a single job."""
    if jobs <= 1:
        return None
    # Not forked: a process that has run torch's threads cannot be copied safely.
    return ProcessPoolExecutor(jobs, multiprocessing.get_context('spawn'), initializer=_keep_to_one_core)


def _keep_to_one_core() -> None:
    import torch

    torch.set_num_threads(1)
