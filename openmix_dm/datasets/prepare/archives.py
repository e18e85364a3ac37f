"""Published files, in archives that are checked before they are read, to files that are whole or not there."""

import errno
import hashlib
import io
import lzma
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

import numpy as np

from openmix_dm.errors import DataError, ResourceError
from openmix_dm.utils.files import write_atomically
from openmix_dm.utils.progress import Progress, track

UNREADABLE = (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, OSError, NotImplementedError)
PLAIN_TAR = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE)  # sparse files may claim to be larger than the archive
PLAIN_ZIP = (0, stat.S_IFREG, stat.S_IFDIR)
ENCRYPTED = 1
WHOLE = 'a whole tar or zip archive'
ALGORITHMS = {32: 'md5', 128: 'sha512'}  # by the number of digits
CHUNK = 1 << 22
LARGEST = 1 << 30  # bytes of a file that is read as a whole; no published one is larger


@dataclass(frozen=True)
class Tree:
    """Files by their names below a common root."""

    label: str  # name of the folder or archive
    sizes: dict[str, int]  # in the order in which files are stored: going back in a compressed archive takes long
    open: Callable[[str], IO[bytes]]

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        if name not in self.sizes:
            raise DataError(f'{self.label} has no {name}; expected the published layout')
        if self.sizes[name] > LARGEST:
            got = f'{self.sizes[name]:,} bytes, expected at most {LARGEST:,}'
            raise DataError(f'{self.label}: {name} would unpack to {got}; it is not read')
        with explain_read_errors(self.label), self.open(name) as file:
            return file.read()

    def lines(self, name: str) -> list[str]:
        """Return the lines of a text without empty ones at its end."""
        return self.read(name).decode(errors='replace').rstrip().splitlines()

    def rows(self, name: str, variable: str, *fields: str) -> list[Any]:
        """Return the rows of a variable in a MATLAB file, each with its values of the fields."""
        from scipy.io import loadmat

        content = io.BytesIO(self.read(name))
        try:
            rows = np.atleast_1d(loadmat(content, squeeze_me=True)[variable])
            return [tuple(np.asarray(row[field]).item() for field in fields) if fields else row for row in rows]
        except Exception as error:  # the parser of a foreign format raises anything on a damaged file
            wanted = f'{variable!r} with {", ".join(fields)}' if fields else repr(variable)
            raise DataError(f'{self.label}: {name} has no variable {wanted} ({error!r}); download it again') from error

    def unpack(self, targets: Mapping[str, Path], progress: Progress) -> int:
        """Write files to their paths, unless one of the right size is there; return how many were written."""
        written = 0
        for name in (name for name in self.sizes if name in targets):
            with explain_write_errors(targets[name]):
                there = targets[name].is_file() and targets[name].stat().st_size == self.sizes[name]
            if not there:
                write_file(targets[name], self.read(name))
                written += 1
            progress.advance(self.sizes[name])
        return written


@contextmanager
def open_tree(path: Path, inner: IO[bytes] | None = None, label: str = '', expected: str = WHOLE) -> Iterator[Tree]:
    """Open a folder, an archive, a lone MATLAB file, or an archive inside of another, which label names."""
    label = label or str(path)
    with ExitStack() as stack:
        with explain_read_errors(label, expected):
            if path.is_dir() or path.suffix == '.mat':
                base, found = (path, sorted(path.rglob('*'))) if path.is_dir() else (path.parent, [path])
                sizes = {file.relative_to(base).as_posix(): file.stat().st_size for file in found if file.is_file()}
                tree = Tree(label, sizes, lambda name: (base / name).open('rb'))
            elif inner is None and zipfile.is_zipfile(path):
                archive = stack.enter_context(zipfile.ZipFile(path))
                tree = checked_tree(label, map(zip_member, archive.infolist()), archive.open)
            else:
                tar = stack.enter_context(tarfile.open(None if inner else path, fileobj=inner))
                tree = checked_tree(label, map(tar_member, tar), tar.extractfile)
                while tar.fileobj.read(CHUNK):  # type: ignore[union-attr]
                    pass  # a compressed archive has its checksum at the end
        yield tree


Member = tuple[str, int, bool, bool, Any]  # name, size, is it a folder, is it plain, what the library has of it


def tar_member(found: tarfile.TarInfo) -> Member:
    """Return what is to be known of a member of a tar archive."""
    return found.name, found.size, found.isdir(), found.type in PLAIN_TAR, found


def zip_member(found: zipfile.ZipInfo) -> Member:
    """Return what is to be known of a member of a zip archive."""
    is_plain = stat.S_IFMT(found.external_attr >> 16) in PLAIN_ZIP and not found.flag_bits & ENCRYPTED
    return found.filename, found.file_size, found.is_dir(), is_plain, found


def checked_tree(label: str, members: Iterable[Member], open_member: Callable[[Any], Any]) -> Tree:
    """Refuse an archive if any member leads out of the target or is a link: Python's data filter lets some in."""
    files = {}
    for name, size, is_folder, is_plain, member in members:
        path = PurePosixPath(name)
        if path.is_absolute() or '..' in path.parts or '\\' in name or any(':' in part for part in path.parts[:1]):
            raise DataError(f'{label} holds {name!r}, which leads out of the target folder; it is not unpacked')
        if not is_plain:
            got = 'a link or a device (or an encrypted file)'
            raise DataError(f'{label} holds {name!r}, expected plain files, got {got}; it is not unpacked')
        if not is_folder:
            files[path.as_posix()] = size, member
    return Tree(label, {name: size for name, (size, _) in files.items()}, lambda name: open_member(files[name][1]))


@contextmanager
def explain_read_errors(label: str, expected: str = WHOLE) -> Iterator[None]:
    """Turn what the libraries raise about an archive into a line that says what to do."""
    try:
        yield
    except UNREADABLE as error:
        hint = f'got "{error}"; download it again if it is cut short'
        raise DataError(f'{label} cannot be read: expected {expected}, {hint}') from error


def require_file(path: Path, option: str, expected: str) -> None:
    """Refuse a path on the command line that is no file."""
    if not path.is_file():
        got = 'a folder' if path.is_dir() else 'no such file'
        raise DataError(f'{option} {path}: expected {expected}, got {got}; give the path of the downloaded file')


def verify_hash(path: Path, expected: str, name: str) -> None:
    """Refuse a file that is not the official one."""
    algorithm = ALGORITHMS[len(expected)]
    digest = hashlib.new(algorithm, usedforsecurity=False)
    with explain_read_errors(str(path), name), path.open('rb') as file:
        chunks = iter(lambda: file.read(CHUNK), b'')
        for chunk in track(chunks, path.stat().st_size // CHUNK + 1, f'checking the {algorithm} of {name}'):
            digest.update(chunk)
    if (got := digest.hexdigest()) != expected:
        todo = 'download it again, or add --no-verify if it is meant to differ'
        raise DataError(f'{path} is not the official {name}: expected {algorithm} {expected}, got {got}; {todo}')


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
        todo = 'give a --root that you may write to'
        raise ResourceError(f'{path} cannot be written ({error.strerror}); {todo}') from error


def check_target(folder: Path, size: int) -> None:
    """Make the folder; refuse one that cannot be written or whose disk cannot hold size bytes, before hours of work."""
    with explain_write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        free = shutil.disk_usage(folder).free
    if free >= size:
        return
    present = sum(file.stat().st_size for file in folder.rglob('*') if file.is_file())  # of a run before this one
    if free + present < size:
        wanted = f'expected {(size - present) / 1e9:.1f} GB free, got {free / 1e9:.1f} GB'
        raise ResourceError(f'the disk of {folder} has too little space: {wanted}; free some or give another --root')
