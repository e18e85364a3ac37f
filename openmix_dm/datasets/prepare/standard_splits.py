"""Keep the splits of the paper's tables beside a data set."""

from pathlib import Path

import numpy as np

from openmix_dm.datasets.image_list import read_list
from openmix_dm.datasets.prepare.archives import write_file
from openmix_dm.datasets.splits.labelled import SEEDS, standard_splits
from openmix_dm.datasets.splits.split_files import FOLDER, PACKAGE, SplitName, encode
from openmix_dm.errors import DataError

PERCENT = (15, 30, 50)


def store_splits(root: Path, dataset: str, labels: np.ndarray) -> None:
    """Write the splits that are not part of this package, unless they are there."""
    for file, content in standard_splits(dataset, labels).items():
        path = root / FOLDER / file
        if not (PACKAGE / file).is_file() and not path.is_file():
            write_file(path, content)


def take_lists(root: Path, dataset: str, paths: list[str], labels: np.ndarray) -> list[str]:
    """Make splits of Self-Tuning's lists, where root/train_{15,30,50}.txt are there; return their names.

    A list is one fixed draw, so it stands for each seed. Its images are found by their file names.
    """
    places = {Path(path).name: place for place, path in enumerate(paths)}
    found = [percent for percent in PERCENT if (root / f'train_{percent}.txt').is_file()]
    for percent in found:
        path = root / f'train_{percent}.txt'
        names = [Path(name).name for name in read_list(path)[0]]
        unknown = [name for name in names if name not in places]
        if unknown:
            raise DataError(f'{path} lists {unknown[0]}, which is no training image of {dataset}')
        indices = np.unique([places[name] for name in names])
        for seed in SEEDS:
            name = SplitName(dataset, None, percent / 100, seed, balanced=True)
            write_file(root / FOLDER / name.file, encode(name, labels, indices, source=path.name))
    return [f'train_{percent}.txt' for percent in found]
