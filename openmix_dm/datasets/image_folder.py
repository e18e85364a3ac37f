"""Images in folders, one folder a class, as ImageNet is unpacked."""

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from mmengine.dist import get_rank

from openmix_dm.datasets.image_files import SKIP_LIMIT, ImageFiles
from openmix_dm.datasets.reading.decode import MAX_PIXELS
from openmix_dm.datasets.reading.file_source import FileSource
from openmix_dm.datasets.reading.index_cache import FOLDER, Source, load_index
from openmix_dm.datasets.roots import DATA_VARIABLE
from openmix_dm.errors import ConfigError, DataError
from openmix_dm.registry import DATASETS

EXTENSIONS = ('.jpg', '.jpeg', '.png', '.bmp', '.webp')
SPLITS = ('train', 'val', 'test')


@DATASETS.register_module()
class ImageFolder(ImageFiles):
    """Serve `root/split/<class>/<image>`, one folder for each class.

    Classes are numbered by the sorted names of their folders. A class folder that another of the splits train, val and
    test has must be there too, if only empty: one that is missing would shift the labels of all that follow.

    Args:
        root: folder of the data set, as it is if absolute, else below the folder that the environment variable
            OPENMIX_DM_DATA names (./data if it is not set).
        split: name of the folder below root, such as 'train'.
        transforms: configs of transforms of one RGB uint8 array (H, W, 3), applied in order. The last may give several
            crops, (crops, H, W, 3). Default: ().
        imdecode_backend: 'cv2', 'pillow', 'turbojpeg' or 'simplejpeg'. The last two need packages of their own, refuse
            JPEGs that are damaged inside, and leave what is no JPEG to cv2. Default: 'cv2'.
        backend_args: a file backend of mmengine that can list folders, such as dict(backend='petrel'); root is then
            taken as it is. None is the local disk. Default: None.
        max_pixels: an image whose header promises more is refused. Default: 178956970.
        on_error: 'raise', or 'skip' to take the next image for one that cannot be decoded. Only training skips: a test
            over other images is another test. Default: 'raise'.
        skip_limit: number of different images that may be skipped; one more is an error. Each rank counts for itself.
            Default: 100.

    Example:
        dataset = dict(type='ImageFolder', root='flowers', split='train', transforms=[dict(type='Resize', size=224)])
    """

    name = 'this data set'
    folder: Path

    def __init__(
        self,
        root: str,
        split: str,
        transforms: Sequence[dict[str, Any]] = (),
        imdecode_backend: str = 'cv2',
        backend_args: dict[str, Any] | None = None,
        max_pixels: int = MAX_PIXELS,
        on_error: str = 'raise',
        skip_limit: int = SKIP_LIMIT,
    ) -> None:
        files = FileSource(f'{root}/{split}', backend_args)
        paths: np.ndarray | Sequence[str]
        if files.folder is None:
            classes, paths, labels = list_by_backend(files)
        else:
            self.folder = files.folder
            classes = self._list_classes()
            source = look_at(self.folder, classes)
            paths, labels = load_index(source, lambda: list_images(source.place, classes), len(classes))
        reading = (imdecode_backend, max_pixels, on_error, skip_limit)
        super().__init__(files, paths, labels, classes, transforms, *reading)

    def _list_classes(self) -> list[str]:
        classes = list_folders(self.folder)
        if not classes:
            raise DataError(f'{self.folder} has no folders of images; {self.how_to_prepare()}')
        for split in SPLITS:
            compare_classes(self.folder, classes, self.folder.parent / split)
        return classes

    def how_to_prepare(self) -> str:
        """Say what to do when the data is not there."""
        return (
            f'expected <class>/<image> below it. Point root (now {self.folder.parent}) at {self.name}, '
            f'or set {DATA_VARIABLE} to the folder that holds all data sets'
        )


@contextmanager
def listing(folder: Path) -> Iterator[None]:
    """Name a folder that cannot be listed: it was there a moment ago, or is not ours to read."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f'{folder} cannot be listed ({error.strerror}); is it still there, and may you read it?'
        ) from None


def list_folders(folder: Path) -> list[str]:
    """Return the sorted names of the folders in a folder; none if it is not there."""
    with listing(folder):
        if not folder.is_dir():
            return []
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir() and entry.name != FOLDER)


def compare_classes(folder: Path, classes: list[str], other: Path) -> None:
    """Refuse splits whose class folders differ: labels are places in the sorted names, one missing shifts the rest."""
    others = list_folders(other)
    missing = sorted({*others} - {*classes})
    if missing:
        more = f' and {len(missing) - 1:,} more' if len(missing) > 1 else ''
        raise DataError(
            f'{folder / missing[0]} is missing{more}: {other} has this class folder, and labels are numbered by the '
            'folders; add it (empty, if the class has no images here)'
        )


def look_at(folder: Path, classes: list[str]) -> Source:
    """Return what tells whether an index of class folders is still right, without listing them.

    A file that is added, removed or renamed changes the times of its folder. Both of them count: copying tools set the
    first one back, and nobody can set the second.
    """
    looked = time.monotonic_ns()
    times: list[list[Any]] = []
    for name in classes:
        with listing(folder / name):
            status = (folder / name).stat()
        times.append([name, status.st_mtime_ns, status.st_ctime_ns])
    changed = max(max(row[1:]) for row in times)
    return Source(folder, {'extensions': list(EXTENSIONS), 'classes': times}, changed, looked)


def list_images(folder: Path, classes: list[str]) -> tuple[list[str], np.ndarray]:
    """Return the images as class/file, with their labels; say which other files are left out."""
    paths: list[str] = []
    labels: list[int] = []
    others: list[str] = []
    for label, name in enumerate(classes):
        with listing(folder / name), os.scandir(folder / name) as entries:
            files = sorted(entry.name for entry in entries)
        images = [f'{name}/{file}' for file in files if file.lower().endswith(EXTENSIONS)]
        if len(images) < len(files):
            others += [file for file in files if not file.lower().endswith(EXTENSIONS)]
        paths += images
        labels += [label] * len(images)
    if not paths:
        raise DataError(f'the folders in {folder} hold no images ({", ".join(EXTENSIONS)})')
    say_what_is_left_out(folder, others)
    return paths, np.array(labels, dtype=np.int64)


def say_what_is_left_out(folder: Path, others: list[str]) -> None:
    """Name the types of files that are no images of a type that is read; hidden files are nobody's images."""
    kinds = Counter(Path(file).suffix.lower() or 'without a type' for file in others if not file.startswith('.'))
    if kinds and get_rank() == 0:
        named = ', '.join(f'{count:,} {kind}' for kind, count in kinds.most_common(5))
        print(
            f'openmix_dm: {sum(kinds.values()):,} files in {folder} are left out: {named} (read: '
            f'{", ".join(EXTENSIONS)})',
            file=sys.stderr,
            flush=True,
        )


def list_by_backend(files: FileSource) -> tuple[list[str], list[str], np.ndarray]:
    """Return the classes, the images as class/file and their labels, as a file backend of mmengine lists them."""
    backend: Any = files.backend
    try:
        found = sorted(backend.list_dir_or_file(files.root, list_dir=False, recursive=True))
    except (AttributeError, NotImplementedError):
        raise ConfigError(
            f'backend_args: {type(backend).__name__} cannot list folders; use ImageList with a list of the images'
        ) from None
    except Exception as error:  # each backend has errors of its own
        raise DataError(f'{files.root} cannot be listed by {type(backend).__name__}: {error!r}') from None
    paths = [path for path in found if path.count('/') == 1 and path.lower().endswith(EXTENSIONS)]
    if not paths:
        raise DataError(f'{files.root} holds no <class>/<image> ({", ".join(EXTENSIONS)})')
    classes = sorted({path.partition('/')[0] for path in paths})
    places = {name: label for label, name in enumerate(classes)}
    return classes, paths, np.array([places[path.partition('/')[0]] for path in paths], dtype=np.int64)
