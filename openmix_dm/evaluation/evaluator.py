"""Hand predictions to metrics: whole batches to ours, one data sample an image to everybody else's."""

from collections.abc import Callable, Sequence
from typing import Any

from mmengine.evaluator import Evaluator
from torch import Tensor

from openmix_dm.registry import EVALUATORS

DataSample = dict[str, Tensor]


@EVALUATORS.register_module()
class BatchEvaluator(Evaluator):
    """Evaluate by any metric of mmengine, MMPretrain or a user's own, beside ours.

    A metric with `takes_batches = True` is given [{'logits', 'labels'}] of a whole batch, as TopK is: nothing is taken
    apart and put together again. Every other one is given a data sample for each image, in the names of
    MMPretrain: `pred_score` (classes,), `pred_label` (1,), `gt_label` (1,). They are made only if somebody asks.

    Args:
        metrics: configs of the metrics, or metrics.

    Example:
        val_evaluator = dict(type='BatchEvaluator', metrics=[dict(type='TopK', topk=(1, 5))])
    """

    def __init__(self, metrics: Any) -> None:
        super().__init__(metrics)

    def process(
        self,
        data_samples: Sequence[dict[str, Tensor]],
        data_batch: Any = None,
        probabilities: Callable[[Tensor], Tensor] = lambda logits: logits.float().softmax(dim=1),
    ) -> None:
        """Hand a batch to all metrics; probabilities: how its logits are read."""
        images: list[DataSample] | None = None
        for metric in self.metrics:
            if getattr(metric, 'takes_batches', False):
                metric.process(data_batch, data_samples)
                continue
            if images is None:
                images = [image for batch in data_samples for image in split_batch(batch, probabilities)]
            metric.process(data_batch, images)


def split_batch(batch: dict[str, Tensor], probabilities: Callable[[Tensor], Tensor]) -> list[DataSample]:
    """Return the data sample of each image of a batch."""
    scores, best = probabilities(batch['logits']), batch['logits'].argmax(dim=1, keepdim=True)
    rows = zip(scores, best, batch['labels'][:, None], strict=True)
    return [{'pred_score': score, 'pred_label': label, 'gt_label': truth} for score, label, truth in rows]
