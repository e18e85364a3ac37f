"""The training loop."""

from typing import Any

from mmengine.runner import EpochBasedTrainLoop
from torch import nn

from openmix_dm.registry import LOOPS


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
        for batch_index, batch in enumerate(self.dataloader, start=done):
            self.run_iter(batch_index, batch)
        self.runner.call_hook('after_train_epoch')
        self._epoch += 1

    def _validation_is_due(self) -> bool:
        if self.runner.val_loop is None or self._epoch < self.val_begin:
            return False
        return self._epoch % self.val_interval == 0 or self._epoch == self._max_epochs
