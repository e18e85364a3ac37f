"""The loops of training and evaluation."""

import time
from collections.abc import Iterator
from typing import Any

import torch
import torch.distributed as dist
from mmengine.dist import all_reduce, is_distributed
from mmengine.runner import EpochBasedTrainLoop, TestLoop, ValLoop
from torch import nn

from openmix_dm.classifiers.crops import average_crops
from openmix_dm.engine.nonfinite import report
from openmix_dm.engine.preemption import StopVote, stop_request
from openmix_dm.errors import NumericError
from openmix_dm.registry import LOOPS
from openmix_dm.stopwatch import stopwatch


class StopValidation(Exception):
    """All ranks know that one of them was asked to stop."""


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
        self.validation_is_due = False  # of the epoch that has just ended

    def run(self) -> nn.Module:
        """Train to the last epoch."""
        self.runner.call_hook('before_train')
        while self.validation_is_due or (self._epoch < self._max_epochs and not self.stop_training):
            if not self.validation_is_due:
                self.run_epoch()
            if self.validation_is_due:
                self.validate()
            self.runner.call_hook('after_epoch')
        self.runner.call_hook('after_train')
        return self.runner.model

    def run_epoch(self) -> None:
        """Train for one epoch, or for what is left of it."""
        done = self._iter - self._epoch * len(self.dataloader)
        self.dataloader.batch_sampler.start_at(self._epoch, done)
        self.runner.call_hook('before_train_epoch')
        self.runner.model.train()
        for batch_index, batch in enumerate(timed(self.dataloader), start=done):
            self.run_iter(batch_index, batch)
            if batch_index + 1 < len(self.dataloader):  # after the last one, validation is the place to stop
                self._leave_if_asked()
        self.runner.call_hook('after_train_epoch')
        self._epoch += 1
        self.validation_is_due = self._has_validation()

    def validate(self) -> None:
        """Evaluate; a run that is asked to stop meanwhile leaves at once and evaluates anew when it goes on."""
        try:
            self.runner.val_loop.run()
        except StopValidation:
            self._leave()
        self.validation_is_due = False

    def run_iter(self, idx: int, data_batch: dict[str, Any]) -> None:  # type: ignore[override]
        """Train on one batch; where the loss is not finite, say on what."""
        try:
            super().run_iter(idx, data_batch)
        except NumericError as error:
            path = report(self.runner, data_batch, self.picks(self._iter))
            raise NumericError(
                f'{error} at iteration {self._iter} (epoch {self._epoch + 1}); samples, lam and mixer are in {path}; '
                'the last checkpoint is from before'
            ) from None

    def _leave_if_asked(self) -> None:
        """Stop between two optimiser steps if a signal has asked any rank to."""
        wrapper = self.runner.optim_wrapper
        if not wrapper.should_update():
            return
        if not hasattr(wrapper, 'stop_agreed'):  # another class than ours: ask the ranks here
            vote = StopVote()
            vote.ask()
            if vote.agreed():
                self._leave()
        elif wrapper.stop_agreed:
            self._leave()

    def _leave(self) -> None:
        name = f'iter_{self._iter}.pth'
        self.runner.save(name, iteration=self._iter, keep=None)
        stop_request.leave(f'{name} has the state after {self._iter} iterations')

    def epochs_at(self, iteration: int) -> int:
        """Return how many epochs are done after so many iterations."""
        return iteration // len(self.dataloader)

    @property
    def checkpoint_name(self) -> str:
        """Name the checkpoint after an epoch."""
        return f'epoch_{self._epoch}.pth'

    def picks(self, iteration: int) -> Any:
        """Return what the batch of an iteration is made of."""
        epoch = self.epochs_at(iteration)
        return self.dataloader.batch_sampler.batch(epoch, iteration - epoch * len(self.dataloader))

    def _has_validation(self) -> bool:
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
    """Evaluate the loaded weights on the test set."""

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

    may_stop: raise StopValidation on all ranks when a signal asks any of them to stop.
    """
    votes, vote = fewest_batches(loop.dataloader) if may_stop else 0, StopVote()
    for index, batch in enumerate(loop.dataloader):
        if 0 < index < votes and vote.agreed():  # asked one batch ago: nobody waits for the answer
            raise StopValidation
        if index < votes - 1:
            vote.ask()
        with loop.runner.evaluation_precision():
            outputs = model.val_step(batch)
        loop.evaluator.process(data_samples=outputs, data_batch=batch)
    return loop.evaluator.evaluate(len(loop.dataloader.dataset))


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


def timed(loader: Any) -> Iterator[Any]:
    """Iterate, and count how long each batch was waited for."""
    batches = iter(loader)
    while True:
        begin = time.perf_counter()
        batch = next(batches, None)
        if batch is None:
            return
        stopwatch.add('data', time.perf_counter() - begin)
        yield batch
