"""CUB-200-2011, FGVC-Aircraft and Stanford Cars: unpacked images, and index files made of the published lists.

torchvision reads two of them too, but not with all cars in one folder, and it names no file or line that is wrong.
"""

import re
from pathlib import Path

import numpy as np

from openmix_dm.datasets.image_list import read_list
from openmix_dm.datasets.prepare.archives import Tree, open_tree, unpack, write_file
from openmix_dm.datasets.prepare.checking import several
from openmix_dm.datasets.prepare.data_set import DataSet
from openmix_dm.datasets.splits.labelled import SEEDS
from openmix_dm.datasets.splits.split_files import FOLDER, SplitName, encode
from openmix_dm.errors import DataError

CUB, FGVC = 'CUB_200_2011', 'fgvc-aircraft-2013b/data'
TEST_LABELS, ALL_LABELS = 'cars_test_annos_withlabels.mat', 'cars_annos.mat'
NUMBERED = r'\s*([0-9]+)\s+(\S.*?)\s*'  # a line of a published list
PERCENT = (15, 30, 50)  # of the training images, in the lists of Self-Tuning
Lists = tuple[list[str], dict[str, dict[str, int]]]  # classes; by split, the label of each image by its path below root


class FineGrained(DataSet):
    """A data set whose images stay as they are; the published lists become classes.txt, train.txt and test.txt."""

    wanted = ''  # pattern of the files that are unpacked

    def prepare(self) -> str:
        """Unpack the images; write the index and the splits."""
        written = 0
        for tree in self.open():
            targets = {name: self.root / name for name in tree.sizes if re.fullmatch(self.wanted, name)}
            if not targets:
                raise DataError(f'{tree.label} has nothing like {self.wanted}; expected the published layout')
            written += unpack([(tree, targets)], self.root, sum(tree.sizes[name] for name in targets), 'unpacking')[0]
        with open_tree(self.root) as tree:
            classes, splits = self.read(tree)
        labels = {split: np.array([*samples.values()], dtype=np.int64) for split, samples in splits.items()}
        problems = []
        for split, samples in splits.items():
            wrong = [f'{path} ({label})' for path, label in samples.items() if not 0 <= label < len(classes)]
            problems += several(f'{split}: labels out of range (0 to {len(classes) - 1})', wrong)
            problems += several(f'{split}: missing files', [path for path in samples if path not in tree.sizes])
            problems += self.count_problems(split, classes, labels[split]) if self.verify and not wrong else []
        if problems:
            raise DataError(f'{self.root} does not hold {self.title}: {"; ".join(problems)}')
        lists = {split: [f'{path} {label}' for path, label in samples.items()] for split, samples in splits.items()}
        for name, lines in {**lists, 'classes': classes}.items():
            write_file(self.root / f'{name}.txt', ''.join(f'{line}\n' for line in lines).encode())
        taken = self.take_lists([*splits['train']], labels['train'])
        return self.finish(classes, labels, f'{written:,} files written{taken}')

    def take_lists(self, paths: list[str], labels: np.ndarray) -> str:
        """Make splits of Self-Tuning's lists, where root/train_{15,30,50}.txt are there; say which were.

        A list is one fixed draw, so it stands for each seed. Its images are found by their file names.
        """
        places = {Path(path).name: place for place, path in enumerate(paths)}
        found = {path: part / 100 for part in PERCENT if (path := self.root / f'train_{part}.txt').is_file()}
        for path, share in found.items():
            names = [Path(name).name for name in read_list(path)[0]]
            if unknown := [name for name in names if name not in places]:
                raise DataError(f'{path} lists {unknown[0]}, which is no training image of {self.name}')
            indices = np.unique([places[name] for name in names])
            for seed in SEEDS:
                split = SplitName(self.name, None, share, seed, balanced=True)
                write_file(self.root / FOLDER / split.file, encode(split, labels, indices, source=path.name))
        return f', labelled images from {", ".join(path.name for path in found)}' if found else ''


class CUB200(FineGrained):
    """Caltech-UCSD Birds-200-2011."""

    wanted = rf'{CUB}/(?:[a-z_]+\.txt|images/[^/]+/[^/]+\.jpg)'

    def read(self, tree: Tree) -> Lists:
        """Join the published lists by the number of the image; their classes start at 1."""
        images = tree.table(f'{CUB}/images.txt', NUMBERED, 'a number and a path')
        names = tree.table(f'{CUB}/classes.txt', NUMBERED, 'a number and a name')
        labels = tree.table(f'{CUB}/image_class_labels.txt', r'\s*([0-9]+)\s+([0-9]+)\s*', 'two numbers')
        training = tree.table(f'{CUB}/train_test_split.txt', r'\s*([0-9]+)\s+([01])\s*', 'a number, and 0 or 1')
        if not images.keys() == labels.keys() == training.keys():
            three = 'images.txt, image_class_labels.txt and train_test_split.txt'
            raise DataError(f'{tree.label}: {three} list different images')
        splits: dict[str, dict[str, int]] = {'train': {}, 'test': {}}
        for number in sorted(images, key=int):
            split = 'train' if training[number] == '1' else 'test'
            splits[split][f'{CUB}/images/{images[number]}'] = int(labels[number]) - 1
        return [names[number] for number in sorted(names, key=int)], splits


class Aircraft(FineGrained):
    """FGVC-Aircraft; train is what is published as train and val."""

    wanted = rf'{FGVC}/(?:[a-z_]+\.txt|images/[0-9]+\.jpg)'

    def read(self, tree: Tree) -> Lists:
        """Return the images of both lists; a class is a variant, numbered as in variants.txt."""
        variants, splits = tree.lines(f'{FGVC}/variants.txt'), {}
        for split, part in (('train', 'trainval'), ('test', 'test')):
            file, wanted = f'{FGVC}/images_variant_{part}.txt', 'the number of an image and a variant of variants.txt'
            found = tree.table(file, NUMBERED, wanted, lambda line: line[2] in variants)
            splits[split] = {f'{FGVC}/images/{image}.jpg': variants.index(name) for image, name in found.items()}
        return variants, splits


class Cars(FineGrained):
    """Stanford Cars, with a folder for each split, or with all images in one."""

    wanted = r'(?:cars_train|cars_test|car_ims)/[0-9]+\.jpg|(?:devkit/)?[a-z_]+\.mat'

    def read(self, tree: Tree) -> Lists:
        """Return the images of either layout; the classes of the files start at 1."""
        splits: dict[str, dict[str, int]] = {'train': {}, 'test': {}}
        if ALL_LABELS in tree.sizes:
            for path, label, test in tree.rows(ALL_LABELS, 'annotations', 'relative_im_path', 'class', 'test'):
                splits['test' if test else 'train'][str(path)] = int(label) - 1
            return [str(name) for name in tree.rows(ALL_LABELS, 'class_names')], splits
        if TEST_LABELS not in tree.sizes:
            raise DataError(f'{tree.label} has neither {TEST_LABELS} nor {ALL_LABELS}; give one of them by --archive')
        for split, file in (('train', 'devkit/cars_train_annos.mat'), ('test', TEST_LABELS)):
            rows = tree.rows(file, 'annotations', 'fname', 'class')
            splits[split] = {f'cars_{split}/{name}': int(label) - 1 for name, label in rows}
        return [str(name) for name in tree.rows('devkit/cars_meta.mat', 'class_names')], splits
