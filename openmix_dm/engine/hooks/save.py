"""Save checkpoints."""

from pathlib import Path
from typing import Any

from mmengine.hooks import Hook

from openmix_dm.errors import ConfigError
from openmix_dm.registry import HOOKS
from openmix_dm.runs.folder import RunFolder
from openmix_dm.utils.checks import one_of


@HOOKS.register_module()
class SaveHook(Hook):
    """Save every so many epochs, after the last epoch, and every so many iterations if asked for.

    An epoch is saved after its validation. In a training by iterations the rounds between two validations are epochs.

    Args:
        save_every_epochs: epochs between two checkpoints; 0 saves after the last epoch only. Default: 1.
        save_every_iters: iterations between two checkpoints inside of an epoch; 0 never. One at which the optimiser
            does not step, because gradients accumulate, is passed over. Default: 0.
        keep: how many of the newest checkpoints stay. Default: 2.
        save_best: value of the validations, such as 'top1' or 'ema_top1', whose best weights are kept as
            `best_<value>.pth` beside the others; None keeps none. Default: None.
        rule: 'greater' or 'less': which of two values is the better one. Default: 'greater'.

    Example:
        default_hooks = dict(checkpoint=dict(type='SaveHook', keep=2, save_best='top1'))
    """

    priority = 'VERY_LOW'

    def __init__(
        self,
        save_every_epochs: int = 1,
        save_every_iters: int = 0,
        keep: int = 2,
        save_best: str | None = None,
        rule: str = 'greater',
    ) -> None:
        if keep < 1 or save_every_epochs < 0 or save_every_iters < 0:
            raise ValueError(
                'keep must be at least 1, save_every_epochs and save_every_iters at least 0, '
                f'got keep={keep}, save_every_epochs={save_every_epochs}, save_every_iters={save_every_iters}'
            )
        self.every_epochs, self.every_iters, self.keep = save_every_epochs, save_every_iters, keep
        self.save_best, self.sign = save_best, 1 if one_of('rule', rule, ('greater', 'less')) == 'greater' else -1

    def after_epoch(self, runner: Any) -> None:
        """Save after an epoch and its validation."""
        last = runner.epoch == runner.max_epochs
        if last or (self.every_epochs and runner.epoch % self.every_epochs == 0):
            runner.save(runner.train_loop.checkpoint_name, iteration=runner.iter, keep=self.keep)
        if self.save_best is not None and runner.rank == 0:
            self._keep_the_best(runner, self.save_best)

    def _keep_the_best(self, runner: Any, name: str) -> None:
        """Save the weights if the validation at this iteration is better than all before it.

        By the record, which goes on over resumes: so the file is that of an unbroken run, however often it stopped.
        """
        records = RunFolder(Path(runner.work_dir)).records('val')
        if not records or records[-1]['iter'] != runner.iter:
            return  # this epoch was not validated
        if name not in records[-1]:
            known = [key for key in records[-1] if key not in ('kind', 'iter', 'epoch')]
            raise ConfigError(f'default_hooks.checkpoint.save_best={name!r}: validations have {", ".join(known)}')
        *before, now = [self.sign * record[name] for record in records if record.get(name) is not None]
        if records[-1][name] is not None and all(now > value for value in before):
            runner.save_best(name, records[-1][name])

    def after_train_iter(self, runner: Any, batch_idx: int, data_batch: Any = None, outputs: Any = None) -> None:
        """Save in the middle of an epoch, between two optimiser steps."""
        done = runner.iter + 1
        if not self.every_iters or done % len(runner.train_dataloader) == 0 or done == runner.max_iters:
            return  # the end of an epoch is saved after its validation
        if done % self.every_iters == 0 and runner.optim_wrapper.should_update():
            settle(runner)
            runner.save(f'iter_{done}.pth', iteration=done, keep=self.keep)


def settle(runner: Any) -> None:
    """Know of all losses so far whether they are finite; loops of other packages do not ask for it themselves."""
    for part in (runner.train_loop, runner.optim_wrapper):
        if hasattr(part, 'settle'):
            part.settle()
            return
