"""Top-k accuracy."""

from collections.abc import Sequence
from typing import Any

import torch
from mmengine.dist import all_reduce
from mmengine.evaluator import BaseMetric
from torch import Tensor

from openmix_dm.registry import METRICS


@METRICS.register_module()
class TopK(BaseMetric):
    """Count how often the true class is among the k highest logits: `top1`, `top5`, in percent.

    Counts are added up on the device and over ranks; nothing is read back before the end. A row with a logit that is
    not finite is wrong.

    Args:
        topk: the numbers k, each of which makes a metric `top<k>`; 1 or more. Default: (1, 5).

    Example:
        val_evaluator = dict(type='TopK', topk=(1, 5))
    """

    default_prefix = ''
    takes_batches = True

    def __init__(self, topk: Sequence[int] = (1, 5)) -> None:
        super().__init__()
        if not topk or min(topk) < 1:
            raise ValueError(f'topk must list numbers of at least 1, got {list(topk)}')
        self.topk = tuple(topk)
        self._counts: Tensor | None = None  # hits for each k, then the number of images

    def process(self, data_batch: Any, data_samples: Sequence[dict[str, Tensor]]) -> None:
        """Count one batch."""
        for sample in data_samples:
            hits = count_hits(sample['logits'], sample['labels'], self.topk)
            self._counts = hits if self._counts is None else self._counts + hits

    def evaluate(self, size: int) -> dict[str, float]:
        """Return the accuracies of all ranks together and start anew."""
        counts, self._counts = self._counts, None
        if counts is None:  # a rank may have no image of a small set
            counts = torch.zeros(len(self.topk) + 1, dtype=torch.int64)
        all_reduce(counts)
        *hits, images = counts.tolist()
        return {f'top{k}': 100 * hit / max(images, 1) for k, hit in zip(self.topk, hits, strict=True)}

    def compute_metrics(self, results: list) -> dict[str, float]:
        """Refuse mmengine's way of collecting results one by one; `evaluate` does it all."""
        raise TypeError('TopK adds up counts; call evaluate()')


def count_hits(logits: Tensor, labels: Tensor, topk: Sequence[int]) -> Tensor:
    """Return how many labels are among the k highest logits for each k, and the number of labels."""
    deepest = min(max(topk), logits.shape[1])
    found = logits.topk(deepest, dim=1).indices == labels[:, None]
    found &= logits.isfinite().all(dim=1, keepdim=True)
    hits = [found[:, : min(k, deepest)].any(dim=1).sum() for k in topk]
    return torch.stack([*hits, torch.full_like(hits[0], len(labels))])
