"""The labelled images of a data set: from the file of their split if there is one, else drawn."""

from pathlib import Path
from typing import Any

import numpy as np

from openmix_dm.datasets.roots import resolve_root
from openmix_dm.datasets.splits.draw import draw
from openmix_dm.datasets.splits.split_files import FOLDER, PACKAGE, SplitName, encode, read
from openmix_dm.errors import DataError

SEEDS = (0, 1, 2)  # the trials whose splits are kept
STANDARD: dict[str, list[dict[str, Any]]] = {
    'digits': [{'count': 40}],
    'cifar10': [{'count': 40}, {'count': 250}, {'count': 4000}],
    'cifar100': [
        *({'count': count} for count in (400, 2500, 10000)),
        *({'fraction': fraction, 'balanced': False} for fraction in (0.15, 0.3, 0.5)),
    ],
    **{name: [{'fraction': share} for share in (0.15, 0.3, 0.5)] for name in ('cub200', 'aircraft', 'cars')},
}


def labelled_indices(
    dataset: str,
    labels: Any,
    *,
    count: int | None = None,
    fraction: float | None = None,
    seed: int = 0,
    balanced: bool = True,
    folder: Path | None = None,
) -> np.ndarray:
    """Return the sorted indices of the images that have a label.

    dataset: its name, as tools/prepare_data.py knows it. labels: of all its training images, in order. count or
    fraction, seed, balanced: see `draw`. folder: of the data set, if it is not the usual one.
    """
    truth = np.asarray(labels, dtype=np.int64)
    drawn = draw(truth, count, fraction, seed, balanced)  # also says what is wrong with the question
    name = SplitName(dataset, count, fraction, seed, balanced)
    own = (resolve_root(dataset) if folder is None else folder) / FOLDER / name.file
    if own.is_file():
        indices = read(own, truth)
        if indices is None and folder is not None:
            raise DataError(f'{own} was drawn for other labels than those of {folder}; delete it to draw a new one')
        if indices is not None:
            return indices
    if (PACKAGE / name.file).is_file() and (indices := read(PACKAGE / name.file, truth)) is not None:
        return indices
    return drawn


def standard_splits(dataset: str, labels: np.ndarray) -> dict[str, bytes]:
    """Return the files of the splits that the paper's tables need of a data set."""
    files = {}
    for options in STANDARD.get(dataset, []):
        for seed in SEEDS:
            name = SplitName(
                **{'count': None, 'fraction': None, 'balanced': True, **options}, dataset=dataset, seed=seed
            )
            indices = draw(labels, name.count, name.fraction, seed, name.balanced)
            files[name.file] = encode(name, labels, indices, source='drawn')
    return files
