"""Tiny-ImageNet: the JPEGs of the published zip archive, decoded once, to arrays."""

import re
from typing import Any

import numpy as np

from openmix_dm.datasets import tiny_imagenet as loaders
from openmix_dm.datasets.prepare.archives import Tree
from openmix_dm.datasets.prepare.arrays import ArraySet, Content, Images, decode
from openmix_dm.errors import DataError
from openmix_dm.utils.progress import track

FOLDER, SIDE = 'tiny-imagenet-200', 64
TRAIN = re.compile(rf'{FOLDER}/train/(n[0-9]{{8}})/images/[^/]+\.JPEG')


class TinyImageNet(ArraySet):
    """Tiny-ImageNet out of its published archive."""

    name, title, classes = 'tiny-imagenet', 'Tiny-ImageNet', 200
    counts = {'train': 100_000, 'val': 10_000}
    loader = loaders.TinyImageNet
    hashes = {'tiny-imagenet-200.zip': '90528d7ca1a48142e341f4ef8d21d0de'}
    unpacked = (FOLDER,)
    url = 'http://cs231n.stanford.edu/tiny-imagenet-200.zip'

    def read(self, tree: Tree) -> Content:
        """Return the classes, sorted, and the splits in the sorted order of their files."""
        classes = sorted(tree.lines(f'{FOLDER}/wnids.txt'))
        train = {name: match[1] for name in tree.sizes if (match := TRAIN.fullmatch(name))}
        missing, unknown = sorted({*classes} - {*train.values()}), sorted({*train.values()} - {*classes})
        if missing or unknown:
            raise DataError(
                f'{tree.label}: the class folders of {FOLDER}/train are not those of wnids.txt: missing '
                f'{", ".join(missing[:5]) or "none"}, too many {", ".join(unknown[:5]) or "none"}'
            )
        val = {}
        for number, line in enumerate(tree.lines(f'{FOLDER}/val/val_annotations.txt'), start=1):
            file, wnid, *_ = *line.split('\t'), ''
            if wnid not in classes or f'{FOLDER}/val/images/{file}' not in tree.sizes:
                wanted = 'expected an image of val/images and a class of wnids.txt'
                raise DataError(f'{tree.label}: val_annotations.txt, line {number}: {wanted}, got {line!r}')
            val[f'{FOLDER}/val/images/{file}'] = wnid
        splits: dict[str, Any] = {}
        for split, files in (('train', train), ('val', val)):
            labels = np.array([classes.index(files[name]) for name in sorted(files)], dtype=np.int64)
            splits[split] = labels, decode_all(tree, split, sorted(files))
        return classes, splits


def decode_all(tree: Tree, split: str, files: list[str]) -> Images:
    """Yield each image with its place, in the order in which they are stored."""
    places = {name: place for place, name in enumerate(files)}
    stored = [name for name in tree.sizes if name in places]
    for name in track(stored, len(stored), f'decoding {split}'):
        yield places[name], decode(tree, name, SIDE, SIDE).transpose(2, 0, 1)
