"""Stanford Cars: cars_train/, cars_test/, devkit/, cars_test_annos_withlabels.mat; or car_ims/ and cars_annos.mat."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from openmix_dm.datasets.prepare import archives, fine_grained
from openmix_dm.datasets.prepare.fine_grained import Facts, Index
from openmix_dm.datasets.prepare.request import OFFICIAL_ONLY, Request
from openmix_dm.datasets.prepare.trees import open_tree
from openmix_dm.errors import DataError

TITLE, ROOT, DEVKIT, SOURCES = 'Stanford Cars', 'cars', '', OFFICIAL_ONLY
TEST_LABELS = 'cars_test_annos_withlabels.mat'
ALL_LABELS = 'cars_annos.mat'
MD5 = {
    'cars_train.tgz': '065e5b463ae28d29e77c1b4b166cfe61',
    'cars_test.tgz': '4ce7ebf6a94d07f1952d94dd34c4d501',
    'car_devkit.tgz': 'c3b158d763b6e2245038c8ad08e45376',
    TEST_LABELS: 'b0a2b23655a3edd16d84508592a98d10',
}
WANTED = re.compile(r'(?:cars_train|cars_test|car_ims)/[0-9]+\.jpg|devkit/[a-z_]+\.mat')
CLASSES, COUNTS = 196, {'train': 8_144, 'test': 8_041}


def how_to_get(root: Path) -> str:
    """Say which files are needed."""
    return (
        f'{TITLE} is no longer where it was published (ai.stanford.edu/~jkrause/cars). From a copy of it, give\n'
        f'  python tools/prepare_data.py cars --root {root} --archive cars_train.tgz cars_test.tgz car_devkit.tgz '
        f'{TEST_LABELS}\n'
        f'or car_ims.tgz {ALL_LABELS} (all images in one archive); or unpack them in {root} and run this again'
    )


def prepare(request: Request) -> str:
    """Unpack the archives and write the index."""
    written = sum(take(request, archive) for archive in request.archives)
    if not (request.root / ALL_LABELS).is_file() and not (request.root / TEST_LABELS).is_file():
        print(how_to_get(request.root), flush=True)
        raise DataError(f'{request.root} has neither {TEST_LABELS} nor {ALL_LABELS}; what to do is said above')
    facts = Facts(ROOT, TITLE, CLASSES, COUNTS)
    return fine_grained.finish(request, facts, read_lists(request.root), written)


def take(request: Request, archive: Path) -> int:
    """Unpack an archive, or copy the labels that come as a file of their own."""
    archives.require_file(archive, '--archive', ' or '.join((*MD5, 'car_ims.tgz', ALL_LABELS)))
    if request.verify and archive.name in MD5:
        archives.verify_md5(archive, MD5[archive.name], archive.name)
    if archive.name in (TEST_LABELS, ALL_LABELS):
        archives.write_file(request.root / archive.name, archive.read_bytes())
        return 1
    with open_tree(archive) as tree:
        return fine_grained.unpack(tree, WANTED, request.root)


def read_lists(root: Path) -> Index:
    """Return the images of either layout; the classes of the files start at 1."""
    if (root / ALL_LABELS).is_file():
        return read_joint(root)
    meta = root / 'devkit' / 'cars_meta.mat'
    parts = {
        'train': (root / 'devkit' / 'cars_train_annos.mat', 'cars_train'),
        'test': (root / TEST_LABELS, 'cars_test'),
    }
    splits = {
        split: [(f'{folder}/{row["fname"]}', int(row['class']) - 1) for row in read_rows(path, 'fname', 'class')]
        for split, (path, folder) in parts.items()
    }
    return Index(read_names(meta), splits)


def read_joint(root: Path) -> Index:
    """Return the images of the layout in one folder, where a field tells the test images."""
    path = root / ALL_LABELS
    splits: dict[str, list[tuple[str, int]]] = {'train': [], 'test': []}
    for row in read_rows(path, 'relative_im_path', 'class', 'test'):
        splits['test' if int(row['test']) else 'train'].append((str(row['relative_im_path']), int(row['class']) - 1))
    return Index(read_names(path), splits)


def read_names(path: Path) -> list[str]:
    """Return the names of the classes."""
    return [str(name) for name in np.atleast_1d(read_mat(path, 'class_names'))]


def read_rows(path: Path, *fields: str) -> Any:
    """Return the annotations of a file, each with its fields."""
    rows = np.atleast_1d(read_mat(path, 'annotations'))
    missing = [field for field in fields if field not in (rows.dtype.names or ())]
    if missing:
        raise DataError(f'{path}: the annotations have no field {missing[0]!r}, got {rows.dtype.names}')
    return rows


def read_mat(path: Path, key: str) -> Any:
    """Return one variable of a MATLAB file."""
    from scipy.io import loadmat

    if not path.is_file():
        raise DataError(f'{path} is not there')
    try:
        return loadmat(path, squeeze_me=True)[key]
    except Exception as error:  # the parser of a foreign format raises anything on a damaged file
        raise DataError(f'{path} has no variable {key!r} ({error!r})') from error


def check(root: Path) -> list[str]:
    """Print how much is there; return what is wrong with it."""
    return fine_grained.check_index(root, COUNTS, CLASSES)
