"""Published files, whether they are in a folder, a tar or a zip archive: names are checked before anything is read."""

import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Protocol

from openmix_dm.datasets.prepare import archives
from openmix_dm.errors import DataError

ENCRYPTED = 1


class Tree(Protocol):
    """Files by their names below a common root."""

    label: str
    sizes: dict[str, int]

    def read(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield names and contents, in the order in which they are stored."""
        ...


@contextmanager
def open_tree(path: Path) -> Iterator[Tree]:
    """Open a folder or an archive; an archive with a name that leads out of it, a link or a device is refused."""
    if path.is_dir():
        yield Folder(path)
    elif zipfile.is_zipfile(path):
        with open_zip(path) as archive:
            yield Zip(archive, str(path))
    else:
        with archives.open_tar(path, mode='r:*', expected='a whole tar or zip archive') as tar:
            yield Tar(tar, str(path))


@contextmanager
def open_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive; what goes wrong with reading it is a DataError."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, OSError, EOFError, zlib.error, NotImplementedError) as error:
        raise DataError(f'{path} cannot be read ({error}); download it again if it is cut short') from error


class Folder:
    """Files that were unpacked already."""

    def __init__(self, path: Path) -> None:
        self.path, self.label = path, str(path)
        files = sorted(file for file in path.rglob('*') if file.is_file())
        self.sizes = {file.relative_to(path).as_posix(): file.stat().st_size for file in files}

    def read(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield names and contents."""
        for name in sorted(names):
            try:
                yield name, (self.path / name).read_bytes()
            except OSError as error:
                raise DataError(f'{self.path / name} cannot be read: {error.strerror}') from error


class Tar:
    """A tar archive."""

    def __init__(self, tar: tarfile.TarFile, label: str) -> None:
        self.tar, self.label = tar, label
        self.members: dict[str, tarfile.TarInfo] = {}
        for member in tar:
            archives.check_member(member, label)
            if not member.isdir():
                self.members[plain_name(member.name, label)] = member
        self.sizes = {name: member.size for name, member in self.members.items()}

    def read(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield names and contents; going back in a compressed archive would mean to read it again."""
        for name in sorted(names, key=lambda name: self.members[name].offset):
            yield name, archives.open_member(self.tar, self.members[name], self.label).read()


class Zip:
    """A zip archive."""

    def __init__(self, archive: zipfile.ZipFile, label: str) -> None:
        self.archive, self.label = archive, label
        self.members: dict[str, zipfile.ZipInfo] = {}
        for member in archive.infolist():
            check_zip_member(member, label)
            if not member.is_dir():
                self.members[plain_name(member.filename, label)] = member
        self.sizes = {name: member.file_size for name, member in self.members.items()}

    def read(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield names and contents."""
        for name in sorted(names, key=lambda name: self.members[name].header_offset):
            yield name, self.archive.read(self.members[name])


def check_zip_member(member: zipfile.ZipInfo, label: str) -> None:
    """Refuse a member that is no plain file or folder."""
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR) or member.flag_bits & ENCRYPTED:
        raise DataError(
            f'{label} holds {member.filename!r}, expected plain files, got a link, a device or an encrypted one; '
            'it is not unpacked'
        )
    plain_name(member.filename, label)


def plain_name(name: str, label: str) -> str:
    """Return a member's name without './'; refuse one that leads out of the target."""
    path = PurePosixPath(name)
    if path.is_absolute() or '..' in path.parts or '\\' in name or any(':' in part for part in path.parts[:1]):
        raise DataError(f'{label} holds {name!r}, which leads out of the target folder; it is not unpacked')
    return path.as_posix()


def text_lines(tree: Tree, name: str) -> list[str]:
    """Return the lines of a list inside a tree."""
    content = read_one(tree, name)
    try:
        return content.decode().rstrip().splitlines()
    except UnicodeDecodeError as error:
        raise DataError(f'{tree.label}: {name} is no text ({error})') from error


def read_one(tree: Tree, name: str) -> bytes:
    """Return one file of a tree."""
    if name not in tree.sizes:
        raise DataError(f'{tree.label} has no {name}; expected the published layout')
    return next(tree.read([name]))[1]
