"""Write small images as arrays, and compare them with what was written."""

import io
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from openmix_dm.datasets.prepare import archives
from openmix_dm.datasets.prepare.checking import several
from openmix_dm.datasets.stored_images import INDEX, check_labels, read_index
from openmix_dm.errors import DataError
from openmix_dm.utils.files import sha256_of


def write_split(
    root: Path, split: str, labels: np.ndarray, images: Iterable[tuple[int, np.ndarray]], size: int
) -> dict[str, Any]:
    """Write images, each given with its place, and labels; return what the index says about them."""
    path = root / f'{split}_images.npy'
    shape = (len(labels), 3, size, size)
    archives.check_target(root, int(np.prod(shape)))
    part = path.with_name(f'.{path.name}.part')
    try:
        with archives.explain_write_errors(path):
            array = np.lib.format.open_memmap(part, mode='w+', dtype=np.uint8, shape=shape)
            reserve(part)
        for place, image in images:
            array[place] = image
        with archives.explain_write_errors(path):
            array.flush()
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    archives.write_file(root / f'{split}_labels.npy', array_file(labels.astype(np.int64)))
    files = (f'{split}_images.npy', f'{split}_labels.npy')
    return {'shape': list(shape), 'sha256': {file: sha256_of(root / file) for file in files}}


def reserve(path: Path) -> None:
    """Take the disk space of a sparse file now: a full disk would kill the process when a page is written."""
    if hasattr(os, 'posix_fallocate'):
        with path.open('r+b') as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)


def array_file(array: np.ndarray) -> bytes:
    """Return an array as the content of a .npy file."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def write_index(root: Path, name: str, source: str, classes: Sequence[str], splits: dict[str, Any]) -> None:
    """Write the index last: a folder that has one is whole."""
    index = {'name': name, 'source': source, 'classes': list(classes), 'splits': splits}
    archives.write_file(root / INDEX, (json.dumps(index, indent=1) + '\n').encode())


def is_prepared(root: Path, name: str, splits: Sequence[str]) -> bool:
    """Tell if all arrays are there and are those of the index."""
    return (root / INDEX).is_file() and not hash_problems(root, name, splits)


def hash_problems(root: Path, name: str, splits: Sequence[str]) -> list[str]:
    """Return a line for each file that is not what the index says."""
    try:
        index = read_index(root, name)
    except DataError as error:
        return [str(error)]
    problems = []
    for split in splits:
        for file in (f'{split}_images.npy', f'{split}_labels.npy'):
            expected = index['splits'].get(split, {}).get('sha256', {}).get(file)
            if not (root / file).is_file():
                problems.append(f'{root / file} is missing')
            elif (got := sha256_of(root / file)) != expected:
                problems.append(f'{root / file} is damaged: expected sha256 {expected}, got {got}')
    return problems


def check_arrays(root: Path, name: str, classes: int, counts: dict[str, int], size: int) -> list[str]:
    """Print how much is there; return what is wrong with it."""
    if not (root / INDEX).is_file():
        return [f'{root} has no {INDEX}: nothing was prepared there']
    problems = hash_problems(root, name, tuple(counts))
    for split, count in counts.items():
        paths = [root / f'{split}_{what}.npy' for what in ('images', 'labels')]
        try:
            images, labels = (np.load(path, mmap_mode='r', allow_pickle=False) for path in paths)
            check_labels(paths[1], labels, classes)
        except (OSError, ValueError, DataError) as error:
            problems.append(f'{split}: {error}')
            continue
        print(f'{split}: {len(images):,} images, {len(np.unique(labels)):,} classes in {root}', flush=True)
        if images.shape != (count, 3, size, size):
            problems.append(f'{split}: expected {count:,} images of {size} px, got {images.shape} in {paths[0]}')
        problems += balance_problems(split, labels, classes, count)
    return problems


def balance_problems(split: str, labels: np.ndarray, classes: int, count: int) -> list[str]:
    """Return a line if the classes do not have equally many images of an expected count."""
    found = np.bincount(labels, minlength=classes)
    wrong = [f'{label} ({found[label]:,})' for label in range(classes) if found[label] != count // classes]
    return several(f'{split}: expected {count // classes:,} images of each class, got others for', wrong)
