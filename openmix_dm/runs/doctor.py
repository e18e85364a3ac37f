"""What is damaged, stale or left over in run folders, and what to do about each."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from openmix_dm.config.plain import read_plain_values
from openmix_dm.errors import CheckpointError, ConfigError, DataError
from openmix_dm.runs.checkpoints import INDEX, CheckpointStore, load_file
from openmix_dm.runs.folder import BOARD, CONFIG, LOG, MARKER, RUN, RunFolder
from openmix_dm.runs.lock import LOCK, held
from openmix_dm.runs.records import METRICS
from openmix_dm.runs.state import ago, read_state
from openmix_dm.utils.files import TEMPORARY, others_can_write

OURS = (RUN, CONFIG, METRICS, INDEX, LOCK, LOG, MARKER, BOARD)
GO_ON = 'start the run again with --resume'


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be."""

    kind: Literal['damaged', 'stale', 'left', 'unsafe']
    place: Path
    problem: str
    advice: str


def find_runs(root: Path) -> list[Path]:
    """Return all run folders in and below a folder, in order."""
    if not root.is_dir():
        raise ConfigError(f'there is no folder {root}; name the one that holds the runs with --work-dirs')
    names = (RUN, METRICS, INDEX, LOCK)
    return sorted({path.parent for name in names for path in root.rglob(name)})


def examine(folder: Path) -> list[Finding]:
    """Look at every file of a run folder, the checkpoints wholly; nothing is changed."""
    if held(folder):
        return []  # somebody is writing it at this moment
    return [*_links(folder), *_small_files(folder), *_checkpoints(folder), *_rests(folder)]


def _small_files(folder: Path) -> Iterator[Finding]:
    run = RunFolder(folder)
    problem = run.open()[1]
    if problem:
        yield Finding('damaged', folder / RUN, problem, f'{GO_ON}: it is written anew; checkpoints and metrics stay')
    try:
        if problem := run.metrics_problem():
            yield Finding('damaged', folder / METRICS, problem, _mend_metrics(run))
    except DataError as error:
        yield Finding('damaged', folder / METRICS, str(error), 'remove it, and ' + GO_ON)
    try:
        if (folder / CONFIG).exists():
            read_plain_values(folder / CONFIG)
    except ConfigError as error:
        yield Finding('damaged', folder / CONFIG, str(error), f'delete it, and {GO_ON} and the config of the run')
    else:
        if (folder / CONFIG).exists() and (problem := run.config_problem()):
            yield Finding('damaged', folder / CONFIG, problem, f'delete it, and {GO_ON} and the config of the run')


def _mend_metrics(run: RunFolder) -> str:
    if run.read().get('state') == 'done':
        return f'the numbers of the run are safe in {RUN}; only its curves have holes'
    return 'numbers of the validations that are lost are missing in the final ones: start the run anew to have them'


def _checkpoints(folder: Path) -> Iterator[Finding]:
    store = CheckpointStore(folder)
    try:
        entries = store.entries()
    except CheckpointError as error:
        yield Finding('damaged', folder / INDEX, str(error), 'delete it: it is made anew from the checkpoints')
        return
    if (folder / INDEX).exists() and store.index_is_damaged():
        yield Finding('damaged', folder / INDEX, 'it cannot be read', 'delete it: it is made anew by the next save')
    sums = {entry.file: entry.sha256 for entry in entries}
    for path in sorted(folder.glob('*.pth')):
        try:
            load_file(path, sums.get(path.name))
        except CheckpointError as error:
            others = len(sums) - 1
            advice = f'delete it: {GO_ON}, which takes the one before' if others > 0 else 'delete it, and start anew'
            yield Finding('damaged', path, str(error), advice)


def _rests(folder: Path) -> Iterator[Finding]:
    for path in sorted(folder.glob(f'*{TEMPORARY}')):
        yield Finding('left', path, 'the rest of a write that was broken off', f'delete it, or {GO_ON}')
    if (folder / LOCK).exists():
        age = ago(time.time() - (folder / LOCK).lstat().st_mtime)
        yield Finding('left', folder / LOCK, f'a lock without a living job, {age} old', f'delete it, or {GO_ON}')
    state = read_state(folder)
    if state.kind == 'stale':
        yield Finding('stale', folder, state.cause, GO_ON)
    elif (folder / MARKER).exists():
        yield Finding('left', folder / MARKER, 'the run waits to be started again', GO_ON)
    if others_can_write(folder):
        yield Finding('unsafe', folder, 'others can write to it, and so change the run', 'chmod go-w')


def _links(folder: Path) -> Iterator[Finding]:
    for path in sorted(folder.iterdir()):
        if path.is_symlink() and (path.name in OURS or path.suffix in ('.pth', TEMPORARY)):
            yield Finding(
                'unsafe', path, 'a link, through which nothing is read or written', 'put the file itself there'
            )
