"""Training by iterations, over streams that have no epochs."""

from collections.abc import Iterator
from typing import Any

from torch import nn

from openmix_dm.engine.loops import EpochTrainLoop, timed
from openmix_dm.errors import ConfigError
from openmix_dm.registry import LOOPS


@LOOPS.register_module()
class IterTrainLoop(EpochTrainLoop):
    """Train for `max_iters` iterations; validate and save after every `val_interval` of them and after the last.

    The iterations between two validations stand where an epoch stands elsewhere: in the record, for checkpoints and for
    the numbers that a table takes from the last ones. The last of these rounds may be shorter.
    Each batch is given its `progress`, the share of the training that lies behind: the ramps of a loss follow it.
    """

    def __init__(self, runner: Any, dataloader: Any, max_iters: int, val_interval: int = 1000) -> None:
        if max_iters < 1 or val_interval < 1:
            raise ValueError(f'max_iters and val_interval must be at least 1, got {max_iters} and {val_interval}')
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
            self._batches = timed(self.dataloader)
        self.runner.call_hook('before_train_epoch')
        self.runner.model.train()
        end = min((self._epoch + 1) * len(self.dataloader), self._max_iters)
        while self._iter < end:
            batch = next(self._batches)
            self.run_iter(self._iter, {**batch, 'progress': self._iter / self._max_iters})
            if self._iter < end:  # after the last one, validation is the place to stop
                self._leave_if_asked()
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

    def picks(self, iteration: int) -> Any:
        """Return what the batch of an iteration is made of."""
        return self.dataloader.batch_sampler.batch(iteration)
