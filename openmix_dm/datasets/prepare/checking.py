"""Look through folders and lists of images, and report what is wrong with them."""

import importlib.util
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from openmix_dm.datasets.image_folder import EXTENSIONS, SPLITS, list_folders
from openmix_dm.datasets.image_list import read_list
from openmix_dm.datasets.prepare.archives import meter
from openmix_dm.datasets.reading.decode import read_image
from openmix_dm.errors import DataError


def several(problem: str, names: list[str], shown: int = 10) -> list[str]:
    """Return one line for all that have the same problem, if any."""
    more = f' and {len(names) - shown:,} more' if len(names) > shown else ''
    return [f'{problem}: {", ".join(names[:shown])}{more}'] if names else []


def list_undecodable(images: Sequence[Path]) -> list[str]:
    """Return a line for each image that cannot be decoded."""
    problems: list[str] = []
    # OpenCV shows a JPEG that is damaged inside as a picture with wrong pixels; simplejpeg refuses it.
    decoder = 'simplejpeg' if importlib.util.find_spec('simplejpeg') else 'cv2'
    find_problem = partial(decoding_problem, decoder=decoder)
    # Decoding leaves Python's lock, so threads are enough; by batches, since a million futures would fill the memory.
    with meter('decoding', max(len(images), 1)) as advance, ThreadPoolExecutor(os.cpu_count()) as pool:
        for start in range(0, len(images), 256):
            batch = images[start : start + 256]
            problems += [problem for problem in pool.map(find_problem, batch) if problem]
            advance(len(batch))
    return problems


def find_images(root: Path) -> Iterator[Path]:
    """List all images below root in a fixed order."""
    for folder, folders, files in os.walk(root):
        folders.sort()
        yield from (Path(folder, file) for file in sorted(files) if file.lower().endswith(EXTENSIONS))


def decoding_problem(path: Path, decoder: str) -> str:
    """Return why an image cannot be decoded, or nothing."""
    try:
        read_image(path, decoder)
    except DataError as error:
        return str(error)
    return ''


Findings = tuple[list[str], list[Path]]  # what is wrong, and the images that were found


def check_folder(root: Path) -> Findings:
    """Look through root/<split>/<class>/<image>; print how much is there."""
    splits = {split: list_folders(root / split) for split in SPLITS if (root / split).is_dir()}
    if not splits:
        return [f'{root} has no folder {", ".join(SPLITS[:-1])} or {SPLITS[-1]}; expected <split>/<class>/<image>'], []
    problems, images = [], []
    known = sorted({name for classes in splits.values() for name in classes})
    for split, classes in splits.items():
        # Labels are the places of the sorted folders: one folder too few shifts all that follow.
        problems += several(f'{split}: missing class folders', sorted({*known} - {*classes}))
        files = {name: sorted((root / split / name).iterdir()) for name in classes}
        found = {name: [file for file in listed if is_image(file)] for name, listed in files.items()}
        others = [f'{name}/{file.name}' for name in classes for file in files[name] if not is_image(file)]
        problems += several(f'{split}: classes without images', [name for name in classes if not found[name]])
        problems += several(f'{split}: files that are no images', others)
        images += [file for name in classes for file in found[name]]
        print(f'{split}: {len(classes):,} classes, {sum(map(len, found.values())):,} images in {root}', flush=True)
    return problems, images


def check_list(root: Path, list_file: Path, num_classes: int | None) -> Findings:
    """Look through the lines of a list; print how much there is."""
    path = root / list_file
    try:
        paths, labels = read_list(path, num_classes)
    except DataError as error:
        return [str(error)], []
    images = [root / name for name in paths]
    print(f'{path.name}: {len(set(labels.tolist())):,} classes, {len(images):,} images in {root}', flush=True)
    empty = sorted({*range(num_classes or int(labels.max()) + 1)} - {*labels.tolist()})
    problems = several(f'{path}: classes without images', [str(label) for label in empty])
    seen: set[str] = set()
    twice = [name for name in paths if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
    problems += several(f'{path}: images that are listed more than once', twice)
    problems += several(f'{path}: missing files', [name for name in paths if not (root / name).is_file()])
    return problems, [image for image in images if image.is_file()]


def is_image(path: Path) -> bool:
    """Tell an image by its name."""
    return path.name.lower().endswith(EXTENSIONS)
