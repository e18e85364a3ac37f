"""The data sets that can be packed by a name."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from openmix_dm.datasets.cifar import CIFAR10, CIFAR100
from openmix_dm.datasets.digits import Digits
from openmix_dm.datasets.fine_grained import CUB200, Aircraft, Cars
from openmix_dm.datasets.image_folder import SPLITS, ImageFolder
from openmix_dm.datasets.image_list import ImageList
from openmix_dm.datasets.imagenet import ImageNet
from openmix_dm.datasets.tiny_imagenet import TinyImageNet
from openmix_dm.errors import ConfigError, DataError

PUBLISHED: dict[str, Callable[..., Any]] = {  # by their names in prepare_data.py
    'cifar10': CIFAR10,
    'cifar100': CIFAR100,
    'tiny-imagenet': TinyImageNet,
    'imagenet': ImageNet,
    'cub200': CUB200,
    'aircraft': Aircraft,
    'cars': Cars,
}
NAMES = (*PUBLISHED, 'digits', 'folder', 'list')


def open_named(
    name: str, root: Path, splits: Sequence[str], list_file: Path | None = None, classes: int | None = None
) -> dict[str, Any]:
    """Open splits of a data set, by default all that there are: train, val and test where they have folders."""
    if name == 'list':
        return open_list(root, list_file, classes, splits)
    if name == 'folder':
        known = [split for split in SPLITS if (root / split).is_dir()]
        if not known and not splits:
            raise DataError(f'{root} has no folder {" or ".join(SPLITS)}; expected <split>/<class>/<image>')
        return {split: ImageFolder(str(root), split) for split in splits or known}
    known = ['train', 'val' if name in ('imagenet', 'tiny-imagenet') else 'test']
    wrong = [split for split in splits if split not in known]
    if wrong:
        raise ConfigError(f'--split {wrong[0]}: expected {" or ".join(known)} for {name}')
    if name == 'digits':
        return {split: Digits(split) for split in splits or known}
    return {split: PUBLISHED[name](root=str(root), split=split) for split in splits or known}


def open_list(root: Path, list_file: Path | None, classes: int | None, splits: Sequence[str]) -> dict[str, Any]:
    """Open a list of files as a split, by default of the list's own name."""
    if list_file is None or len(splits) > 1:
        raise ConfigError('pack list: expected --list FILE, of lines "path label", and at most one --split to call it')
    return {(splits or [list_file.stem])[0]: ImageList(str(root), str(list_file), num_classes=classes)}
