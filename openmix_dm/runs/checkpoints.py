"""Checkpoints on disk: plain data, written so that a crash at any moment leaves a good one.

Plain data (tensors, numbers, strings, lists, dicts) is what torch's safe loader takes, so nothing is ever unpickled
that could run code. Each carries a hash of what it holds, so that it can be checked wherever it lies. The order of a
save: temporary file, sync, rename, index; then the oldest is removed.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from openmix_dm.errors import CheckpointError, Failure, ResourceError, first_line
from openmix_dm.utils.files import (
    TEMPORARY,
    create_anew,
    read_plainly,
    remove_temporary,
    sha256_of,
    sync_folder,
    write_atomically,
)
from openmix_dm.utils.sealed import read_sealed, seal
from openmix_dm.utils.tensor_files import CONTENT_SUM, content_hash, read_tensor_file

INDEX = 'checkpoints.json'


@dataclass(frozen=True)
class Entry:
    """One checkpoint as the index knows it."""

    file: str
    iter: int
    sha256: str | None = None  # of the file, in an index of an older version; now a file carries its own


def _age(entry: Entry) -> tuple[int, bool]:
    return entry.iter, entry.file.startswith('epoch')  # of the last iteration of an epoch: saved after its validation


class CheckpointStore:
    """The checkpoints of one run folder; file names are kept relative, so that the folder can move."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, state: dict[str, Any], name: str, iteration: int, keep: int | None) -> Path:
        """Write a checkpoint and then remove all but the newest `keep` of them; None removes nothing."""
        final = self.folder / name
        save_file(state, final)
        entry = Entry(name, iteration)
        found = sorted([*(old for old in self.entries() if old.file != name), entry], key=_age)
        surplus = max(len(found) - keep, 0) if keep is not None else 0
        doomed, kept = found[:surplus], found[surplus:]
        listed = [{'file': each.file, 'iter': each.iter, 'sha256': each.sha256} for each in kept]
        write_atomically(self.folder / INDEX, json.dumps(seal({'checkpoints': listed}), indent=1))
        for old in doomed:
            (self.folder / old.file).unlink(missing_ok=True)
        return final

    def entries(self) -> list[Entry]:
        """Return all checkpoints of the folder, oldest first."""
        known = {entry.file: entry for entry in self._read_index()}
        for path in self.folder.glob('*.pth'):
            kind, _, number = path.stem.partition('_')
            if path.name not in known and kind in ('epoch', 'iter') and number.isdigit():
                iteration = _iteration_in(path)
                estimate = int(number) * (_epoch_length(list(known.values())) if kind == 'epoch' else 1)
                known[path.name] = Entry(path.name, estimate if iteration is None else iteration)
        return sorted((e for e in known.values() if (self.folder / e.file).is_file()), key=_age)

    def newest(self, warn: Callable[[str], None]) -> tuple[Path, dict[str, Any]] | None:
        """Return the newest checkpoint that verifies and loads, None if there is none; warn about each bad one."""
        entries = self.entries()
        for entry in reversed(entries):
            path = self.folder / entry.file
            try:
                if path.is_symlink():
                    raise CheckpointError(f'{path} is a link, which is not followed')
                state = load_file(path, entry.sha256)
            except CheckpointError as error:
                warn(f'{error}; falling back to the checkpoint before it')
                continue
            lost = entries[-1].iter - entry.iter
            if lost:
                warn(f'{lost} iterations are lost and will be run again')
            return path, state
        if entries:
            raise CheckpointError(f'none of the {len(entries)} checkpoints in {self.folder} can be loaded')
        return None

    def clean(self) -> None:
        """Remove what a crash in the middle of a save left behind."""
        remove_temporary(self.folder)

    def index_is_damaged(self) -> bool:
        """Say whether the index cannot be read; then the files tell, only slower."""
        try:
            return not isinstance(_listed(self.folder / INDEX), list)
        except (OSError, ValueError, LookupError, RecursionError):
            return True

    def _read_index(self) -> list[Entry]:
        """Return what the index lists, nothing if it is damaged: the files tell too, only slower."""
        path = self.folder / INDEX
        try:
            entries = [Entry(**entry) for entry in _listed(path)]
        except (OSError, ValueError, TypeError, LookupError, RecursionError):
            return []
        for entry in entries:
            if not _is_name(entry.file):  # what it names is read, and removed when it is old
                raise CheckpointError(
                    f'{path} lists {entry.file!r}, expected the name of a file in its folder; delete {INDEX}: it is '
                    'made anew from the checkpoints'
                )
        return [entry for entry in entries if isinstance(entry.iter, int)]


def _listed(path: Path) -> Any:
    """Return the entries of an index; older versions wrote a bare list without a hash of itself."""
    if read_plainly(path).lstrip().startswith(b'['):
        return json.loads(read_plainly(path))
    return read_sealed(path, sealed=True, follow=False)['checkpoints']


def _is_name(file: Any) -> bool:
    """Say whether this is the name of a file, and no path that could lead out of a folder."""
    return isinstance(file, str) and file not in ('', '.', '..') and not set(file) & {'/', '\\', '\0'}


def save_file(state: dict[str, Any], path: Path) -> None:
    """Write a file of plain data, with a hash of it inside, under a temporary name, sync it and rename it.

    Where there is no room, try once more after what is left of broken saves is gone.
    """
    state = {**state, CONTENT_SUM: content_hash(state)}
    temporary = path.with_name(path.name + TEMPORARY)
    try:
        _write(state, temporary)
    except (OSError, RuntimeError):  # torch turns an error of the disk into a RuntimeError
        remove_temporary(path.parent)
        try:
            _write(state, temporary)
        except (OSError, RuntimeError) as error:
            remove_temporary(path.parent)
            raise no_room(path, state, error) from None
    temporary.replace(path)
    sync_folder(path.parent)


def _write(state: dict[str, Any], path: Path) -> None:
    with create_anew(path) as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())


def no_room(path: Path, state: Any, error: BaseException) -> ResourceError:
    """Return an error with the bytes that are needed and those that are left."""
    free = shutil.disk_usage(path.parent).free
    why = str(error).strip().splitlines()[0][:150] if str(error).strip() else type(error).__name__
    return ResourceError(
        f'{path.name} cannot be written to {path.parent}: it needs about {tensor_bytes(state):,} bytes, {free:,} are '
        f'free ({why}). The checkpoints before it are intact: make room, then go on with --resume'
    )


def tensor_bytes(state: Any) -> int:
    """Return the size of all tensors in nested dicts and lists."""
    if isinstance(state, torch.Tensor):
        return state.numel() * state.element_size()
    inner = state.values() if isinstance(state, dict) else state if isinstance(state, list | tuple) else ()
    return sum(tensor_bytes(each) for each in inner)


def load_file(path: str | Path, sha256: str | None = None) -> dict[str, Any]:
    """Load a checkpoint of plain data onto the CPU; refuse a damaged file and one that would run code.

    Args:
        path: the file; wherever it lies, what it holds is checked by the hash inside it.
        sha256: the hash of the file, as indexes of older versions have it. Default: None.
    """
    path = Path(path)
    if path.is_dir():
        raise CheckpointError(f'{path} is a folder; expected a checkpoint in it, such as {path / "epoch_40.pth"}')
    if not path.is_file():
        raise CheckpointError(f'there is no checkpoint {path}')
    try:
        if sha256 is not None and sha256_of(path) != sha256:
            raise ValueError('is damaged: its hash is not the one that was stored when it was written')
        state, verified = read_tensor_file(path)
    except (OSError, ValueError) as error:
        raise CheckpointError(f'{path} {error}') from None
    if not isinstance(state, dict):
        raise CheckpointError(f'{path} holds a {type(state).__name__}, expected a dict with a state_dict')
    if not verified and sha256 is None:
        warn_unverified(path)
    return state


def warn_unverified(path: Path) -> None:
    """Say once that a file is used although nothing tells whether it is what was saved."""
    if str(path) not in _UNVERIFIED:
        _UNVERIFIED.add(str(path))
        text = f'{path} carries no hash of what it holds (it is older, or from elsewhere): damage may go unnoticed'
        print(f'openmix_dm: warning: {text}', file=sys.stderr, flush=True)


_UNVERIFIED: set[str] = set()  # files that have been warned about


@contextmanager
def usable(path: str | Path) -> Iterator[None]:
    """Blame a checkpoint for what goes wrong while its content is used: it can be whole, and of something else."""
    try:
        yield
    except (Failure, torch.OutOfMemoryError):
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError) as error:
        raise CheckpointError(
            f'{path} does not fit this run: {type(error).__name__}: {first_line(error)}; is it a checkpoint of this '
            'config?'
        ) from error


def weights_in(state: dict[str, Any], ema: bool = False) -> dict[str, torch.Tensor]:
    """Return the weights of a checkpoint, or of a bare state dict."""
    if ema and 'ema_state_dict' not in state:
        raise CheckpointError('the checkpoint has no EMA weights; it was trained without EMA')
    weights = state['ema_state_dict'] if ema else state.get('state_dict', state)
    if not isinstance(weights, dict) or not all(isinstance(key, str) for key in weights):
        raise CheckpointError(f'the checkpoint holds no named weights, but a {type(weights).__name__}')
    return weights


def fill_model(
    model: torch.nn.Module, weights: dict[str, torch.Tensor], path: str | Path, training: bool = False
) -> list[str]:
    """Load weights that came from a file into a model; every key has to fit. Return which of its own were missing.

    Parts that only training needs, a learned mixer or the terms of a loss, may be missing: averaged weights come
    without them, and what they know of the training set is of no use, and of no size, without it.
    """
    optional = tuple(f'{part}.' for part in getattr(model, 'training_only', ()))
    if not training:
        own = model.state_dict()
        weights = {
            key: value
            for key, value in weights.items()
            if not (key.startswith(optional) and key in own and own[key].shape != value.shape)
        }
    try:
        missing, unexpected = model.load_state_dict(weights, strict=False)
    except RuntimeError as error:
        raise CheckpointError(f'{path} does not fit the model of the config: {error}') from None
    wrong = [key for key in (*missing, *unexpected) if not key.startswith(optional)]
    if wrong:
        raise CheckpointError(
            f'{path} does not fit the model of the config: {len(missing)} keys are missing, {len(unexpected)} are '
            f'unexpected, such as {", ".join(wrong[:3])}'
        )
    return missing


def _iteration_in(path: Path) -> int | None:
    """Return the iteration that a file is of, None if it is damaged."""
    try:
        return int(load_file(path)['meta']['iter'])
    except (CheckpointError, KeyError, TypeError, ValueError):
        return None


def _epoch_length(entries: list[Entry]) -> int:
    """Return the iterations of an epoch as other checkpoints tell them, 1 if none does."""
    for entry in entries:
        kind, _, number = Path(entry.file).stem.partition('_')
        if kind == 'epoch' and number.isdigit() and int(number):
            return entry.iter // int(number)
    return 1
