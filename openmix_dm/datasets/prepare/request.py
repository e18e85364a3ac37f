"""What a user asks the preparation of a data set for."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from openmix_dm.datasets.prepare import archives
from openmix_dm.datasets.prepare.download import Remote, fetch
from openmix_dm.datasets.prepare.trees import Tree, open_tree
from openmix_dm.errors import DataError

OFFICIAL = 'official'
OFFICIAL_ONLY: tuple[str, ...] = (OFFICIAL,)


@dataclass(frozen=True)
class Request:
    """The command line, as far as the data sets look at it."""

    root: Path
    archives: tuple[Path, ...] = ()
    devkit: Path | None = None
    source: str = OFFICIAL
    verify: bool = True

    @property
    def downloads(self) -> Path:
        """Where downloads lie until all that they hold is written."""
        return self.root / 'downloads'


class DataSet(Protocol):
    """What the module (or object) of a data set offers."""

    TITLE: str
    ROOT: str  # the folder below that of all data sets
    DEVKIT: str  # file name of what comes beside the archives, '' if nothing does
    SOURCES: tuple[str, ...]  # OFFICIAL is the first

    def prepare(self, request: Request) -> str:
        """Write what the loaders read; return what is there now."""
        ...

    def check(self, root: Path) -> list[str]:
        """Print how much is there; return what is wrong with it."""
        ...


@contextmanager
def published(request: Request, remote: Remote, folder: str) -> Iterator[Tree]:
    """Open the published files: the archive that was given, the folder in root, or a download that is then removed."""
    if len(request.archives) > 1:
        raise DataError(f'--archive: expected {remote.name} alone, got {len(request.archives)} files')
    if request.archives:
        path = request.archives[0]
        if not path.is_dir():
            archives.require_file(path, '--archive', remote.name)
            if request.verify:
                archives.verify_md5(path, remote.md5, f'archive {remote.name}')
    elif (request.root / folder).is_dir():
        path = request.root
    else:
        path = download(request, remote)
    with open_tree(path) as tree:
        yield tree
    if not request.archives and path != request.root:
        remove_downloads(request, path)


def download(request: Request, remote: Remote) -> Path:
    """Fetch a file; one that is not the official one is not kept."""
    path = fetch(remote, request.downloads)
    try:
        archives.verify_md5(path, remote.md5, f'archive {remote.name}')
    except DataError:
        remove_downloads(request, path)
        raise
    return path


def remove_downloads(request: Request, *paths: Path) -> None:
    """Remove downloads that are of no more use."""
    for path in paths:
        path.unlink(missing_ok=True)
    if request.downloads.is_dir() and not any(request.downloads.iterdir()):
        request.downloads.rmdir()
