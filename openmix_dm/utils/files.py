"""Files that are whole or not there, their hashes, and what to do when a disk is full."""

import hashlib
import logging
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TEMPORARY = '.tmp'  # ending of a file that is being written


def write_atomically(path: Path, content: str | bytes, sync: bool = True, shared: bool = False) -> None:
    """Write a file so that a reader sees the old or the new one, whole.

    Args:
        path: the file.
        content: all that it is to hold.
        sync: wait for the disk, so that this holds through a power cut too. Default: True.
        shared: other processes may write the same file at this moment. Default: False.
    """
    temporary = path.with_name(f'{path.name}{f".{secrets.token_hex(4)}" if shared else ""}{TEMPORARY}')
    try:
        with temporary.open('wb') as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def remove_temporary(folder: Path) -> None:
    """Remove what a crash in the middle of a write left behind."""
    for path in folder.glob(f'*{TEMPORARY}'):
        path.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make a rename last through a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sha256_of(path: Path) -> str:
    """Hash a file."""
    with path.open('rb') as file:
        return hashlib.file_digest(file, 'sha256').hexdigest()


class Dispensable:
    """Write what a run can do without: a failure is told once, and the run goes on.

    Args:
        what: the name of what is written, for the message.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self.failed = False

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Pass over an error of the disk."""
        try:
            yield
        except OSError as error:
            self.tell(error)

    def tell(self, error: BaseException) -> None:
        """Say once what is not written any more."""
        first, self.failed = not self.failed, True
        if first:
            print(f'openmix_dm: {self.what} cannot be written ({error}); training goes on', file=sys.stderr, flush=True)


def be_quiet_when_full(handler: logging.Handler) -> None:
    """Let a log that cannot be written say so once instead of printing a traceback for each line."""
    dispensable = Dispensable('the log')

    def handle(record: logging.LogRecord) -> None:
        dispensable.tell(sys.exc_info()[1] or OSError())

    handler.handleError = handle  # type: ignore[method-assign]
