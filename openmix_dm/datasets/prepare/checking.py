"""Look through folders and lists of images, and report what is wrong with them."""

import importlib.util
from collections import Counter
from collections.abc import Callable, Sequence
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

from openmix_dm.datasets.image_folder import EXTENSIONS, SPLITS, list_folders
from openmix_dm.datasets.image_list import read_list
from openmix_dm.errors import DataError
from openmix_dm.utils.progress import track

# OpenCV shows a JPEG that is damaged inside as a picture with wrong pixels; simplejpeg refuses it.
STRICTEST = 'simplejpeg' if importlib.util.find_spec('simplejpeg') else 'cv2'
BATCH = 256
Findings = tuple[list[str], list[Path]]  # what is wrong, and the images that were found


def several(problem: str, names: Sequence[str], shown: int = 10) -> list[str]:
    """Return one line for all that have the same problem, if any."""
    more = f' and {len(names) - shown:,} more' if len(names) > shown else ''
    return [f'{problem}: {", ".join(names[:shown])}{more}'] if names else []


def list_undecodable(images: Sequence[Any], decode: Callable[[Any], Any]) -> list[str]:
    """Return a line for each image that cannot be decoded."""

    def problem(image: Any) -> str:
        try:
            decode(image)
        except DataError as error:
            return str(error)
        return ''

    with ThreadPool() as pool:  # decoding leaves Python's lock, so threads are enough
        return [*filter(None, track(pool.imap(problem, images, BATCH), len(images), 'decoding'))]


def check_folder(root: Path, splits: Sequence[str] = SPLITS) -> Findings:
    """Look through root/<split>/<class>/<image>; print how much is there, and what loaders skip."""
    found = {split: list_folders(root / split) for split in splits if (root / split).is_dir()}
    if not found:
        return [f'{root} has no folder {", ".join(splits[:-1])} or {splits[-1]}; expected <split>/<class>/<image>'], []
    known = {name for classes in found.values() for name in classes}
    problems, images = [], []
    for split, classes in found.items():
        files = [file for name in classes for file in sorted((root / split / name).iterdir())]
        read = [file for file in files if file.name.lower().endswith(EXTENSIONS)]
        print(f'{split}: {len(classes):,} classes, {len(read):,} images in {root}', flush=True)
        beside = sorted(entry for entry in (root / split).iterdir() if entry.name not in classes)
        skipped = [file for file in files if not file.name.lower().endswith(EXTENSIONS)]
        print_notes(split, classes, beside + skipped)
        # Labels are the places of the sorted folders: one folder too few shifts all that follow.
        problems += several(f'{split}: missing class folders', sorted(known - {*classes}))
        empty = sorted({*classes} - {file.parent.name for file in read})
        problems += several(f'{split}: classes without images', empty)
        images += read
    return problems, images


def print_notes(split: str, classes: Sequence[str], skipped: Sequence[Path]) -> None:
    """Say what is not wrong, but may not be meant: a single class, and what loaders skip."""
    if len(classes) == 1:
        print(f'note: {split}: one class only ({classes[0]}), so there is nothing to tell apart', flush=True)
    kinds = Counter('folder' if path.is_dir() else path.suffix.lower() or 'without ending' for path in skipped)
    counted = ', '.join(f'{count:,} {kind}' for kind, count in kinds.most_common())
    for line in several(f'note: {split}: skipped {counted}', [f'{path.parent.name}/{path.name}' for path in skipped]):
        print(f'{line} (read is <class>/*{", *".join(EXTENSIONS)})', flush=True)


def check_list(root: Path, list_file: Path, num_classes: int | None) -> Findings:
    """Look through the lines of a list; print how much there is."""
    path = root / list_file
    try:
        names, labels = read_list(path, num_classes)
    except DataError as error:
        return [str(error)], []
    used = {*labels.tolist()}
    print(f'{path.name}: {len(used):,} classes, {len(names):,} images in {root}', flush=True)
    empty = sorted({*range(num_classes or max(used) + 1)} - used)
    twice = [name for name, times in Counter(names).items() if times > 1]
    images = {name: root / name for name in names if (root / name).is_file()}
    return [
        *several(f'{path}: classes without images', [str(label) for label in empty]),
        *several(f'{path}: images that are listed more than once', twice),
        *several(f'{path}: missing files', [name for name in names if name not in images]),
    ], [*images.values()]
