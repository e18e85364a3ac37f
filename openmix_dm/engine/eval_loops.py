"""The loops of validation and test."""

from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from mmengine.dist import all_reduce, is_distributed
from mmengine.runner import TestLoop, ValLoop
from torch import nn

from openmix_dm.classifiers.mix_classifier import average_crops
from openmix_dm.evaluation.evaluator import BatchEvaluator
from openmix_dm.evaluation.pixels import probabilities_of
from openmix_dm.launch.signals import StopVote
from openmix_dm.registry import LOOPS
from openmix_dm.structures import MixTarget


class StopValidation(Exception):
    """All ranks know that one of them was asked to stop."""


@LOOPS.register_module()
class ValidationLoop(ValLoop):
    """Evaluate the trained network and, if there are any, its average and the networks of its mixer.

    Their metrics are `top1`, `ema_top1` and, for AutoMix, `momentum_top1`. Each runs in the precision of training, with
    the buffers of rank 0, which are those of the checkpoint.

    Args:
        runner: the run that the loop belongs to; filled in by the runner.
        dataloader: the batches of `val_dataloader`; filled in by the runner.
        evaluator: the metrics of `val_evaluator`; filled in by the runner.

    Example:
        val_cfg = dict(type='ValidationLoop')
    """

    def __init__(self, runner: Any, dataloader: Any, evaluator: Any) -> None:
        super().__init__(runner, dataloader, evaluator)

    def run(self) -> dict[str, float]:
        """Evaluate on all images; every one counts once, whatever the number of ranks."""
        self.runner.call_hook('before_val')
        self.runner.call_hook('before_val_epoch')
        share_buffers(self.runner.bare_model)
        metrics = evaluate(self, self.runner.bare_model.eval(), may_stop=True)
        averaged = self.runner.averaged_model
        if averaged is not None:
            share_buffers(averaged)
            metrics |= {f'ema_{name}': value for name, value in evaluate(self, averaged, may_stop=True).items()}
        metrics |= evaluate_mixer(self, self.runner.bare_model, may_stop=True)
        self.runner.call_hook('after_val_epoch', metrics=metrics)
        self.runner.call_hook('after_val')
        return metrics


@LOOPS.register_module()
class EvaluationLoop(TestLoop):
    """Evaluate the loaded weights on the test set.

    The networks of a mixer are evaluated beside them where the checkpoint has their weights.

    Args:
        runner: the run that the loop belongs to; filled in by the runner.
        dataloader: the batches of `test_dataloader`, or else of `val_dataloader`; filled in by the runner.
        evaluator: the metrics of `test_evaluator`, or else of `val_evaluator`; filled in by the runner.

    Example:
        test_cfg = dict(type='EvaluationLoop')
    """

    def __init__(self, runner: Any, dataloader: Any, evaluator: Any) -> None:
        super().__init__(runner, dataloader, evaluator)

    def run(self) -> dict[str, float]:
        """Evaluate as validation does."""
        self.runner.call_hook('before_test')
        model = self.runner.bare_model.eval()
        # first: what a metric leaves in a file is then the model's
        beside = evaluate_mixer(self, model) if self.runner.mixer_is_loaded else {}
        metrics = {**evaluate(self, model), **beside}
        self.runner.call_hook('after_test')
        return metrics


def evaluate_mixer(loop: Any, model: Any, may_stop: bool = False) -> dict[str, float]:
    """Return the metrics of the networks that a model's mixer owns, by their names."""
    mixer = getattr(model, 'mixer', None)
    metrics: dict[str, float] = {}
    for prefix, network in (mixer.classifiers() if mixer else {}).items():
        beside = Beside(network, model.data_preprocessor)
        metrics |= {f'{prefix}_{name}': value for name, value in evaluate(loop, beside, may_stop).items()}
    return metrics


class Beside:
    """Answer `val_step` as a model does, with another network behind the same preprocessor."""

    def __init__(self, network: Any, preprocessor: Any) -> None:
        self.network, self.preprocessor = network, preprocessor

    def val_step(self, batch: dict[str, Any]) -> list[dict[str, Any]]:
        """Return logits and labels as one entry for the batch."""
        data = self.preprocessor(batch, False)
        return [{'logits': average_crops(self.network, data['inputs']), 'labels': data['labels']}]


@torch.no_grad()
def evaluate(loop: Any, model: Any, may_stop: bool = False) -> dict[str, float]:
    """Return the metrics of a network on the images of a loop, in the precision of training.

    Args:
        loop: the loop whose batches, metrics and runner are used.
        model: the network, or what answers `val_step` as one does.
        may_stop: raise StopValidation on all ranks when a signal asks any of them to stop. Default: False.
    """
    votes, vote = fewest_batches(loop.dataloader) if may_stop else 0, StopVote()
    losses = MeanLoss(model)
    for index, batch in enumerate(loop.dataloader):
        if 0 < index < votes and vote.agreed():  # asked one batch ago: nobody waits for the answer
            raise StopValidation
        if index < votes - 1:
            vote.ask()
        with loop.runner.evaluation_precision():
            outputs = model.val_step(batch)
        if isinstance(loop.evaluator, BatchEvaluator):
            loop.evaluator.process(outputs, batch, partial(probabilities_of, model))
        else:
            loop.evaluator.process(data_samples=outputs, data_batch=batch)
        losses.add(outputs)
    return {**loop.evaluator.evaluate(len(loop.dataloader.dataset)), **losses.mean()}


class MeanLoss:
    """Add up the loss of the head on images as they are, over all ranks; nothing is read back before the end."""

    def __init__(self, model: Any) -> None:
        self._loss: Any = getattr(getattr(model, 'head', None), 'loss_fn', None)
        self._sums: torch.Tensor | None = None  # of the losses, and of the images

    def add(self, outputs: Any) -> None:
        """Add a batch; predictions of another form than ours are passed over."""
        if not hasattr(self._loss, 'per_sample'):
            return
        for output in outputs:
            if isinstance(output, dict) and output.keys() >= {'logits', 'labels'}:
                losses = self._loss.per_sample(output['logits'].float(), MixTarget.hard(output['labels']))
                sums = torch.stack((losses.sum(), losses.new_full((), len(losses))))
                self._sums = sums if self._sums is None else self._sums + sums

    def mean(self) -> dict[str, float]:
        """Return the mean as `loss`; nothing for a model without a loss of ours."""
        if not hasattr(self._loss, 'per_sample'):
            return {}
        sums = torch.zeros(2) if self._sums is None else self._sums  # a rank may have no image of a small set
        all_reduce(sums)
        total, images = sums.tolist()
        return {'loss': total / max(images, 1)}


def fewest_batches(loader: Any) -> int:
    """Return the number of batches that every rank has: some may have one more."""
    count = torch.tensor(len(loader))
    all_reduce(count, op='min')
    return int(count)


def share_buffers(model: nn.Module) -> None:
    """Give all ranks the buffers of rank 0, which are those of the checkpoint: one set of numbers is evaluated."""
    if is_distributed():
        for buffer in model.buffers():
            dist.broadcast(buffer, src=0)
