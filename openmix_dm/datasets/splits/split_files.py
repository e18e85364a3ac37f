"""Drawn splits as files: JSON with the indices and the hash of the labels that they were drawn for."""

import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from openmix_dm.errors import DataError
from openmix_dm.utils.sealed import SEAL, read_sealed, seal

PACKAGE = Path(__file__).parent / 'drawn'
FOLDER = 'splits'  # below the folder of a data set


@dataclass(frozen=True)
class SplitName:
    """What a split was drawn for."""

    dataset: str
    count: int | None
    fraction: float | None
    seed: int
    balanced: bool

    @property
    def file(self) -> str:
        """The name of its file."""
        size = str(self.count) if self.count is not None else f'{100 * (self.fraction or 0):g}pct'
        return f'{self.dataset}_{size}{"" if self.balanced else "_random"}_s{self.seed}.json'


def labels_hash(labels: np.ndarray) -> str:
    """Return the hash of labels in their order."""
    return hashlib.sha256(np.ascontiguousarray(labels, dtype='<i8').tobytes()).hexdigest()


def encode(name: SplitName, labels: np.ndarray, indices: np.ndarray, source: str) -> bytes:
    """Return the content of a file."""
    fields = {
        'dataset': name.dataset,
        'count': name.count,
        'fraction': name.fraction,
        'seed': name.seed,
        'balanced': name.balanced,
        'source': source,
        'labels_sha256': labels_hash(labels),
        'indices': indices.tolist(),
    }
    return (json.dumps(seal(fields)) + '\n').encode()


def read(path: Path, labels: np.ndarray) -> np.ndarray | None:
    """Return the indices of a file, None if they belong to other labels than these.

    A file without a hash of itself, of an older version or by hand, is taken with a word.
    """
    try:
        fields = read_sealed(path)
        expected, indices = fields['labels_sha256'], np.array(fields['indices'], dtype=np.int64)
    except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise DataError(f'{path} cannot be read as a split ({error!r}); delete it to draw a new one') from error
    if expected != labels_hash(labels):
        return None
    if SEAL not in json.loads(path.read_bytes()):
        text = f'{path} carries no hash of itself (it is older, or made by hand): damage may go unnoticed'
        print(f'openmix_dm: warning: {text}', file=sys.stderr, flush=True)
    different = indices.ndim == 1 and len(np.unique(indices)) == len(indices)
    if not different or not np.isin(indices, np.arange(len(labels))).all():
        raise DataError(f'{path}: expected different numbers from 0 to {len(labels) - 1}; delete it to draw a new one')
    return indices
