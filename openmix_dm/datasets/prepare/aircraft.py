"""FGVC-Aircraft: fgvc-aircraft-2013b/data/{variants.txt, images_variant_{trainval,test}.txt, images/}."""

import re
from pathlib import Path

from openmix_dm.datasets.image_list import read_lines
from openmix_dm.datasets.prepare import fine_grained
from openmix_dm.datasets.prepare.download import Remote
from openmix_dm.datasets.prepare.fine_grained import Facts, Index, parse_lines
from openmix_dm.datasets.prepare.request import OFFICIAL_ONLY, Request, published
from openmix_dm.errors import DataError

TITLE, ROOT, DEVKIT, SOURCES = 'FGVC-Aircraft', 'aircraft', '', OFFICIAL_ONLY
REMOTE = Remote(
    name='fgvc-aircraft-2013b.tar.gz',
    url='https://www.robots.ox.ac.uk/~vgg/data/fgvc-aircraft/archives/fgvc-aircraft-2013b.tar.gz',
    md5='d4acdd33327262359767eeaa97a4f732',
)
FOLDER = 'fgvc-aircraft-2013b'
DATA = f'{FOLDER}/data'
WANTED = re.compile(rf'{DATA}/(?:[a-z_]+\.txt|images/[0-9]+\.jpg)')
LISTS = {'train': 'images_variant_trainval.txt', 'test': 'images_variant_test.txt'}
CLASSES, COUNTS = 100, {'train': 6_667, 'test': 3_333}


def prepare(request: Request) -> str:
    """Unpack the images and write the index."""
    with published(request, REMOTE, FOLDER) as tree:
        written = fine_grained.unpack(tree, WANTED, request.root)
    facts = Facts(ROOT, TITLE, CLASSES, COUNTS)
    return fine_grained.finish(request, facts, read_lists(request.root), written)


def read_lists(root: Path) -> Index:
    """Return the images of both lists; a class is a variant, numbered as in variants.txt."""
    variants = read_lines(root / DATA / 'variants.txt')
    labels = {name: label for label, name in enumerate(variants)}
    splits = {}
    for split, file in LISTS.items():
        path = root / DATA / file
        found = parse_lines(path, image_and_variant, 'the number of an image and a variant')
        for image, variant in found.items():
            if variant not in labels:
                raise DataError(f'{path}: image {image} has the variant {variant!r}, which variants.txt has not')
        splits[split] = [(f'{DATA}/images/{image}.jpg', labels[variant]) for image, variant in found.items()]
    return Index(variants, splits)


def image_and_variant(line: str) -> tuple[str, str]:
    """Split a line at its first space: a variant may hold spaces."""
    image, variant = line.split(' ', maxsplit=1)
    if not image.isdigit():
        raise ValueError(image)
    return image, variant.strip()


def check(root: Path) -> list[str]:
    """Print how much is there; return what is wrong with it."""
    return fine_grained.check_index(root, COUNTS, CLASSES)
