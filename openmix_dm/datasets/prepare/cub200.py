"""CUB-200-2011: CUB_200_2011/{images.txt, image_class_labels.txt, train_test_split.txt, classes.txt, images/}."""

import re
from pathlib import Path

from openmix_dm.datasets.prepare import fine_grained
from openmix_dm.datasets.prepare.download import Remote
from openmix_dm.datasets.prepare.fine_grained import Facts, Index, parse_lines
from openmix_dm.datasets.prepare.request import OFFICIAL_ONLY, Request, published
from openmix_dm.errors import DataError

TITLE, ROOT, DEVKIT, SOURCES = 'CUB-200-2011', 'cub200', '', OFFICIAL_ONLY
REMOTE = Remote(
    name='CUB_200_2011.tgz',
    url='https://data.caltech.edu/records/65de6-vp158/files/CUB_200_2011.tgz?download=1',
    md5='97eceeb196236b17998738112f37df78',
)
FOLDER = 'CUB_200_2011'
WANTED = re.compile(rf'{FOLDER}/(?:[a-z_]+\.txt|images/[^/]+/[^/]+\.jpg)')
CLASSES, COUNTS = 200, {'train': 5_994, 'test': 5_794}


def prepare(request: Request) -> str:
    """Unpack the images and write the index."""
    with published(request, REMOTE, FOLDER) as tree:
        written = fine_grained.unpack(tree, WANTED, request.root)
    facts = Facts(ROOT, TITLE, CLASSES, COUNTS)
    return fine_grained.finish(request, facts, read_lists(request.root), written)


def read_lists(root: Path) -> Index:
    """Join the published lists by the number of the image; their classes start at 1."""
    folder = root / FOLDER
    columns = {
        file: parse_lines(folder / file, two_columns, 'a number and a value')
        for file in ('images.txt', 'image_class_labels.txt', 'train_test_split.txt', 'classes.txt')
    }
    images, labels, split, names = columns.values()
    if not images.keys() == labels.keys() == split.keys():
        raise DataError(f'{folder}: images.txt, image_class_labels.txt and train_test_split.txt list different images')
    classes = sorted(names, key=int)
    splits: dict[str, list[tuple[str, int]]] = {'train': [], 'test': []}
    for number in sorted(images, key=int):
        path = f'{FOLDER}/images/{images[number]}'
        splits['train' if split[number] == '1' else 'test'].append((path, int(labels[number]) - 1))
    return Index([names[number] for number in classes], splits)


def two_columns(line: str) -> tuple[str, str]:
    """Return the number at the start of a line, and the rest."""
    number, value = line.split(maxsplit=1)
    return str(int(number)), value.strip()


def check(root: Path) -> list[str]:
    """Print how much is there; return what is wrong with it."""
    return fine_grained.check_index(root, COUNTS, CLASSES)
