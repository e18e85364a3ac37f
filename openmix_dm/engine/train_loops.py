"""The loops of training: by epochs, and by iterations over streams that have no epochs."""

import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from mmengine.runner import EpochBasedTrainLoop
from torch import nn

from openmix_dm.engine.eval_loops import StopValidation
from openmix_dm.engine.guard import NonFiniteLoss, report
from openmix_dm.engine.prefetch import prefetched
from openmix_dm.errors import ConfigError, NumericError
from openmix_dm.launch.signals import StopVote, stop_request
from openmix_dm.registry import LOOPS
from openmix_dm.utils.stopwatch import stopwatch

RECENT = 4  # batches that are kept until their losses are known to be finite; more than any lag


@LOOPS.register_module()
class EpochTrainLoop(EpochBasedTrainLoop):
    """Train by epochs; can start in the middle of one.

    After an epoch and its validation it calls `after_epoch` of those hooks that have it: a checkpoint that is saved
    there belongs to numbers that are already recorded, so that a resumed run repeats no validation and misses none.

    Args:
        runner: the run that the loop belongs to; filled in by the runner.
        dataloader: the batches of `train_dataloader`; filled in by the runner.
        max_epochs: epochs of the whole training; schedules without an end of their own end with the last.
        val_begin: the first epoch that may be followed by a validation. Default: 1.
        val_interval: epochs between two validations; the last epoch is followed by one in any case. Default: 1.

    Example:
        train_cfg = dict(type='EpochTrainLoop', max_epochs=200)
    """

    @classmethod
    def try_out(cls, arguments: Mapping[str, Any]) -> None:
        """Refuse numbers that no training can have, before anything is built."""
        for name in ('max_epochs', 'max_iters', 'val_begin', 'val_interval'):
            if arguments.get(name, 1) < 1:
                raise ValueError(f'{name} must be at least 1, got {arguments[name]}')

    def __init__(
        self, runner: Any, dataloader: Any, max_epochs: int, val_begin: int = 1, val_interval: int = 1
    ) -> None:
        super().__init__(runner, dataloader, max_epochs, val_begin, val_interval)
        self.validation_is_due = False  # of the epoch that has just ended
        self._recent: deque[tuple[int, dict[str, Any]]] = deque(maxlen=RECENT)

    def run(self) -> nn.Module:
        """Train to the last epoch."""
        stop_request.leave_if_asked(f'nothing was trained after iteration {self._iter}')
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
        for batch_index, batch in enumerate(self.batches(), start=done):
            self.run_iter(batch_index, batch)
            if batch_index + 1 < len(self.dataloader):  # after the last one, validation is the place to stop
                self._leave_if_asked()
        self.settle()
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

    def batches(self) -> Iterator[dict[str, Any]]:
        """Go through the loader; with `prefetch_to_device` batches are sent to the GPU before they are needed."""
        batches, device = timed(self.dataloader), next(self.runner.model.parameters()).device
        wanted = self.runner.cfg.get('prefetch_to_device') and device.type == 'cuda'
        return prefetched(batches, device) if wanted else batches

    def run_iter(self, idx: int, data_batch: dict[str, Any]) -> None:  # type: ignore[override]
        """Train on one batch; where a loss is not finite, say on what."""
        self._recent.append((self._iter, data_batch))
        with self._naming_what_is_not_finite():
            super().run_iter(idx, data_batch)

    def settle(self) -> None:
        """Know of all losses so far whether they are finite: before anything is evaluated or saved."""
        if hasattr(self.runner.optim_wrapper, 'settle'):
            with self._naming_what_is_not_finite():
                self.runner.optim_wrapper.settle()

    @contextmanager
    def _naming_what_is_not_finite(self) -> Iterator[None]:
        try:
            yield
        except NonFiniteLoss as error:
            iteration, batch = self._recent[-1 - error.ago]  # on a GPU it is found out later
            path = report(self.runner, iteration, batch, self.samples(iteration))
            raise NumericError(
                f'{error} at iteration {iteration} (epoch {self.epochs_at(iteration) + 1}); samples, lam and mixer are '
                f'in {path}; the last checkpoint is from before'
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
        self.settle()
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

    def samples(self, iteration: int) -> Any:
        """Return what the batch of an iteration is made of."""
        epoch = self.epochs_at(iteration)
        return self.dataloader.batch_sampler.batch(epoch, iteration - epoch * len(self.dataloader))

    def _has_validation(self) -> bool:
        if self.runner.val_loop is None or self._epoch < self.val_begin:
            return False
        return self._epoch % self.val_interval == 0 or self._epoch == self._max_epochs


@LOOPS.register_module()
class IterTrainLoop(EpochTrainLoop):
    """Train by iterations over streams that have no epochs; validate after every `val_interval` and after the last.

    The iterations between two validations stand where an epoch stands elsewhere: in the record, for checkpoints and for
    the numbers that a table takes from the last ones. The last of these rounds may be shorter.
    Each batch is given its `progress`, the share of the training that lies behind: the ramps of a loss follow it.

    Args:
        runner: the run that the loop belongs to; filled in by the runner.
        dataloader: the batches of `train_dataloader`, whose sampler has to be StreamBatches; filled in by the runner.
        max_iters: iterations of the whole training, a multiple of the accumulated ones; schedules end with the last.
        val_interval: iterations between two validations, a multiple of the accumulated ones. Default: 1000.

    Example:
        train_cfg = dict(type='IterTrainLoop', max_iters=2**20, val_interval=5000)
    """

    def __init__(self, runner: Any, dataloader: Any, max_iters: int, val_interval: int = 1000) -> None:
        sampler = dataloader.batch_sampler
        if not hasattr(sampler, 'in_rounds'):
            raise ConfigError(
                f'IterTrainLoop needs train_dataloader.sampler of type StreamBatches, got {type(sampler).__name__}'
            )
        sampler.in_rounds(val_interval, max_iters)
        super().__init__(runner, dataloader, max_epochs=-(-max_iters // val_interval))
        self._max_iters = max_iters
        self._batches: Iterator[dict[str, Any]] | None = None

    def run(self) -> nn.Module:
        """Train to the last iteration; before the first one, methods that study the labelled images do so."""
        model = self.runner.bare_model
        if self._iter == 0 and getattr(model, 'studies', False):
            model.study(self.dataloader.dataset.labelled_images)
        return super().run()

    def run_epoch(self) -> None:
        """Train until the next validation. The loader goes on over it, so that its workers never run dry."""
        if self._batches is None:
            self.dataloader.batch_sampler.start_at(self._iter)
            self._batches = self.batches()
        self.runner.call_hook('before_train_epoch')
        self.runner.model.train()
        end = min((self._epoch + 1) * len(self.dataloader), self._max_iters)
        while self._iter < end:
            batch = next(self._batches)
            self.run_iter(self._iter, {**batch, 'progress': self._iter / self._max_iters})
            if self._iter < end:  # after the last one, validation is the place to stop
                self._leave_if_asked()
        self.settle()
        self.runner.call_hook('after_train_epoch')
        self._epoch += 1
        self.validation_is_due = self._has_validation()

    def epochs_at(self, iteration: int) -> int:
        """Return how many rounds are done after so many iterations."""
        return self._max_epochs if iteration >= self._max_iters else iteration // len(self.dataloader)

    @property
    def checkpoint_name(self) -> str:
        """Name the checkpoint after a round by its iterations."""
        return f'iter_{self._iter}.pth'

    def samples(self, iteration: int) -> Any:
        """Return what the batch of an iteration is made of."""
        return self.dataloader.batch_sampler.batch(iteration)


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
