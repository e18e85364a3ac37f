"""How far a run is, told by its folder alone."""

import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from openmix_dm.config.plain import read_plain_values
from openmix_dm.errors import ConfigError, DataError
from openmix_dm.runs.folder import CONFIG, RUN, RunFolder
from openmix_dm.runs.lock import held
from openmix_dm.runs.records import METRICS, last_record

Kind = Literal['waiting', 'running', 'done', 'failed', 'stopped', 'stale', 'damaged']
QUIET_SECONDS = 600  # a run that has written nothing for so long is taken for dead, where nothing else tells
STOPPED = ('preempted', 'failed: KeyboardInterrupt', 'failed: SystemExit')


@dataclass(frozen=True)
class State:
    """What a run folder says."""

    kind: Kind
    cause: str = ''
    epoch: int = 0
    epochs: int = 0
    seconds_left: float | None = None


def read_state(folder: Path) -> State:
    """Read the state of a run, from as little as tells it: a table has thousands.

    What is damaged is named, and costs this run alone.
    """
    run = RunFolder(folder)
    (record, problem), alive = run.open(), held(folder)
    if problem:
        return State('running' if alive else 'damaged', problem)
    said = record.get('state')
    if said is None:
        return State('running' if alive else 'waiting')
    try:
        problem = run.metrics_problem() if said != 'done' else ''  # what it says of a finished run is in run.json
        epoch = _epoch(folder, record)
    except DataError as error:
        return State('damaged', str(error))
    if said == 'done':
        return State('done', epoch=epoch, epochs=epoch)
    quiet, epochs = time.time() - last_written(folder), record.get('epochs') or epochs_of(settings_of(folder))
    if alive or (said == 'running' and alive is None and quiet < QUIET_SECONDS):
        return State('running', problem, epoch, epochs, seconds_left(run, settings_of(folder)))
    if problem:
        return State('damaged', problem, epoch, epochs)
    if str(said).startswith(STOPPED):
        return State('stopped', '', epoch, epochs)
    if str(said).startswith('failed'):
        return State('failed', str(said).removeprefix('failed').lstrip(': '), epoch, epochs)
    return State('stale', f'no process, last sign {ago(quiet)} ago', epoch, epochs)


def _epoch(folder: Path, record: dict[str, Any]) -> int:
    """Return the epoch that a run has come to; run.json holds it once the run has ended."""
    if record.get('epoch') is not None and record.get('state') != 'running':
        return record['epoch']
    last = last_record(folder / METRICS, 'train')
    return int(last['epoch']) if last else 0


def last_written(folder: Path) -> float:
    """Return when a run last wrote something."""
    files = [folder / name for name in (RUN, METRICS)]
    return max((file.stat().st_mtime for file in files if file.exists()), default=0.0)


def settings_of(folder: Path) -> dict[str, Any]:
    """Return the config that a run was started with, empty if there is none to read."""
    try:
        return read_plain_values(folder / CONFIG)
    except ConfigError:
        return {}


def epochs_of(settings: dict[str, Any]) -> int:
    """Return for how many epochs a config trains, 0 if it does not say."""
    loop = settings.get('train_cfg')
    epochs = loop.get('max_epochs', 0) if isinstance(loop, dict) else 0
    return epochs if isinstance(epochs, int) else 0


def seconds_left(folder: RunFolder, settings: dict[str, Any]) -> float | None:
    """Estimate the rest of the training from its latest speed; None before the first epoch is behind."""
    train, val = folder.records('train'), folder.records('val')
    ends = [record for record in val if record['epoch']] or [r for r in train if r['epoch'] < train[-1]['epoch']]
    rates = [rate for record in train[-10:] if isinstance(rate := record.get('images_per_s'), int | float) and rate > 0]
    batch = settings.get('global_batch_size')
    if not ends or not rates or not isinstance(batch, int):
        return None
    total = ends[-1]['iter'] / ends[-1]['epoch'] * epochs_of(settings)
    return max(0.0, total - train[-1]['iter']) * batch / statistics.median(rates)


def ago(seconds: float) -> str:
    """Return a length of time in the unit that fits it."""
    for size, unit in ((86400, 'd'), (3600, 'h'), (60, 'min')):
        if seconds >= 2 * size:
            return f'{seconds / size:.0f} {unit}'
    return f'{max(seconds, 0):.0f} s'
