"""The index of a large data set, kept beside it: listing a million images anew takes seconds, on every rank."""

import fcntl
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from mmengine.dist import get_rank

from openmix_dm.utils.files import read_plainly, remove_temporary, write_atomically

FOLDER = '.openmix_dm'  # beside what is listed; no class of images
FORMAT = 1
WORTH = 10_000  # images; fewer are listed faster than it takes to tell whether an index is still right
SETTLED = 2 * 10**9  # ns; a folder that changed less than this before it was listed may change again unnoticed
SLOW = 5.0  # seconds of listing that are worth a word where they cannot be saved
WAIT = 600.0  # seconds to wait for another process that lists the same images
LABEL = np.dtype('<i8')

Index = tuple[np.ndarray, np.ndarray]  # paths as bytes and labels as int64


@dataclass(frozen=True)
class Source:
    """What an index is made from, as far as it is cheap to look at, before it is listed."""

    place: Path  # the folder or file
    state: dict[str, Any]  # what JSON can hold; an index belongs to one state
    changed: int = 0  # ns, the latest change by the clock of the file system; 0 where the state is the content itself
    looked: int = field(default_factory=time.monotonic_ns)  # no later than when the state was looked at

    @property
    def cache(self) -> Path:
        """The file that keeps the index."""
        return self.place.parent / FOLDER / f'{self.place.name}.index'


def load_index(
    source: Source, make: Callable[[], tuple[Sequence[str], np.ndarray]], num_classes: int | None = None
) -> Index:
    """Return paths and labels, from the cache if it is right; else list the images, and keep the index of a large set.

    Processes of one machine that need the same index list the images once. A cache that is damaged, of another version
    or of another state is made anew, and one that cannot be written is done without.

    Args:
        source: what the images are listed from.
        make: list paths and labels.
        num_classes: what all labels are below; None for any. Default: None.
    """
    found = read_cache(source, num_classes)
    if found is not None:
        return found
    with one_at_a_time(source):
        found = read_cache(source, num_classes)  # another process may have made it meanwhile
        if found is not None:
            return found
        began = time.monotonic()
        paths, labels = make()
        index = encode_paths(paths), labels
        seconds = time.monotonic() - began
        problem = keep(source, *index, num_classes)
    if problem and seconds > SLOW and get_rank() == 0:
        print(
            f'openmix_dm: listing {len(labels):,} images of {source.place} took {seconds:.0f} s, and will at every '
            f'start: the list is not kept in {source.cache.parent} ({problem})',
            file=sys.stderr,
            flush=True,
        )
    return index


def encode_paths(paths: Sequence[str] | np.ndarray) -> np.ndarray:
    """Return paths as one array of bytes: a million Python strings would be copied into every worker, page by page."""
    if isinstance(paths, np.ndarray):
        return paths
    return np.array([os.fsencode(path) for path in paths], dtype=np.bytes_)


def read_cache(source: Source, num_classes: int | None) -> Index | None:
    """Return the index that is kept for this state of the source; None if there is none that can be trusted."""
    try:
        return parse(read_file(source.cache), source, num_classes)
    except Exception:  # whatever is wrong with it, and whoever wrote it: the images can be listed
        return None


def parse(content: bytes, source: Source, num_classes: int | None) -> Index:
    """Return the index that a file holds.

    The file is the sha256 of the rest, a line of JSON, the paths, each filled up with NUL to the longest, and the
    labels.
    """
    start = content.index(b'\n') + 1
    body = content.index(b'\n', start) + 1  # places instead of parts: copies would take longer than all the rest
    if hashlib.sha256(memoryview(content)[start:]).hexdigest().encode() != content[: start - 1]:
        raise ValueError('damaged')
    header = json.loads(content[start:body])
    images, width = header['images'], header['width']
    if header != describe(source, images, width) or len(content) - body != images * (width + LABEL.itemsize):
        raise ValueError('made from something else')
    paths = np.frombuffer(content, f'S{width}', images, body).copy()
    labels = np.frombuffer(content, LABEL, images, body + images * width).astype(np.int64)
    if not stay_below(paths) or labels.min() < 0 or (num_classes is not None and labels.max() >= num_classes):
        raise ValueError('paths or labels that cannot be')
    return paths, labels


def describe(source: Source, images: int, width: int) -> dict[str, Any]:
    """Return what the first line of a cache says."""
    state = {**source.state, 'encoding': sys.getfilesystemencoding()}
    return {'format': FORMAT, 'state': state, 'images': images, 'width': width}


def stay_below(paths: np.ndarray) -> bool:
    """Say whether all paths lead to files below the folder that they start from."""
    letters, lengths = paths.view(np.uint8), np.strings.str_len(paths)
    holes = np.count_nonzero(letters) != lengths.sum()  # a NUL before the end of a path
    if holes or lengths.min() == 0 or (letters[:: paths.itemsize] == ord('/')).any():
        return False
    dots = letters == ord('.')
    if not (dots[:-1] & dots[1:]).any():  # as for most data sets, and ten times as fast
        return True
    return not any(b'..' in path.split(b'/') for path in paths.tolist() if b'..' in path)


def read_file(path: Path) -> bytes:
    """Return the content of a cache; links, of its folder too, are refused."""
    if path.parent.is_symlink():
        raise OSError(f'{path.parent} is a link')
    return read_plainly(path, limit=2**34)


def keep(source: Source, paths: np.ndarray, labels: np.ndarray, num_classes: int | None) -> str:
    """Write the index of a large data set beside it; return why it cannot be written, or nothing."""
    folder = source.cache.parent
    if len(paths) < WORTH or read_cache(source, num_classes) is not None:  # another machine was faster
        return ''
    if not stay_below(paths):
        return 'it has paths that lead out of the folder'
    try:
        if source.changed > time_there(source.place.parent, source.looked) - SETTLED:
            return 'the images have just been changed'
        folder.mkdir(exist_ok=True)
        if folder.is_symlink():
            return 'it is a link'
        remove_temporary(folder)
        header = json.dumps(describe(source, len(paths), paths.itemsize)).encode()
        rest = b'\n'.join((header, paths.tobytes() + labels.astype(LABEL).tobytes()))
        content = b'\n'.join((hashlib.sha256(rest).hexdigest().encode(), rest))
        write_atomically(source.cache, content, sync=False, shared=True)
    except OSError as error:
        return error.strerror or str(error)
    return ''


def time_there(folder: Path, moment: int) -> int:
    """Return what the clock of a file system showed at a moment of `time.monotonic_ns`: it may be that of a server."""
    with tempfile.TemporaryFile(dir=folder) as file:
        return os.fstat(file.fileno()).st_mtime_ns - (time.monotonic_ns() - moment)


@contextmanager
def one_at_a_time(source: Source) -> Iterator[None]:
    """Let the first process of this machine list the images, and the others wait for it, where waiting can help."""
    if not os.access(source.place.parent, os.W_OK):
        yield
        return
    name = hashlib.sha256(os.fsencode(source.place)).hexdigest()[:16]
    try:
        path = Path(tempfile.gettempdir(), f'openmix_dm-{os.getuid()}-{name}.lock')
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError:
        yield
        return
    try:
        wait_for_lock(handle)
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def wait_for_lock(handle: int) -> None:
    """Hold a lock alone, or wait until nobody does; the kernel ends it with its process, however that ends."""
    kind, deadline = fcntl.LOCK_EX, time.monotonic() + WAIT
    while time.monotonic() < deadline:
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            kind = fcntl.LOCK_SH  # all that have waited go on together
            time.sleep(0.05)
        except OSError:
            return
