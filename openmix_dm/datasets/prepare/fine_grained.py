"""CUB-200-2011, FGVC-Aircraft and Stanford Cars: unpacked images, and index files made of the published lists.

torchvision reads two of them too, but not with all cars in one folder, and it names no file or line that is wrong.
"""

import re
from abc import abstractmethod
from pathlib import Path

import numpy as np

from openmix_dm.datasets import fine_grained as loaders
from openmix_dm.datasets.image_list import read_list
from openmix_dm.datasets.prepare.archives import Tree, open_tree, unpack, write_file
from openmix_dm.datasets.prepare.checking import several
from openmix_dm.datasets.prepare.data_set import DataSet, Request
from openmix_dm.datasets.splits.labelled import SEEDS
from openmix_dm.datasets.splits.split_files import FOLDER, SplitName, encode
from openmix_dm.errors import DataError

CUB, FGVC = 'CUB_200_2011', 'fgvc-aircraft-2013b/data'
TEST_LABELS, ALL_LABELS = 'cars_test_annos_withlabels.mat', 'cars_annos.mat'
PERCENT = (15, 30, 50)  # of the training images, in the lists of Self-Tuning
Lists = tuple[list[str], dict[str, dict[str, int]]]  # classes; by split, the label of each image by its path below root


class FineGrained(DataSet):
    """A data set whose images stay as they are; the published lists become classes.txt, train.txt and test.txt."""

    wanted = ''  # pattern of the files that are unpacked

    @abstractmethod
    def read(self, tree: Tree) -> Lists:
        """Return what the published files say."""

    def prepare(self, request: Request) -> str:
        """Unpack the images; write the index and the splits."""
        root = request.root
        written = sum(self.unpack(tree, root) for tree in self.open(request))
        with open_tree(root) as tree:
            classes, splits = self.read(tree)
        labels = {split: np.array([*samples.values()], dtype=np.int64) for split, samples in splits.items()}
        problems = []
        for split, samples in splits.items():
            wrong = [f'{path} ({label})' for path, label in samples.items() if not 0 <= label < len(classes)]
            problems += several(f'{split}: labels out of range (0 to {len(classes) - 1})', wrong)
            problems += several(f'{split}: missing files', [path for path in samples if path not in tree.sizes])
            problems += self.count_problems(split, classes, labels[split]) if request.verify and not wrong else []
        if problems:
            raise DataError(f'{root} does not hold {self.title}: {"; ".join(problems)}')
        for split, samples in splits.items():
            write_file(root / f'{split}.txt', ''.join(f'{path} {label}\n' for path, label in samples.items()).encode())
        write_file(root / 'classes.txt', ''.join(f'{name}\n' for name in classes).encode())
        taken = self.take_lists(root, [*splits['train']], labels['train'])
        return self.finish(request, classes, labels, f'{written:,} files written{taken}')

    def unpack(self, tree: Tree, root: Path) -> int:
        """Write the files with a wanted name below root, unless a file of the right size is there; return how many."""
        targets = {name: root / name for name in tree.sizes if re.fullmatch(self.wanted, name)}
        if not targets:
            raise DataError(f'{tree.label} has nothing like {self.wanted}; expected the published layout')
        return unpack([(tree, targets)], root, sum(tree.sizes[name] for name in targets), 'unpacking')[0]

    def take_lists(self, root: Path, paths: list[str], labels: np.ndarray) -> str:
        """Make splits of Self-Tuning's lists, where root/train_{15,30,50}.txt are there; say which were.

        A list is one fixed draw, so it stands for each seed. Its images are found by their file names.
        """
        places = {Path(path).name: place for place, path in enumerate(paths)}
        lists = {root / f'train_{percent}.txt': percent / 100 for percent in PERCENT}
        found = {path: share for path, share in lists.items() if path.is_file()}
        for path, share in found.items():
            names = [Path(name).name for name in read_list(path)[0]]
            if unknown := [name for name in names if name not in places]:
                raise DataError(f'{path} lists {unknown[0]}, which is no training image of {self.name}')
            indices = np.unique([places[name] for name in names])
            for seed in SEEDS:
                split = SplitName(self.name, None, share, seed, balanced=True)
                write_file(root / FOLDER / split.file, encode(split, labels, indices, source=path.name))
        return f', labelled images from {", ".join(path.name for path in found)}' if found else ''


def read_table(tree: Tree, name: str, expected: str, value: str = r'\S.*?') -> dict[str, str]:
    """Return a published list of numbers and values."""
    table = {}
    for number, line in enumerate(tree.lines(name), start=1):
        match = re.fullmatch(rf'\s*([0-9]+)\s+({value})\s*', line)
        if match is None:
            raise DataError(f'{tree.label}: {name}, line {number}: expected {expected}, got {line!r}')
        table[match[1]] = match[2]
    return table


class CUB200(FineGrained):
    """Caltech-UCSD Birds-200-2011."""

    name, title, classes = 'cub200', 'CUB-200-2011', 200
    counts = {'train': 5_994, 'test': 5_794}
    loader = loaders.CUB200
    hashes = {'CUB_200_2011.tgz': '97eceeb196236b17998738112f37df78'}
    unpacked = (CUB,)
    url = 'https://data.caltech.edu/records/65de6-vp158/files/CUB_200_2011.tgz?download=1'
    wanted = rf'{CUB}/(?:[a-z_]+\.txt|images/[^/]+/[^/]+\.jpg)'

    def read(self, tree: Tree) -> Lists:
        """Join the published lists by the number of the image; their classes start at 1."""
        images = read_table(tree, f'{CUB}/images.txt', 'a number and a path')
        names = read_table(tree, f'{CUB}/classes.txt', 'a number and a name')
        labels = read_table(tree, f'{CUB}/image_class_labels.txt', 'two numbers', '[0-9]+')
        training = read_table(tree, f'{CUB}/train_test_split.txt', 'a number, and 0 or 1', '[01]')
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

    name, title, classes = 'aircraft', 'FGVC-Aircraft', 100
    counts = {'train': 6_667, 'test': 3_333}
    loader = loaders.Aircraft
    hashes = {'fgvc-aircraft-2013b.tar.gz': 'd4acdd33327262359767eeaa97a4f732'}
    unpacked = ('fgvc-aircraft-2013b',)
    url = 'https://www.robots.ox.ac.uk/~vgg/data/fgvc-aircraft/archives/fgvc-aircraft-2013b.tar.gz'
    wanted = rf'{FGVC}/(?:[a-z_]+\.txt|images/[0-9]+\.jpg)'

    def read(self, tree: Tree) -> Lists:
        """Return the images of both lists; a class is a variant, numbered as in variants.txt."""
        variants = tree.lines(f'{FGVC}/variants.txt')
        splits = {}
        for split, file in (('train', 'images_variant_trainval.txt'), ('test', 'images_variant_test.txt')):
            found = read_table(tree, f'{FGVC}/{file}', 'the number of an image and a variant')
            for image, name in found.items():
                if name not in variants:
                    why = f'image {image} has the variant {name!r}, which variants.txt has not'
                    raise DataError(f'{tree.label}: {file}: {why}')
            splits[split] = {f'{FGVC}/images/{image}.jpg': variants.index(name) for image, name in found.items()}
        return variants, splits


class Cars(FineGrained):
    """Stanford Cars, with a folder for each split, or with all images in one."""

    name, title, classes = 'cars', 'Stanford Cars', 196
    counts = {'train': 8_144, 'test': 8_041}
    loader = loaders.Cars
    hashes = {
        'cars_train.tgz': '065e5b463ae28d29e77c1b4b166cfe61',
        'cars_test.tgz': '4ce7ebf6a94d07f1952d94dd34c4d501',
        'car_devkit.tgz': 'c3b158d763b6e2245038c8ad08e45376',
        TEST_LABELS: 'b0a2b23655a3edd16d84508592a98d10',
        'car_ims.tgz': '',
        ALL_LABELS: '',
    }
    unpacked = (TEST_LABELS, ALL_LABELS)
    how_to_get = (
        'Stanford Cars is no longer where it was published (ai.stanford.edu/~jkrause/cars). From a copy of it, give\n'
        '  python tools/prepare_data.py cars --root {root} --archive cars_train.tgz cars_test.tgz car_devkit.tgz '
        f'{TEST_LABELS}\n'
        f'or car_ims.tgz {ALL_LABELS} (all images in one archive); or unpack them in {{root}} and run this again'
    )
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
