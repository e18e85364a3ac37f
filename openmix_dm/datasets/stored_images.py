"""Small images as prepared arrays: root/<split>_{images,labels}.npy and an index with their hashes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from openmix_dm.datasets.reading.verified import has_hash
from openmix_dm.datasets.roots import how_to_prepare, resolve_root
from openmix_dm.datasets.tensor_images import TensorImages
from openmix_dm.errors import DataError, first_line
from openmix_dm.utils.checks import one_of
from openmix_dm.utils.sealed import read_sealed

INDEX = 'index.json'  # {'name', 'source', 'classes': [...], 'splits': {split: {'shape': [...], 'sha256': {file: ...}}}}


class StoredImages(TensorImages):
    """Serve a split that tools/prepare_data.py wrote; nothing is unpickled.

    Args:
        root: folder of the data set, as it is if absolute, else below $OPENMIX_DM_DATA (./data if that is not set).
            None is the name of the data set. Default: None.
        split: one of `splits`. Default: 'train'.
        transforms: configs of batch transforms, applied in order. Those that draw are left out in evaluation.
            Default: ().
    """

    name = ''  # as tools/prepare_data.py knows it
    title = ''
    splits: tuple[str, ...] = ('train', 'test')
    image_size = 32
    memory_mapped = False  # leave the images on disk, where the page cache of the system serves all ranks

    def __init__(
        self, root: str | None = None, split: str = 'train', transforms: Sequence[dict[str, Any]] = ()
    ) -> None:
        one_of('split', split, self.splits)
        self.folder = resolve_root(self.name if root is None else root)
        if not (self.folder / INDEX).is_file():
            raise DataError(f'{self.folder} has no {self.title} as it is prepared; {self._todo()}')
        index = read_index(self.folder, self.name)
        self.classes: list[str] = index['classes']
        sums = index['splits'].get(split, {}).get('sha256', {})
        images = self._load(f'{split}_images.npy', memory_mapped=self.memory_mapped)
        labels = self._load(f'{split}_labels.npy')
        self._check(split, images, labels, sums)
        super().__init__(torch.from_numpy(images), torch.from_numpy(labels), transforms)

    def _load(self, file: str, memory_mapped: bool = False) -> np.ndarray:
        path = self.folder / file
        try:  # 'c' is copy on write: torch wants an array that may be written, and the file stays as it is
            return np.load(path, mmap_mode='c' if memory_mapped else None, allow_pickle=False)
        except FileNotFoundError:
            raise DataError(f'{path} is not there, although {INDEX} lists it; {self._todo()}') from None
        except Exception as error:  # numpy tokenizes a header: a damaged one raises what Python's parser does, too
            raise DataError(f'{path} cannot be read as an array ({first_line(error)}); {self._todo()}') from error

    def _check(self, split: str, images: np.ndarray, labels: np.ndarray, sums: dict[str, str]) -> None:
        shape = (len(labels), 3, self.image_size, self.image_size)
        if images.dtype != np.uint8 or images.shape != shape or labels.dtype != np.int64:
            got = f'{images.dtype} {images.shape} with {len(labels)} labels of {labels.dtype}'
            raise DataError(f'{self.folder / split}_images.npy: expected uint8 {shape}, got {got}; {self._todo()}')
        check_labels(self.folder / f'{split}_labels.npy', labels, self.num_classes)
        for path in (self.folder / f'{split}_{what}.npy' for what in ('labels', 'images')):
            expected = sums.get(path.name)
            if not has_hash(path, expected):
                raise DataError(f'{path} is not what {self.folder / INDEX} says (sha256 {expected}); {self._todo()}')

    def _todo(self) -> str:
        return how_to_prepare(self.name, self.folder)


def read_index(folder: Path, name: str) -> dict[str, Any]:
    """Return what prepare_data.py wrote down about the arrays in a folder."""
    path = folder / INDEX
    try:
        index = read_sealed(path)
        found = index['name'], index['classes'], index['splits']
        if not all(isinstance(entry['sha256'], dict) for entry in index['splits'].values()):
            raise ValueError('splits without hashes')
        if not isinstance(index['classes'], list):
            raise ValueError('classes are no list')
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f'{path} cannot be read ({error!r}); {how_to_prepare(name, folder)}') from error
    if found[0] != name:
        raise DataError(f'{folder} holds {found[0]}, expected {name}; give another root')
    return index


def check_labels(path: Path, labels: np.ndarray, num_classes: int) -> None:
    """Refuse labels that no class has."""
    wrong = np.flatnonzero((labels < 0) | (labels >= num_classes))
    if len(wrong):
        place = int(wrong[0])
        raise DataError(
            f'{path}: label {int(labels[place])} of image {place} is out of range, expected 0 to {num_classes - 1}'
        )
