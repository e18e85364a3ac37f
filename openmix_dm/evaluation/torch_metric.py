"""Metrics of torchmetrics."""

import importlib.util
import re
from collections.abc import Sequence
from typing import Any

from mmengine.evaluator import BaseMetric
from torch import Tensor

from openmix_dm.errors import ConfigError
from openmix_dm.registry import METRICS
from openmix_dm.utils.suggest import did_you_mean


@METRICS.register_module()
class TorchMetric(BaseMetric):
    """Measure by a metric of torchmetrics (https://lightning.ai/docs/torchmetrics).

    It sees the logits and labels of whole batches, and brings ranks together by itself. Its value is recorded as it is,
    not in percent.

    Args:
        metric: name of a class of torchmetrics.classification.
        options: its arguments. Default: None.
        name: name of the value in the record; None makes one of the class's: MulticlassF1Score is multiclass_f1_score.
            Default: None.

    Example:
        val_evaluator = [dict(type='TorchMetric', metric='MulticlassF1Score', options=dict(num_classes=10))]
    """

    default_prefix = ''
    takes_batches = True

    def __init__(self, metric: str, options: dict[str, Any] | None = None, name: str | None = None) -> None:
        super().__init__()
        if importlib.util.find_spec('torchmetrics') is None:
            raise ConfigError("TorchMetric needs torchmetrics; run: pip install 'openmix_dm[metrics]'")
        from torchmetrics import classification

        if metric not in classification.__all__:
            raise ConfigError(
                f'torchmetrics.classification has no {metric!r}{did_you_mean(metric, classification.__all__)}'
            )
        self.name = name or re.sub(r'(?<=[a-z0-9])(?=[A-Z])', '_', metric).lower()
        self.metric = getattr(classification, metric)(**(options or {}))

    def process(self, data_batch: Any, data_samples: Sequence[dict[str, Tensor]]) -> None:
        """Take note of a batch."""
        for sample in data_samples:
            self.metric = self.metric.to(sample['logits'].device)
            self.metric.update(sample['logits'].float(), sample['labels'])

    def evaluate(self, size: int) -> dict[str, float]:
        """Return the value over all ranks and start anew."""
        value = float(self.metric.compute())
        self.metric.reset()
        return {self.name: value}

    def compute_metrics(self, results: list) -> dict[str, float]:
        """Refuse mmengine's way of collecting results one by one; `evaluate` does it all."""
        raise TypeError('TorchMetric adds up by itself; call evaluate()')
