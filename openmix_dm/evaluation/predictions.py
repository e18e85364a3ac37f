"""What a model says about every test image, kept in a file for tests that compare image by image."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from mmengine.dist import all_gather_object, get_rank
from mmengine.evaluator import BaseMetric
from torch import Tensor

from openmix_dm.errors import DataError, first_line
from openmix_dm.registry import METRICS


@dataclass(frozen=True)
class SavedPredictions:
    """The best class and the true one of every test image, in the order of the test set."""

    predictions: np.ndarray
    labels: np.ndarray

    @property
    def hits(self) -> np.ndarray:
        """Say which images are recognised."""
        return self.predictions == self.labels

    def save(self, path: Path) -> None:
        """Write to an .npz file."""
        np.savez_compressed(path, predictions=self.predictions, labels=self.labels)


def read_predictions(path: Path) -> SavedPredictions:
    """Read what `test.py --hits` wrote; nothing is unpickled."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return SavedPredictions(file['predictions'], file['labels'])
    except Exception as error:  # zipfile, zlib and numpy have no common one for what a damaged archive can raise
        raise DataError(f'{path} is not a file that test.py --hits wrote: {first_line(error)}') from None


@METRICS.register_module()
class Predictions(BaseMetric):
    """Write the best class of every test image to the .npz file `out`, in the order of the test set.

    The true classes stand beside them; `read_predictions` reads both. A row with a logit that is not finite gets class
    -1. `test.py --hits` adds this to the metrics of a config.

    Args:
        out: the .npz file, written by rank 0 at each evaluation.

    Example:
        test_evaluator = [dict(type='TopK'), dict(type='Predictions', out='predictions.npz')]
    """

    default_prefix = ''
    takes_batches = True

    def __init__(self, out: str) -> None:
        super().__init__()
        self.out = Path(out)
        self._parts: list[tuple[Tensor, Tensor]] = []

    def process(self, data_batch: Any, data_samples: Sequence[dict[str, Tensor]]) -> None:
        """Keep one batch."""
        for sample in data_samples:
            logits = sample['logits']
            best = logits.argmax(dim=1).masked_fill(~logits.isfinite().all(dim=1), -1)
            self._parts.append((best, sample['labels']))

    def evaluate(self, size: int) -> dict[str, float]:
        """Bring all ranks together, write the file and start anew; there is no number to return."""
        parts, self._parts = self._parts, []
        # put together on the device, and brought to the host at once: it has to be waited for in any case
        both = torch.cat([torch.stack(part) for part in parts], dim=1).cpu() if parts else torch.zeros(2, 0)
        own = list(both.numpy())
        of_ranks = all_gather_object(own)
        if get_rank() == 0:
            SavedPredictions(*(_interleave([rank[i] for rank in of_ranks]).astype(np.int32) for i in range(2))).save(
                self.out
            )
        return {}

    def compute_metrics(self, results: list) -> dict[str, float]:
        """Refuse mmengine's way of collecting results one by one; `evaluate` does it all."""
        raise TypeError('Predictions keeps whole batches; call evaluate()')


def _interleave(parts: list[np.ndarray]) -> np.ndarray:
    """Undo the deal: rank r of n has the places r, r + n, r + 2n, ..."""
    whole = np.empty(sum(map(len, parts)), dtype=parts[0].dtype)
    for rank, part in enumerate(parts):
        whole[rank :: len(parts)] = part
    return whole
