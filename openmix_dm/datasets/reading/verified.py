"""Hashes of large files, looked at once a day: hashing a gigabyte takes seconds, at every start, on every rank."""

import json
import time
from pathlib import Path
from typing import Any

from openmix_dm.datasets.reading.index_cache import FOLDER
from openmix_dm.utils.files import sha256_of, write_atomically
from openmix_dm.utils.sealed import read_sealed, seal

DAY = 86400.0  # seconds for which a hash that was right is taken to be right, while size and time of the file stay


def has_hash(path: Path, expected: str | None) -> bool:
    """Say whether a file has a sha256; that it had is kept beside it for a day, where that can be written.

    Args:
        path: the file.
        expected: what its hash has to be; None is no hash.
    """
    note, found = path.parent / FOLDER / f'{path.name}.verified', path.stat()
    state = {'size': found.st_size, 'mtime_ns': found.st_mtime_ns, 'inode': found.st_ino, 'hash': expected}
    if _is_noted(note, state):
        return True
    if sha256_of(path) != expected:
        return False
    try:
        note.parent.mkdir(exist_ok=True)
        if not note.parent.is_symlink():
            text = json.dumps(seal({**state, 'checked': time.time()}))
            write_atomically(note, text, sync=False, shared=True)
    except OSError:  # a folder of somebody else: hashed at each start
        pass
    return True


def _is_noted(note: Path, state: dict[str, Any]) -> bool:
    try:
        noted = read_sealed(note, sealed=True)
        return noted | state == noted and 0 <= time.time() - noted['checked'] < DAY
    except (OSError, ValueError, KeyError, TypeError):
        return False
