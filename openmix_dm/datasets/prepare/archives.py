"""Tar archives to files: only plain members with expected names, each written whole or not at all."""

import errno
import hashlib
import re
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from openmix_dm.errors import DataError, ResourceError
from openmix_dm.utils.files import write_atomically
from openmix_dm.utils.progress import Progress

Advance = Callable[[int], None]
CHUNK = 1 << 22
PLAIN_TYPES = (tarfile.REGTYPE, tarfile.AREGTYPE)  # no sparse files: they may claim to be larger than the archive


@contextmanager
def open_tar(
    path: Path, inner: IO[bytes] | None = None, label: str = '', mode: str = 'r:', expected: str = 'a whole tar archive'
) -> Iterator[tarfile.TarFile]:
    """Open an archive, or one inside it, which label names; what goes wrong with reading it is a DataError."""
    try:
        with tarfile.open(None if inner else path, mode, fileobj=inner) as tar:  # type: ignore[call-overload]
            yield tar
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        hint = f'got "{error}"; download it again if it is cut short'
        raise DataError(f'{label or path} cannot be read: expected {expected}, {hint}') from error


def check_member(member: tarfile.TarInfo, label: str) -> None:
    """Refuse a member that could write outside the target, or that is no file at all."""
    path = PurePosixPath(member.name)
    if path.is_absolute() or '..' in path.parts:
        raise DataError(f'{label} holds {member.name!r}, which leads out of the target folder; it is not unpacked')
    if member.type not in PLAIN_TYPES and not member.isdir():
        raise DataError(
            f'{label} holds {member.name!r}, expected plain files, got a link or a device; it is not unpacked'
        )


def list_files(tar: tarfile.TarFile, expected: re.Pattern[str], label: str) -> dict[str, tarfile.TarInfo]:
    """Return the files by the first group of the expected name; refuse the archive if any member is not as expected."""
    files = {}
    for member in tar:
        check_member(member, label)
        if member.isdir():
            continue
        match = expected.fullmatch(member.name)
        if match is None:
            raise DataError(f'{label} holds {member.name!r}, expected only names like {expected.pattern}')
        files[match.group(1)] = member
    return files


def read_named(tar: tarfile.TarFile, name: str, label: str) -> bytes:
    """Read one file of a small archive."""
    try:
        member = tar.getmember(name)
    except KeyError:
        raise DataError(f'{label} has no {name}; expected the official archive') from None
    check_member(member, label)
    return open_member(tar, member, label).read()


def open_member(tar: tarfile.TarFile, member: tarfile.TarInfo, label: str) -> IO[bytes]:
    """Open a member where it lies in the archive: nothing is copied."""
    content = tar.extractfile(member)
    if content is None:
        raise DataError(f'{label} holds {member.name!r}, expected a plain file, got a folder')
    return content


def unpack(tar: tarfile.TarFile, targets: Mapping[Path, tarfile.TarInfo], label: str, advance: Advance) -> int:
    """Write each member to its path; return how many were written, the others had a file of the right size."""
    written = 0
    for path, member in targets.items():
        if not has_size(path, member.size):
            write_file(path, open_member(tar, member, label).read())
            written += 1
        advance(member.size)
    return written


def has_size(path: Path, size: int) -> bool:
    """Tell if there is a file of this size."""
    try:
        return path.is_file() and path.stat().st_size == size
    except OSError:
        return False


def write_file(path: Path, content: bytes) -> None:
    """Write a file that is whole as soon as it has its name, in a folder that is made if it is not there."""
    with explain_write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content, sync=False)  # a million images: one that is lost is made again


@contextmanager
def explain_write_errors(path: Path) -> Iterator[None]:
    """Turn errors of the file system into a line that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            todo = 'free some space and run the same command again, it goes on where it stopped'
            raise ResourceError(f'no space left to write {path}; {todo}') from error
        raise ResourceError(
            f'{path} cannot be written ({error.strerror}); give a --root that you may write to'
        ) from error


def check_target(folder: Path, size: int) -> None:
    """Make the folder; refuse one that cannot be written or whose disk cannot hold size bytes, before hours of work."""
    with explain_write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        free = shutil.disk_usage(folder).free
    if free >= size:
        return
    present = sum(file.stat().st_size for file in folder.rglob('*') if file.is_file())  # of a run before this one
    if free + present < size:
        raise ResourceError(
            f'the disk of {folder} has too little space: expected {(size - present) / 1e9:.1f} GB free, '
            f'got {free / 1e9:.1f} GB; free some or give another --root'
        )


def require_file(path: Path, option: str, expected: str) -> None:
    """Refuse a path on the command line that is no file."""
    if not path.is_file():
        got = 'a folder' if path.is_dir() else 'no such file'
        raise DataError(f'{option} {path}: expected {expected}, got {got}; give the path of the downloaded file')


def verify_md5(path: Path, expected: str, what: str) -> None:
    """Refuse a file that is not the official one."""
    digest = hashlib.md5(usedforsecurity=False)
    try:
        with path.open('rb') as file, meter(f'checking the md5 of the {what}', path.stat().st_size) as advance:
            while chunk := file.read(CHUNK):
                digest.update(chunk)
                advance(len(chunk))
    except OSError as error:
        raise DataError(f'{path} cannot be read: {error.strerror}') from error
    if digest.hexdigest() != expected:
        raise DataError(
            f'{path} is not the official {what}: expected md5 {expected}, got {digest.hexdigest()}; '
            'download it again, or add --no-verify if it is meant to differ'
        )


@contextmanager
def meter(what: str, total: int) -> Iterator[Advance]:
    """Show how far some work is; yields a function that is told of what was done."""
    with Progress(what, total) as progress:
        yield progress.advance
        progress.update(total)  # the headers of an archive are not counted on the way
