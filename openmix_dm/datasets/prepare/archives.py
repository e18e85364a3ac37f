"""Published files, in archives that are checked before they are read, to files that are whole or not there."""

import errno
import hashlib
import io
import lzma
import re
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import IO, Any

import numpy as np

from openmix_dm.errors import DataError, ResourceError
from openmix_dm.utils.files import write_atomically
from openmix_dm.utils.progress import Progress, track

UNREADABLE = (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, OSError, RuntimeError)
PLAIN_TAR = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE)  # sparse files may claim to be larger than the archive
PLAIN_ZIP = (0, stat.S_IFREG, stat.S_IFDIR)
ENCRYPTED = 1  # among the flags of a member of a zip
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

    def table(self, name: str, line: str, expected: str, known: Callable[[Any], bool] = bool) -> dict[str, str]:
        """Return a text as a dict: a pattern finds key and value in each line, and they must be known."""
        found = {}
        for number, text in enumerate(self.lines(name), start=1):
            match = re.fullmatch(line, text)
            if not match or not known(match):
                raise DataError(f'{self.label}: {name}, line {number}: expected {expected}, got {text!r}')
            found[match[1]] = match[2]
        return found

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
                modes = ((each, each.external_attr >> 16, each.flag_bits & ENCRYPTED) for each in archive.infolist())
                plain = ((each, stat.S_IFMT(mode) in PLAIN_ZIP and not locked) for each, mode, locked in modes)
                zipped = ((each.filename, each.file_size, each.is_dir(), is_plain, each) for each, is_plain in plain)
                tree = checked_tree(label, zipped, archive.open)
            else:
                tar = stack.enter_context(tarfile.open(None if inner else path, fileobj=inner))
                tarred = ((each.name, each.size, each.isdir(), each.type in PLAIN_TAR, each) for each in tar)
                tree = checked_tree(label, tarred, tar.extractfile)
                while tar.fileobj.read(CHUNK):  # type: ignore[union-attr]
                    pass  # a compressed archive has its checksum at the end
        yield tree


def checked_tree(label: str, members: Iterable[Any], open_member: Callable[[Any], Any]) -> Tree:
    """Refuse an archive if any member leads out of the target or is a link: Python's data filter lets some in.

    A member is its name, its size, whether it is a folder, whether it is plain, and what the library has of it.
    """
    sizes, found = {}, {}
    for name, size, is_folder, is_plain, member in members:
        path = PureWindowsPath(name)  # knows all ways out, those of other systems too
        if path.anchor or '..' in path.parts or '\\' in name:
            raise DataError(f'{label} holds {name!r}, which leads out of the target folder; it is not unpacked')
        if not is_plain:
            got = 'got a link or a device, or it is encrypted'
            raise DataError(f'{label} holds {name!r}, expected plain files, {got}; it is not unpacked')
        if not is_folder:
            sizes[path.as_posix()], found[path.as_posix()] = size, member
    return Tree(label, sizes, lambda name: open_member(found[name]))


@contextmanager
def explain_read_errors(label: str, expected: str = WHOLE) -> Iterator[None]:
    """Turn what the libraries raise about an archive into a line that says what to do."""
    try:
        yield
    except UNREADABLE as error:
        hint = f'got "{error}"; download it again if it is cut short'
        raise DataError(f'{label} cannot be read: expected {expected}, {hint}') from error


def verify_hash(path: Path, expected: str, name: str) -> None:
    """Refuse a file that is not the official one; joined by ' or ', several can be."""
    algorithm = ALGORITHMS[len(expected.split(' or ')[0])]
    digest = hashlib.new(algorithm, usedforsecurity=False)
    with explain_read_errors(str(path), name), path.open('rb') as file:
        chunks = iter(lambda: file.read(CHUNK), b'')
        for chunk in track(chunks, path.stat().st_size // CHUNK + 1, f'checking the {algorithm} of {name}'):
            digest.update(chunk)
    if (got := digest.hexdigest()) not in expected.split(' or '):
        todo = 'download it again, or add --no-verify if it is meant to differ'
        raise DataError(f'{path} is not the official {name}: expected {algorithm} {expected}, got {got}; {todo}')


def unpack(parts: Iterable[tuple[Tree, Mapping[str, Path]]], folder: Path, size: int, what: str) -> tuple[int, int]:
    """Write files of trees to their paths, unless one of the right size is there; return how many were, and are."""
    written = total = 0
    check_target(folder, size)
    with Progress(what, size) as progress:
        for tree, targets in parts:
            for name, path in targets.items():
                with explain_write_errors(path):
                    there = path.is_file() and path.stat().st_size == tree.sizes[name]
                if not there:
                    write_file(path, tree.read(name))
                written, total = written + (not there), total + 1
                progress.advance(tree.sizes[name])
        progress.update(size)  # the headers of an archive in another are not counted on the way
    return written, total


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
    check_space(folder, size)


def check_space(folder: Path, size: int) -> None:
    """Refuse a folder, which need not be there, if its disk cannot hold size bytes."""
    with explain_write_errors(folder):
        there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        free = shutil.disk_usage(there).free
    # What is there, of a run before this one, needs no room; it is counted only if it matters.
    present = 0 if free >= size else sum(file.stat().st_size for file in folder.rglob('*') if file.is_file())
    if free + present < size:
        wanted = f'expected {(size - present) / 1e9:.1f} GB free, got {free / 1e9:.1f} GB'
        raise ResourceError(f'the disk of {folder} has too little space: {wanted}; free some or give another --root')
