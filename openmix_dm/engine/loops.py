"""The loops of training and evaluation."""

import time
from collections.abc import Iterator
from typing import Any

import torch
import torch.distributed as dist
from mmengine.dist import is_distributed
from mmengine.runner import EpochBasedTrainLoop, TestLoop, ValLoop
from torch import nn

from openmix_dm.engine.nonfinite import report
from openmix_dm.errors import NumericError
from openmix_dm.registry import LOOPS
from openmix_dm.stopwatch import stopwatch


@LOOPS.register_module()
class EpochTrainLoop(EpochBasedTrainLoop):
    """Train by epochs; can start in the middle of one.

    After an epoch and its validation it calls `after_epoch` of those hooks that have it: a checkpoint that is saved
    there belongs to numbers that are already recorded, so that a resumed run repeats no validation and misses none.
    """

    def __init__(
        self, runner: Any, dataloader: Any, max_epochs: int, val_begin: int = 1, val_interval: int = 1
    ) -> None:
        super().__init__(runner, dataloader, max_epochs, val_begin, val_interval)

    def run(self) -> nn.Module:
        """Train to the last epoch."""
        self.runner.call_hook('before_train')
        while self._epoch < self._max_epochs and not self.stop_training:
            self.run_epoch()
            if self._validation_is_due():
                self.runner.val_loop.run()
            self.runner.call_hook('after_epoch')
        self.runner.call_hook('after_train')
        return self.runner.model

    def run_epoch(self) -> None:
        """Train for one epoch, or for what is left of it."""
        done = self._iter - self._epoch * len(self.dataloader)
        self.dataloader.batch_sampler.start_at(self._epoch, done)
        self.runner.call_hook('before_train_epoch')
        self.runner.model.train()
        for batch_index, batch in enumerate(_timed(self.dataloader), start=done):
            self.run_iter(batch_index, batch)
        self.runner.call_hook('after_train_epoch')
        self._epoch += 1

    def run_iter(self, idx: int, data_batch: dict[str, Any]) -> None:  # type: ignore[override]
        """Train on one batch; where the loss is not finite, say on what."""
        try:
            super().run_iter(idx, data_batch)
        except NumericError as error:
            path = report(self.runner, data_batch, self._epoch, idx)
            raise NumericError(
                f'{error} at iteration {self._iter} (epoch {self._epoch + 1}); samples, lam and mixer are in {path}; '
                'the last checkpoint is from before'
            ) from None

    def _validation_is_due(self) -> bool:
        if self.runner.val_loop is None or self._epoch < self.val_begin:
            return False
        return self._epoch % self.val_interval == 0 or self._epoch == self._max_epochs


@LOOPS.register_module()
class ValidationLoop(ValLoop):
    """Evaluate the trained network and, if there are any, its average and the networks of its mixer.

    Their metrics are `top1`, `ema_top1` and, for AutoMix, `momentum_top1`.
    """

    def __init__(self, runner: Any, dataloader: Any, evaluator: Any) -> None:
        super().__init__(runner, dataloader, evaluator)

    def run(self) -> dict[str, float]:
        """Evaluate on all images; every one counts once, whatever the number of ranks."""
        self.runner.call_hook('before_val')
        self.runner.call_hook('before_val_epoch')
        share_buffers(self.runner.bare_model)
        metrics = evaluate(self, self.runner.bare_model.eval())
        averaged = self.runner.averaged_model
        if averaged is not None:
            share_buffers(averaged)
            metrics |= {f'ema_{name}': value for name, value in evaluate(self, averaged).items()}
        metrics |= evaluate_mixer(self, self.runner.bare_model)
        self.runner.call_hook('after_val_epoch', metrics=metrics)
        self.runner.call_hook('after_val')
        return metrics


@LOOPS.register_module()
class EvaluationLoop(TestLoop):
    """Evaluate the loaded weights on the test set."""

    def __init__(self, runner: Any, dataloader: Any, evaluator: Any) -> None:
        super().__init__(runner, dataloader, evaluator)

    def run(self) -> dict[str, float]:
        """Evaluate as validation does."""
        self.runner.call_hook('before_test')
        metrics = evaluate(self, self.runner.bare_model.eval())
        if self.runner.mixer_is_loaded:
            metrics |= evaluate_mixer(self, self.runner.bare_model)
        self.runner.call_hook('after_test')
        return metrics


def evaluate_mixer(loop: Any, model: Any) -> dict[str, float]:
    """Return the metrics of the networks that a model's mixer owns, by their names."""
    mixer = getattr(model, 'mixer', None)
    metrics: dict[str, float] = {}
    for prefix, network in (mixer.classifiers() if mixer else {}).items():
        beside = Beside(network, model.data_preprocessor)
        metrics |= {f'{prefix}_{name}': value for name, value in evaluate(loop, beside).items()}
    return metrics


class Beside:
    """Answer `val_step` as a model does, with another network behind the same preprocessor."""

    def __init__(self, network: Any, preprocessor: Any) -> None:
        self.network, self.preprocessor = network, preprocessor

    def val_step(self, batch: dict[str, Any]) -> list[dict[str, Any]]:
        """Return logits and labels as one entry for the batch."""
        data = self.preprocessor(batch, False)
        return [{'logits': self.network(data['inputs']), 'labels': data['labels']}]


@torch.no_grad()
def evaluate(loop: Any, model: Any) -> dict[str, float]:
    """Return the metrics of a network on the images of a loop, in the precision of training."""
    for batch in loop.dataloader:
        with loop.runner.evaluation_precision():
            outputs = model.val_step(batch)
        loop.evaluator.process(data_samples=outputs, data_batch=batch)
    return loop.evaluator.evaluate(len(loop.dataloader.dataset))


def share_buffers(model: nn.Module) -> None:
    """Give all ranks the buffers of rank 0, which are those of the checkpoint: one set of numbers is evaluated."""
    if is_distributed():
        for buffer in model.buffers():
            dist.broadcast(buffer, src=0)


def _timed(loader: Any) -> Iterator[Any]:
    """Iterate, and count how long each batch was waited for."""
    batches = iter(loader)
    while True:
        begin = time.perf_counter()
        batch = next(batches, None)
        if batch is None:
            return
        stopwatch.add('data', time.perf_counter() - begin)
        yield batch
