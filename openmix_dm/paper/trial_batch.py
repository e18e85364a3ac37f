"""Batches for a trial of a model: shapes are all that counts."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from openmix_dm.datasets.streams import StreamFacts

ANY_NUMBER = 1000  # of unlabelled images


@dataclass(frozen=True)
class StreamShape:
    """What a semi-supervised batch is made of."""

    labelled_views: int
    unlabelled_views: int  # 0: none
    ratio: float  # unlabelled images for each labelled one
    studied: bool  # there is a view of the labelled images for methods that look at them before training

    @classmethod
    def of(cls, dataset: Mapping[str, Any]) -> 'StreamShape | None':
        """Read the config of a data set; None if it has no streams."""
        if 'labelled_views' not in dataset:
            return None
        unlabelled = () if dataset.get('unlabelled', 'all') is None else dataset.get('unlabelled_views', ())
        studied = dataset.get('study_view') is not None
        return cls(len(dataset['labelled_views']), len(unlabelled), dataset.get('ratio', 1), studied)


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
    """Tell a semi-supervised model about its streams, as a training does before it starts: one label for each class."""
    facts = StreamFacts(
        class_counts=torch.ones(model.head.num_classes),
        unlabelled=ANY_NUMBER if streams.unlabelled_views else 0,
        labelled_views=streams.labelled_views,
        unlabelled_views=streams.unlabelled_views,
        ratio=streams.ratio,
        can_be_studied=streams.studied,
    )
    model.meet(facts)
