"""Tiny-ImageNet: the JPEGs of the published zip archive, decoded once, to arrays."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from openmix_dm.datasets.prepare import archives, arrays
from openmix_dm.datasets.prepare.download import Remote
from openmix_dm.datasets.prepare.request import OFFICIAL_ONLY, Request, published
from openmix_dm.datasets.prepare.trees import Tree, text_lines
from openmix_dm.errors import DataError

TITLE, ROOT, DEVKIT, SOURCES = 'Tiny-ImageNet', 'tiny-imagenet', '', OFFICIAL_ONLY
REMOTE = Remote(
    name='tiny-imagenet-200.zip',
    url='http://cs231n.stanford.edu/tiny-imagenet-200.zip',
    md5='90528d7ca1a48142e341f4ef8d21d0de',
)
FOLDER = 'tiny-imagenet-200'
CLASSES, SIZE = 200, 64
COUNTS = {'train': 100_000, 'val': 10_000}
TRAIN = re.compile(rf'{FOLDER}/train/(n[0-9]{{8}})/images/[^/]+\.JPEG')
Labelled = dict[str, int]  # name of a file in the tree, label


def prepare(request: Request) -> str:
    """Write the arrays, if they are not there yet."""
    if arrays.is_prepared(request.root, ROOT, tuple(COUNTS)):
        return f'{TITLE} is in {request.root} already, with the right hashes; nothing to do'
    with published(request, REMOTE, FOLDER) as tree:
        classes = sorted(text_lines(tree, f'{FOLDER}/wnids.txt'))
        splits = {'train': list_train(tree, classes), 'val': list_val(tree, classes)}
        if request.verify:
            verify_counts(tree, classes, splits)
        written = {split: write(tree, request.root, split, files) for split, files in splits.items()}
    arrays.write_index(request.root, ROOT, REMOTE.url, classes, written)
    counts = ', '.join(f'{len(files):,} {split}' for split, files in splits.items())
    return f'{TITLE}: {counts} images of {len(classes)} classes in {request.root}'


def list_train(tree: Tree, classes: list[str]) -> Labelled:
    """Return the training images by the folders they are in."""
    labels = {name: label for label, name in enumerate(classes)}
    found = {name: match.group(1) for name in tree.sizes if (match := TRAIN.fullmatch(name))}
    unknown = sorted({*found.values()} - {*classes})
    missing = sorted({*classes} - {*found.values()})
    if unknown or missing:
        raise DataError(
            f'{tree.label}: the class folders of {FOLDER}/train are not those of wnids.txt: missing '
            f'{", ".join(missing[:5]) or "none"}, too many {", ".join(unknown[:5]) or "none"}'
        )
    return {name: labels[found[name]] for name in sorted(found)}


def list_val(tree: Tree, classes: list[str]) -> Labelled:
    """Return the validation images as val_annotations.txt lists them."""
    labels = {name: label for label, name in enumerate(classes)}
    files: Labelled = {}
    for number, line in enumerate(text_lines(tree, f'{FOLDER}/val/val_annotations.txt'), start=1):
        fields = line.split('\t')
        name = f'{FOLDER}/val/images/{fields[0]}'
        if len(fields) < 2 or fields[1] not in labels or name not in tree.sizes:
            raise DataError(
                f'{tree.label}: val_annotations.txt, line {number}: expected an image of val/images and a class of '
                f'wnids.txt, got {line!r}'
            )
        files[name] = labels[fields[1]]
    return dict(sorted(files.items()))


def verify_counts(tree: Tree, classes: list[str], splits: dict[str, Labelled]) -> None:
    """Refuse another number of images than the published one."""
    problems = [] if len(classes) == CLASSES else [f'expected {CLASSES} classes, got {len(classes)}']
    for split, files in splits.items():
        labels = np.array(list(files.values()), dtype=np.int64)
        problems += arrays.balance_problems(split, labels, len(classes), COUNTS[split])
    if problems:
        raise DataError(f'{tree.label} is not {TITLE}: {"; ".join(problems)}; add --no-verify if it is meant to differ')


def write(tree: Tree, root: Path, split: str, files: Labelled) -> dict[str, object]:
    """Decode and write a split, in the sorted order of its files."""
    labels = np.array(list(files.values()), dtype=np.int64)
    return arrays.write_split(root, split, labels, decode(tree, split, files), SIZE)


def decode(tree: Tree, split: str, files: Labelled) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each image (3, 64, 64) with its place."""
    import cv2

    places = {name: place for place, name in enumerate(files)}
    with archives.meter(f'decoding {split}', len(files)) as advance:
        for name, content in tree.read(files):
            image = cv2.imdecode(np.frombuffer(content, dtype=np.uint8), cv2.IMREAD_COLOR_RGB) if content else None
            if image is None or image.shape != (SIZE, SIZE, 3):
                got = f'{len(content)} bytes that are no image' if image is None else f'{image.shape[:2]} pixels'
                raise DataError(f'{tree.label}: {name}: expected an image of {SIZE} x {SIZE} pixels, got {got}')
            yield places[name], image.transpose(2, 0, 1)
            advance(1)


def check(root: Path) -> list[str]:
    """Print how much is there; return what is wrong with it."""
    return arrays.check_arrays(root, ROOT, CLASSES, COUNTS, SIZE)
