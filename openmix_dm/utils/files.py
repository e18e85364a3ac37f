"""Files that are whole or not there, their hashes, and what to do when a disk is full."""

import errno
import hashlib
import logging
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

TEMPORARY = '.tmp'  # ending of a file that is being written
LARGE = 2**26  # bytes; no small file of ours comes near it, and what does is not read into memory


def read_plainly(path: Path, limit: int = LARGE, follow: bool = False, last: int | None = None) -> bytes:
    """Return the content of a plain file; refuse a link, a pipe or a device, which could lead elsewhere or never end.

    Args:
        path: the file.
        limit: bytes that it may have at most. Default: 64 MiB.
        follow: read through a link, as caches of downloads hold their files. Default: False.
        last: read only so many bytes, from the end; None reads all. Default: None.
    """
    handle = _open_plainly(path.resolve() if follow else path, os.O_RDONLY)
    with os.fdopen(handle, 'rb') as file:
        size = os.fstat(handle).st_size
        if size > limit:
            raise OSError(f'{path} has {size:,} bytes, expected at most {limit:,}')
        file.seek(0 if last is None else max(size - last, 0))
        return file.read(limit)


def append_plainly(path: Path) -> BinaryIO:
    """Open a file to write at its end; a link in its place is refused, not followed."""
    return os.fdopen(_open_plainly(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT), 'ab')


def create_anew(path: Path) -> BinaryIO:
    """Open a new file to write, in place of whatever has its name: a link is removed, not followed."""
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666), 'wb')


def _open_plainly(path: Path, flags: int) -> int:
    try:  # not blocking: opening a pipe would wait for its other end
        handle = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(f'{path} is a link, which is not followed') from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(f'{path} is no plain file')
    return handle


def others_can_write(folder: Path) -> bool:
    """Say whether somebody else can put files into a folder: all users, or a group that we are not the only one of."""
    found = folder.stat()
    shared_by_all = found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX
    return bool(shared_by_all or (found.st_mode & stat.S_IWGRP and found.st_gid not in (0, os.getgid())))


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
        with create_anew(temporary) as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def written_by_name(path: Path) -> Iterator[Path]:
    """Give a library that opens files by itself a name to write to; what it has written there becomes `path`, whole.

    Its mode is the one that every new file has here (the umask's), whatever the library gives it: safetensors writes
    files that nobody else can read.
    """
    temporary = path.with_name(f'{path.name}{TEMPORARY}')
    try:
        with create_anew(temporary) as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        yield temporary
        with temporary.open('rb') as file:
            os.fchmod(file.fileno(), mode)
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


def hash_start(path: Path, size: int) -> str | None:
    """Hash the first bytes of a file that grows; None if it has fewer."""
    try:
        content = read_plainly(path, limit=2**32)
    except FileNotFoundError:
        content = b''
    return hashlib.sha256(memoryview(content)[:size]).hexdigest() if len(content) >= size else None


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
