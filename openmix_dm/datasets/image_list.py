"""Images that a text file lists with their labels."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from openmix_dm.datasets.image_files import SKIP_LIMIT, ImageFiles, numbered_classes
from openmix_dm.datasets.reading.decode import MAX_PIXELS
from openmix_dm.datasets.reading.file_source import FileSource
from openmix_dm.datasets.reading.index_cache import Index, Source, encode_paths, load_index
from openmix_dm.errors import DataError
from openmix_dm.registry import DATASETS

# A path may hold spaces; the label is what comes last, after blanks or a comma. No file has a name with a NUL.
LINE = re.compile(r'([^\0]*[^\s,\0])[\s,]+(-?[0-9]{1,18})\s*')


@DATASETS.register_module()
class ImageList(ImageFiles):
    """Serve the images that a text file lists in lines of `path label`.

    Paths are below root, and labels start at 0. A path may hold spaces: the label is what comes last.

    Args:
        root: folder of the images, as it is if absolute, else below $OPENMIX_DM_DATA (./data if that is not set).
        list_file: path of the list, absolute or below root; with backend_args, on the local disk if it is there.
        transforms: configs of transforms of one RGB uint8 array (H, W, 3), applied in order. The last may give several
            crops, (crops, H, W, 3). Default: ().
        num_classes: number of classes, which all labels must be below; None makes the highest label the last class.
            Default: None.
        imdecode_backend: 'cv2', 'pillow', 'turbojpeg' or 'simplejpeg'. The last two need packages of their own, refuse
            JPEGs that are damaged inside, and leave what is no JPEG to cv2. Default: 'cv2'.
        backend_args: where mmengine reads the files, such as dict(backend='lmdb', db_path=...); root is then taken as
            it is. None is the local disk. Default: None.
        max_pixels: an image whose header promises more is refused. Default: 178956970.
        on_error: 'raise', or 'skip' to take the next image for one that cannot be decoded. Only training skips: a test
            over other images is another test. Default: 'raise'.
        skip_limit: number of different images that may be skipped; one more is an error. Each rank counts for itself.
            Default: 100.

    Example:
        dataset = dict(type='ImageList', root='flowers', list_file='train.txt', num_classes=17)
    """

    def __init__(
        self,
        root: str,
        list_file: str,
        transforms: Sequence[dict[str, Any]] = (),
        num_classes: int | None = None,
        imdecode_backend: str = 'cv2',
        backend_args: dict[str, Any] | None = None,
        max_pixels: int = MAX_PIXELS,
        on_error: str = 'raise',
        skip_limit: int = SKIP_LIMIT,
    ) -> None:
        files = FileSource(root, backend_args)
        local = files.local_file(list_file)
        if local is None:
            names, labels = parse_list(files.read_lines(list_file), files.path(list_file), num_classes)
            paths = encode_paths(names)
        else:
            paths, labels = index_list(local, num_classes)
        classes = numbered_classes(num_classes or int(labels.max()) + 1, files.path(list_file))
        reading = (imdecode_backend, max_pixels, on_error, skip_limit)
        super().__init__(files, paths, labels, classes, transforms, *reading)


def index_list(path: Path, num_classes: int | None = None) -> Index:
    """Return paths, as bytes, and labels of a list, from its cache if that was made from the same content."""
    content = read_bytes(path)
    source = Source(path, {'sha256': hashlib.sha256(content).hexdigest()})
    return load_index(source, lambda: parse_list(split_lines(path, content), str(path), num_classes), num_classes)


def read_list(path: Path, num_classes: int | None = None) -> tuple[list[str], np.ndarray]:
    """Return paths and labels of a list; see `parse_list`."""
    return parse_list(read_lines(path), str(path), num_classes)


def parse_list(lines: Iterable[str], path: str, num_classes: int | None = None) -> tuple[list[str], np.ndarray]:
    """Return paths and labels of a list; a line that is not as it should be is named."""
    paths, labels = [], []
    for number, line in enumerate(lines, start=1):
        match = LINE.fullmatch(line)
        if match is None:
            raise DataError(f'{path}, line {number}: expected "path label", got {line!r}')
        label = int(match.group(2))
        if label < 0 or (num_classes is not None and label >= num_classes):
            wanted = f'0 to {num_classes - 1}' if num_classes is not None else '0 or more'
            raise DataError(f'{path}, line {number}: label {label} is out of range, expected {wanted}: {line!r}')
        paths.append(match.group(1))
        labels.append(label)
    if not paths:
        raise DataError(f'{path} lists no images; expected lines "path label"')
    return paths, np.array(labels, dtype=np.int64)


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file without empty ones at its end."""
    return split_lines(path, read_bytes(path))


def split_lines(path: Path, content: bytes) -> list[str]:
    """Return the lines of the content of a text file without empty ones at its end."""
    try:
        return content.decode('utf-8').rstrip().splitlines()
    except UnicodeDecodeError as error:
        raise DataError(f'{path} cannot be read as text: {error}') from error


def read_bytes(path: Path) -> bytes:
    """Return the content of a file."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f'{path} is not there') from None
    except OSError as error:
        raise DataError(f'{path} cannot be read as text: {error}') from error
