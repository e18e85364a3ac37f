"""Batches for a trial of a model: shapes are all that counts."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

ANY_NUMBER = 1000  # of unlabelled images


@dataclass(frozen=True)
class StreamShape:
    """What a semi-supervised batch is made of."""

    labelled_views: int
    unlabelled_views: int  # 0: none
    ratio: float  # unlabelled images for each labelled one

    @classmethod
    def of(cls, dataset: Mapping[str, Any]) -> 'StreamShape | None':
        """Read the config of a data set; None if it has no streams."""
        if 'labelled_views' not in dataset:
            return None
        unlabelled = () if dataset.get('unlabelled', 'all') in (None, 'none') else dataset.get('unlabelled_views', ())
        return cls(len(dataset['labelled_views']), len(unlabelled), dataset.get('ratio', 1))


def make_batch(size: int, side: int, streams: StreamShape | None) -> dict[str, Any]:
    """Make the arguments of a training step: images with labels, or a labelled and an unlabelled stream."""

    def images(count: int) -> torch.Tensor:
        return torch.empty(count, 3, side, side)

    def numbers(count: int) -> torch.Tensor:
        return torch.empty(count, dtype=torch.long)

    if streams is None:
        return {'inputs': images(size), 'labels': numbers(size)}
    views, others = streams.labelled_views, streams.unlabelled_views
    batch: dict[str, Any] = {'labelled': {'inputs': tuple(images(size) for _ in range(views)), 'labels': numbers(size)}}
    if others:
        count = math.ceil(size * streams.ratio)
        batch['unlabelled'] = {'inputs': tuple(images(count) for _ in range(others)), 'index': numbers(count)}
    return batch


def introduce(model: Any, streams: StreamShape) -> None:
    """Tell a semi-supervised model about its streams, as a training does before it starts."""
    from openmix_dm.datasets.streams import StreamFacts

    counts = torch.ones(model.head.num_classes)
    unlabelled = ANY_NUMBER if streams.unlabelled_views else 0
    model.meet(StreamFacts(counts, unlabelled, streams.labelled_views, streams.unlabelled_views, streams.ratio))
