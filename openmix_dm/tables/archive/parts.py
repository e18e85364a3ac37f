"""Collect a table from files of earlier collections instead of work dirs; a table may come in several parts."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from openmix_dm.errors import DataError
from openmix_dm.runs.folder import check_shapes
from openmix_dm.runs.state import Kind, State
from openmix_dm.tables.archive.run_entries import KIND, Key, key_of
from openmix_dm.tables.cells import Cell, Table
from openmix_dm.tables.plan import run_folder
from openmix_dm.tables.results import Configs, Result, Results, Trial, settings_match, value_of
from openmix_dm.utils.sealed import read_sealed

Entry = dict[str, Any]
SHAPES: dict[str, Any] = {'config': str, 'options': list, 'seed': int, 'cause': str, 'problem': str}
SHAPES |= {
    'epoch': int,
    'epochs': int,
    'hardware': dict,
    'changes': dict,
    'measures': dict,
    'final': dict,
    'values': dict,
}
GROWING = ('measures', 'changes', 'problem', 'validations')  # what may differ between two parts that hold a run


def collect_parts(table: Table, paths: Sequence[Path], trials: int | None = None) -> Results:
    """Return the results of a table from files that `collect --format json` wrote, of this table or of another."""
    entries: dict[Key, tuple[Entry, Path]] = {}
    known = {key_of(cell, seed) for cell in table.runnable() for seed in table.seeds(trials)}
    for path in paths:
        part = read_part(path)
        if part and not part.keys() & known:
            raise DataError(
                f'{path} holds {len(part)} runs, and none of them is of {table.name}; is it of another table?'
            )
        for key, entry in part.items():
            entries[key] = (merge(key, entries[key], (entry, path)), path) if key in entries else (entry, path)
    configs: Configs = {}
    results, wanted = {}, table.seeds(trials)
    for cell in table.cells:
        runs = [make_trial(cell, seed, entries, configs) for seed in (wanted if cell.config else ())]
        results[cell.id] = Result(cell, len(wanted), tuple(runs))
    return Results(table, results)


def read_part(path: Path) -> dict[Key, Entry]:
    """Return the runs of a file; what is damaged, or none of ours, is refused with its name."""
    try:
        values = read_sealed(path)
        if values.get('kind') != KIND or not isinstance(values.get('runs'), list):
            raise ValueError('it holds no runs of a table')
        read_sealed(path, sealed=True)
        entries = [checked(entry) for entry in values['runs']]
    except (OSError, ValueError, RecursionError) as error:
        said = error.strerror or error if isinstance(error, OSError) else error
        raise DataError(
            f'{path} cannot be collected: {said}; it has to be what `collect --format json` wrote'
        ) from None
    found = {_key(entry): entry for entry in entries}
    if len(found) < len(entries):
        raise DataError(f'{path} cannot be collected: it holds a run twice')
    return found


def _key(entry: Entry) -> Key:
    return entry['config'], tuple(entry['options']), entry['seed']


def checked(entry: Any) -> Entry:
    """Return an entry if it has the shape of a run; a ValueError says what is wrong with it."""
    if not isinstance(entry, dict):
        raise ValueError(f'a run is {entry!r:.50}')
    for name, shape in SHAPES.items():
        if not isinstance(entry.get(name), shape) or isinstance(entry[name], bool):
            raise ValueError(f'{name} of a run is {entry.get(name)!r:.50}')
    if entry.get('state') not in get_args(Kind):
        raise ValueError(f'state of a run is {entry.get("state")!r:.50}')
    check_shapes(entry)
    if not isinstance(entry['hardware'].get('gpus', []), list):
        raise ValueError(f'hardware of a run is {entry["hardware"]!r:.50}')
    if not all(isinstance(option, str) for option in entry['options']):
        raise ValueError(f'options of a run are {entry["options"]!r:.50}')
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in entry['changes'].values()):
        raise ValueError(f'changes of a run are {entry["changes"]!r:.50}')
    for value in entry['measures'].values():
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(f'measures of a run are {entry["measures"]!r:.50}')
    return entry


def merge(key: Key, one: tuple[Entry, Path], other: tuple[Entry, Path]) -> Entry:
    """Return one entry of the two that two parts have of a run: the later state of it, and all that was measured.

    A finished run is the same in both, or it was run twice; which one counts is not for us to say.
    """
    first, second = sorted(  # of two that are done, the one that tells more: older files do not count validations
        (one[0], other[0]), key=lambda entry: (entry['state'] == 'done', entry['epoch'], 'validations' in entry)
    )
    shared = first['measures'].keys() & second['measures'].keys()
    differ = ['id'] if first.get('id') != second.get('id') else []
    if first['state'] == second['state'] == 'done':
        names = (first.keys() | second.keys()) - set(GROWING)
        differ = sorted(name for name in names if first.get(name) != second.get(name))
    differ += sorted(name for name in shared if first['measures'][name] != second['measures'][name])
    if differ:
        config, options, seed = key
        name = ' '.join((config, *options, f'seed {seed}'))
        raise DataError(f'{one[1]} and {other[1]} do not agree on {name}: they differ in {", ".join(differ)}')
    return {**second, 'measures': {**first['measures'], **second['measures']}}


def make_trial(cell: Cell, seed: int, entries: Mapping[Key, tuple[Entry, Path]], configs: Configs) -> Trial:
    """Return a run of a cell, waiting if no part holds it."""
    name = str(run_folder(cell, seed, Path()))
    found = entries.get(key_of(cell, seed))
    if found is None:
        return Trial(seed, None, State('waiting'), None, name=name)
    entry = found[0]
    state = State(entry['state'], entry['cause'], entry['epoch'], entry['epochs'])
    value = value_of(cell, entry, entry['measures'].get)
    return Trial(seed, None, state, value, entry, _changes(cell, seed, entry, configs), entry['problem'], name)


def _changes(cell: Cell, seed: int, entry: Entry, configs: Configs) -> dict[str, tuple[Any, Any]]:
    """Return in what a run differs from the config: as it was said when it was collected, or at least that it does."""
    same, _ = settings_match(cell, seed, entry, configs)
    if same:
        return {}
    said = {name: (pair[0], pair[1]) for name, pair in entry['changes'].items()}
    return said or {'the config': (entry.get('config_hash'), 'what it is now')}
