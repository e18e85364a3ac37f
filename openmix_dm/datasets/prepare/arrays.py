"""Small images as arrays: written once, with an index that has their hashes."""

import json
import os
from abc import abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from openmix_dm.datasets.prepare.archives import Tree, check_target, explain_write_errors, write_file
from openmix_dm.datasets.prepare.data_set import DataSet, Request
from openmix_dm.datasets.prepare.standard_splits import store_splits
from openmix_dm.datasets.reading.decode import MAX_PIXELS, check_pixels
from openmix_dm.datasets.stored_images import INDEX, check_labels, read_index
from openmix_dm.errors import DataError
from openmix_dm.utils.files import sha256_of
from openmix_dm.utils.sealed import seal

Images = Iterable[tuple[int, np.ndarray]]  # (3, size, size) uint8, each with its place
Content = tuple[list[str], dict[str, tuple[np.ndarray, Images]]]  # classes; labels and images of each split


class ArraySet(DataSet):
    """A data set of small images."""

    balanced = ('train', 'val', 'test')

    @abstractmethod
    def read(self, tree: Tree) -> Content:
        """Return what the published files say."""

    def prepare(self, request: Request) -> str:
        """Write the arrays, if they are not there yet."""
        root = request.root
        if not self.load(root)[1]:
            return f'{self.title} is in {root} already, with the right hashes; nothing to do'
        for tree in self.open(request):
            classes, splits = self.read(tree)
            for split, (labels, _) in splits.items():
                check_labels(Path(tree.label), labels, len(classes))
                problems = self.count_problems(split, classes, labels)
                if problems and request.verify:
                    why = f'{"; ".join(problems)}; add --no-verify if it is meant to differ'
                    raise DataError(f'{tree.label} is not {self.title}: {why}')
            written = {split: self.write_split(root, split, *content) for split, content in splits.items()}
            index = {'name': self.name, 'source': self.url, 'classes': classes, 'splits': written}
            write_file(root / INDEX, (json.dumps(seal(index), indent=1) + '\n').encode())  # last: what has one is whole
        if request.verify:
            store_splits(root, self.name, splits['train'][0])
        counts = ', '.join(f'{len(labels):,} {split}' for split, (labels, _) in splits.items())
        return f'{self.title}: {counts} images of {len(classes)} classes in {root} (from {self.url})'

    def write_split(self, root: Path, split: str, labels: np.ndarray, images: Images) -> dict[str, Any]:
        """Write labels and images; return what the index says about them."""
        shape = (len(labels), 3, self.loader.image_size, self.loader.image_size)
        check_target(root, int(np.prod(shape)))
        write_array(root / f'{split}_images.npy', shape, np.uint8, images)
        write_array(root / f'{split}_labels.npy', labels.shape, np.int64, enumerate(labels))
        files = [f'{split}_images.npy', f'{split}_labels.npy']
        return {'shape': list(shape), 'sha256': {file: sha256_of(root / file) for file in files}}

    def damage(self, root: Path, split: str, data: Any) -> list[str]:
        """Compare the hash of the images, which are too large for the loader to do it."""
        path = root / f'{split}_images.npy'
        expected, got = read_index(root, self.name)['splits'][split]['sha256'].get(path.name), sha256_of(path)
        return [] if got == expected else [f'{path} is damaged: expected sha256 {expected}, got {got}']


def write_array(path: Path, shape: tuple[int, ...], dtype: type, rows: Iterable[tuple[int, Any]]) -> None:
    """Write an array, whose rows come with their places, to a file that is whole as soon as it has its name."""
    part = path.with_name(f'.{path.name}.part')
    try:
        with explain_write_errors(path):
            array = np.lib.format.open_memmap(part, mode='w+', dtype=dtype, shape=shape)
            if hasattr(os, 'posix_fallocate'):  # take the space now: a full disk would kill the process at some page
                with part.open('r+b') as file:
                    os.posix_fallocate(file.fileno(), 0, part.stat().st_size)
        for place, row in rows:
            array[place] = row
        with explain_write_errors(path):
            array.flush()
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def decode(tree: Tree, name: str, width: int, height: int | None = None) -> np.ndarray:
    """Return the RGB pixels (H, W, 3) of an image that must have this size."""
    import cv2

    content = tree.read(name)
    check_pixels(content, f'{tree.label}: {name}', MAX_PIXELS)
    image = cv2.imdecode(np.frombuffer(content, dtype=np.uint8), cv2.IMREAD_COLOR_RGB) if content else None
    if image is None or image.shape[:2] != (height or len(image), width):
        got = f'{len(content)} bytes that are no image' if image is None else f'{image.shape[1]} x {image.shape[0]}'
        raise DataError(f'{tree.label}: {name}: expected an image of {width} x {height or "any"} pixels, got {got}')
    return image
