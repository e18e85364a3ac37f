"""ImageNet-1k (ILSVRC 2012): the official archives to root/{train,val}/<synset>/*.JPEG, and a check of the result."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from openmix_dm.datasets.image_folder import list_folders
from openmix_dm.datasets.prepare.archives import Tree, check_space, open_tree, unpack
from openmix_dm.datasets.prepare.checking import Findings, check_folder, several
from openmix_dm.datasets.prepare.data_set import DataSet
from openmix_dm.errors import DataError

DEVKIT, TRAIN, VAL = 'ILSVRC2012_devkit_t12.tar.gz', 'ILSVRC2012_img_train.tar', 'ILSVRC2012_img_val.tar'
SYNSET, TRAIN_IMAGE = 'n[0-9]{8}', r'n[0-9]{8}_[0-9]{1,9}\.JPEG'
MEMBERS = {'train': rf'{SYNSET}\.tar', 'val': r'ILSVRC2012_val_[0-9]{8}\.JPEG'}
DATA = 'ILSVRC2012_devkit_t12/data'
Part = tuple[Tree, dict[str, Path]]  # files, and the paths to unpack them to
NO_DEVKIT = f'is the val archive: expected --devkit {DEVKIT} with it, got none; it holds the labels'


class ImageNet(DataSet):
    """ImageNet as a folder of JPEGs for each synset."""

    def prepare(self) -> str:
        """Unpack the archives that were given, or say where to get them; what can be refused at once is not hashed."""
        for path in self.archives:
            if path.name == VAL and not self.devkit:
                raise DataError(f'{path} {NO_DEVKIT}')
        check_space(self.root, sum(path.stat().st_size for path in self.archives if path.is_file()))
        labels = None
        for tree in replace(self, archives=(self.devkit,)).open() if self.devkit else ():
            labels = self.read(tree)
        return '\n'.join(self.unpack(tree, labels) for tree in self.open())

    def read(self, tree: Tree) -> dict[str, str]:
        """Return the synset of each validation image by its name, which the devkit says.

        torchvision's parser takes no other devkit, unpacks it unchecked, and writes into the folder that it is in.
        """
        truth = tree.lines(f'{DATA}/ILSVRC2012_validation_ground_truth.txt')
        rows = tree.rows(f'{DATA}/meta.mat', 'synsets', 'ILSVRC2012_ID', 'WNID')
        synsets = {str(int(number)): str(synset) for number, synset in rows if number <= self.classes}  # the leaves
        for synset in synsets.values():
            if not re.fullmatch(SYNSET, synset):  # it becomes the name of a folder
                raise DataError(f'{tree.label}: WNID in meta.mat must be like n01440764, got {synset!r}')
        if unknown := [line for line in truth if line not in synsets]:
            hint = f'must hold IDs of meta.mat, got {unknown[0]}; download it again'
            raise DataError(f'{tree.label}: the ground truth {hint}')
        return {f'ILSVRC2012_val_{number:08d}.JPEG': synsets[line] for number, line in enumerate(truth, start=1)}

    def unpack(self, tree: Tree, labels: dict[str, str] | None) -> str:
        """Unpack the train or the val archive; return what is there now."""
        first = next(iter(tree.sizes), 'no files')
        split = next((split for split, pattern in MEMBERS.items() if re.fullmatch(pattern, first)), '')
        if not split:
            wanted = f'{TRAIN} (of n01440764.tar, ...) or {VAL} (of ILSVRC2012_val_00000001.JPEG, ...)'
            got = f'got one of {first!r}; see https://image-net.org'
            raise DataError(f'{tree.label} is another archive, or a folder: expected {wanted}, {got}')
        refuse_others(tree, MEMBERS[split])
        folder = self.root / split
        parts = train_images(tree, folder) if split == 'train' else val_images(tree, folder, labels)
        written, images = unpack(parts, folder, sum(tree.sizes.values()), f'unpacking {split}')
        odd = '' if images == self.counts[split] else f'; the official archive has {self.counts[split]:,}'
        there = f'{written:,} written, {images - written:,} already there'
        return f'{split}: {images:,} images in {folder} ({there}){odd}'

    def check(self) -> Findings:
        """Print how much is there; return what is wrong with it, and the images."""
        problems, images = check_folder(self.root, tuple(self.counts))
        for split in self.counts:
            classes = list_folders(self.root / split)
            places = {self.root / split / name: place for place, name in enumerate(classes)}
            labels = [places[image.parent] for image in images if image.parent in places]
            problems += self.count_problems(split, classes, labels)
            others = [name for name in classes if not re.fullmatch(SYNSET, name)]
            problems += several(f'{split}: folders that are no synsets', others)
        return problems, images


def train_images(tree: Tree, folder: Path) -> Iterator[Part]:
    """Yield the archive of each synset, and the paths to unpack it to."""
    for name in tree.sizes:
        with open_tree(Path(tree.label), tree.open(name), f'{tree.label}:{name}') as inner:
            refuse_others(inner, TRAIN_IMAGE)
            yield inner, {file: folder / name.removesuffix('.tar') / file for file in inner.sizes}


def val_images(tree: Tree, folder: Path, labels: dict[str, str] | None) -> list[Part]:
    """Return the archive, and the paths to unpack it to, which the devkit says."""
    if labels is None:
        raise DataError(f'{tree.label} {NO_DEVKIT}')
    if unknown := [name for name in tree.sizes if name not in labels]:
        wanted = f'a number from 1 to {len(labels)} (lines of the ground truth)'
        raise DataError(f'{unknown[0]} has no label: expected {wanted}')
    return [(tree, {name: folder / labels[name] / name for name in tree.sizes})]


def refuse_others(tree: Tree, pattern: str) -> None:
    """Refuse an archive if any of its files is not named as expected."""
    for name in tree.sizes:
        if not re.fullmatch(pattern, name):
            raise DataError(f'{tree.label} holds {name!r}, expected only names like {pattern}')
