"""A run of a table as an entry of a file: all that collecting it again needs, and nothing that names the machine."""

import re
from pathlib import Path
from typing import Any

from openmix_dm.errors import ConfigError, DataError
from openmix_dm.runs.folder import warn
from openmix_dm.tables.cells import Cell
from openmix_dm.tables.measures import find_measure, metrics_in
from openmix_dm.tables.results import Results, Trial, reached

KIND = 'openmix_dm table'  # how such a file says what it is
Key = tuple[str, tuple[str, ...], int]  # config, options, seed
# of run.json; how a run failed may name anything, so that its state is that of the table: done, failed, ...
KEPT = (
    'id', 'config_hash', 'version', 'commits', 'world_size', 'hardware', 'start', 'resumed', 'end', 'hours',
    'images_per_s', 'peak_memory_mb', 'validations',
)  # fmt: skip
PLACE = re.compile(r'(?<![\w.])(?:~|\b[A-Za-z]:)?[/\\](?:[^\s/\\\'",;:()\[\]{}=]+[/\\])*(?=[\w.])')


def without_places(value: Any) -> Any:
    """Return a text, or nested data, in which absolute paths have lost all but their last part: '.../weights.pth'."""
    if isinstance(value, str):
        return PLACE.sub('.../', value)
    if isinstance(value, dict):
        return {key: without_places(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_places(inner) for inner in value]
    return value if value is None or isinstance(value, int | float) else repr(value)  # a class, in a config


def config_name(cell: Cell) -> str | None:
    """Return folder and file of a cell's config: what names its runs."""
    return None if cell.config is None else '/'.join(Path(cell.config).parts[-2:])


def key_of(cell: Cell, seed: int) -> Key:
    """Return what tells a run of a cell from all others."""
    return config_name(cell) or '', tuple(sorted(map(without_places, cell.options))), seed


def run_entries(results: Results) -> list[dict[str, Any]]:
    """Return an entry for each run that has begun."""
    entries: dict[Key, dict[str, Any]] = {}
    places: dict[Key, str] = {}
    for result in results.by_id.values():
        for trial in result.trials:
            key = key_of(result.cell, trial.seed)
            if places.setdefault(key, trial.place) != trial.place:
                raise ConfigError(
                    f'{trial.place} and {places[key]} differ only by the folders of paths in their options, which are '
                    'not written to a file; name the files differently'
                )
            if trial.record and key not in entries:
                entries[key] = run_entry(key, trial)
    return list(entries.values())


def run_entry(key: Key, trial: Trial) -> dict[str, Any]:
    """Return the entry of a run."""
    config, options, seed = key
    state, record = trial.state, trial.record
    numbers = record if trial.folder is None else reached(trial.folder, record, state)
    return {
        'config': config,
        'options': list(options),
        'seed': seed,
        'state': state.kind,
        'cause': state.cause.partition(':')[0],
        'epoch': state.epoch,
        'epochs': state.epochs,
        **{name: without_places(record[name]) for name in KEPT if record.get(name) is not None},
        'final': numbers.get('final') or {},
        'values': numbers.get('values') or {},
        'measures': measures_of(trial),
        'changes': without_places({name: list(pair) for name, pair in trial.changes.items()}),
        'problem': without_places(trial.problem).partition(':')[0],
    }


def measures_of(trial: Trial) -> dict[str, float]:
    """Return all that was measured of a run, by metric; what is damaged is said and left out."""
    if trial.folder is None:
        return trial.record.get('measures') or {}
    found = {}
    for metric in metrics_in(trial.folder.path):
        try:
            value = find_measure(metric).read(trial.folder.path)
        except DataError as error:
            warn(str(error))
            continue
        if value is not None:
            found[metric] = value
    return found
