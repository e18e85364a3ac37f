"""What the fine-grained data sets share: unpacked images, and index files that are made of the published lists."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from openmix_dm.datasets.image_list import read_lines, read_list
from openmix_dm.datasets.prepare import archives
from openmix_dm.datasets.prepare.checking import several
from openmix_dm.datasets.prepare.request import Request
from openmix_dm.datasets.prepare.standard_splits import store_splits, take_lists
from openmix_dm.datasets.prepare.trees import Tree
from openmix_dm.errors import DataError

SPLITS = ('train', 'test')


@dataclass(frozen=True)
class Index:
    """What the published lists say: names of the classes, and (path below root, label) of each split."""

    classes: list[str]
    splits: dict[str, list[tuple[str, int]]]


@dataclass(frozen=True)
class Facts:
    """What is known about a data set."""

    name: str
    title: str
    classes: int
    counts: dict[str, int]


def unpack(tree: Tree, wanted: re.Pattern[str], root: Path) -> int:
    """Write the files with a wanted name below root, unless a file of the right size is there; return how many."""
    names = {name: size for name, size in tree.sizes.items() if wanted.fullmatch(name)}
    if not names:
        raise DataError(f'{tree.label} has nothing like {wanted.pattern}; expected the published layout')
    missing = [name for name, size in names.items() if not archives.has_size(root / name, size)]
    total = sum(names[name] for name in missing)
    archives.check_target(root, total)
    with archives.meter('unpacking', max(total, 1)) as advance:
        for name, content in tree.read(missing):
            archives.write_file(root / name, content)
            advance(len(content))
    return len(missing)


def write_index(root: Path, index: Index) -> None:
    """Write classes.txt, train.txt and test.txt."""
    for split, samples in index.splits.items():
        archives.write_file(root / f'{split}.txt', ''.join(f'{path} {label}\n' for path, label in samples).encode())
    archives.write_file(root / 'classes.txt', ''.join(f'{name}\n' for name in index.classes).encode())


def finish(request: Request, facts: Facts, index: Index, written: int) -> str:
    """Verify what was read, write the index and the splits; return what is there now."""
    problems = index_problems(request.root, index)
    problems += count_problems(index, facts.counts, facts.classes) if request.verify else []
    if problems:
        raise DataError(f'{request.root} does not hold {facts.title}: {"; ".join(problems)}')
    write_index(request.root, index)
    paths, labels = [path for path, _ in index.splits['train']], np.array([label for _, label in index.splits['train']])
    lists = take_lists(request.root, facts.name, paths, labels)
    if request.verify:
        store_splits(request.root, facts.name, labels)
    found = ', '.join(f'{len(samples):,} {split}' for split, samples in index.splits.items())
    used = f', labelled images from {", ".join(lists)}' if lists else ''
    return (
        f'{facts.title}: {found} images of {len(index.classes)} classes in {request.root} '
        f'({written:,} files written{used})'
    )


def index_problems(root: Path, index: Index) -> list[str]:
    """Return what is wrong with labels, and which files are not there."""
    problems = []
    for split, samples in index.splits.items():
        wrong = [f'{path} ({label})' for path, label in samples if not 0 <= label < len(index.classes)]
        problems += several(f'{split}: labels out of range (0 to {len(index.classes) - 1})', wrong)
        problems += several(f'{split}: missing files', [path for path, _ in samples if not (root / path).is_file()])
    return problems


def count_problems(index: Index, counts: dict[str, int], classes: int) -> list[str]:
    """Compare numbers with the official ones."""
    problems = [] if len(index.classes) == classes else [f'expected {classes} classes, got {len(index.classes)}']
    for split, count in counts.items():
        samples = index.splits.get(split, [])
        if len(samples) != count:
            problems.append(f'{split}: expected {count:,} images, got {len(samples):,}')
        labels = np.array([label for _, label in samples if 0 <= label < classes], dtype=np.int64)
        empty = np.flatnonzero(np.bincount(labels, minlength=classes) == 0)
        problems += several(f'{split}: classes without images', [str(label) for label in empty])
    return problems


def check_index(root: Path, counts: dict[str, int], classes: int) -> list[str]:
    """Print how much is there; return what is wrong with it."""
    try:
        names = read_lines(root / 'classes.txt')
        splits = {split: read_list(root / f'{split}.txt') for split in counts}
    except DataError as error:
        return [str(error)]
    index = Index(
        names, {split: list(zip(paths, labels.tolist(), strict=True)) for split, (paths, labels) in splits.items()}
    )
    for split, samples in index.splits.items():
        print(f'{split}: {len(names):,} classes, {len(samples):,} images in {root}', flush=True)
    return index_problems(root, index) + count_problems(index, counts, classes)


def parse_lines(path: Path, parse: Callable[[str], tuple[str, str]], expected: str) -> dict[str, str]:
    """Return a published list as a table of its two columns."""
    table = {}
    for number, line in enumerate(read_lines(path), start=1):
        try:
            name, value = parse(line)
        except ValueError:
            raise DataError(f'{path}, line {number}: expected {expected}, got {line!r}') from None
        table[name] = value
    return table
