"""A claim on a run folder: two `table.py run` at once never train the same thing twice."""

import fcntl
import json
import os
import platform
from pathlib import Path
from typing import IO

CLAIM = 'table.lock'


class Claim:
    """Hold a lock on a run folder for as long as this process, or a child that inherits the lock, lives."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    @property
    def handle(self) -> int:
        """Return what a child has to inherit (pass_fds) so that its own life keeps the claim, too."""
        return self._file.fileno()

    def release(self) -> None:
        """Give the folder free, unless a child still holds it."""
        self._file.close()


def claim(folder: Path) -> Claim | None:
    """Claim a folder; None where somebody else holds it."""
    folder.mkdir(parents=True, exist_ok=True)
    file = (folder / CLAIM).open('a+')
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    file.truncate(0)
    json.dump({'node': platform.node(), 'pid': os.getpid()}, file)
    file.flush()
    return Claim(file)


def claimed(folder: Path) -> bool | None:
    """Say whether a folder is claimed; None where that cannot be told from here: never claimed, or by another node."""
    try:
        with (folder / CLAIM).open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            return False if _node_of(file.read()) == platform.node() else None
    except FileNotFoundError:
        return None


def _node_of(text: str) -> str | None:
    try:
        return json.loads(text).get('node')
    except ValueError:
        return None
