"""Save checkpoints."""

from typing import Any

from mmengine.hooks import Hook

from openmix_dm.registry import HOOKS


@HOOKS.register_module()
class SaveHook(Hook):
    """Save every so many epochs, after the last epoch, and every so many iterations if asked for.

    An epoch is saved after its validation. In a training by iterations the rounds between two validations are epochs.

    Args:
        save_every_epochs: epochs between two checkpoints; 0 saves after the last epoch only. Default: 1.
        save_every_iters: iterations between two checkpoints inside of an epoch; 0 never. One at which the optimiser
            does not step, because gradients accumulate, is passed over. Default: 0.
        keep: how many of the newest checkpoints stay. Default: 2.

    Example:
        default_hooks = dict(checkpoint=dict(type='SaveHook', save_every_epochs=1, keep=2))
    """

    priority = 'VERY_LOW'

    def __init__(self, save_every_epochs: int = 1, save_every_iters: int = 0, keep: int = 2) -> None:
        if keep < 1 or save_every_epochs < 0 or save_every_iters < 0:
            raise ValueError(
                'keep must be at least 1, save_every_epochs and save_every_iters at least 0, '
                f'got keep={keep}, save_every_epochs={save_every_epochs}, save_every_iters={save_every_iters}'
            )
        self.every_epochs, self.every_iters, self.keep = save_every_epochs, save_every_iters, keep

    def after_epoch(self, runner: Any) -> None:
        """Save after an epoch and its validation."""
        last = runner.epoch == runner.max_epochs
        if last or (self.every_epochs and runner.epoch % self.every_epochs == 0):
            runner.save(runner.train_loop.checkpoint_name, iteration=runner.iter, keep=self.keep)

    def after_train_iter(self, runner: Any, batch_idx: int, data_batch: Any = None, outputs: Any = None) -> None:
        """Save in the middle of an epoch, between two optimiser steps."""
        done = runner.iter + 1
        if not self.every_iters or done % len(runner.train_dataloader) == 0 or done == runner.max_iters:
            return  # the end of an epoch is saved after its validation
        if done % self.every_iters == 0 and runner.optim_wrapper.should_update():
            runner.save(f'iter_{done}.pth', iteration=done, keep=self.keep)
