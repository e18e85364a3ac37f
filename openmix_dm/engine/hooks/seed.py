"""Seed each training iteration."""

from typing import Any

from mmengine.hooks import Hook

from openmix_dm.engine.seeding import seed_iteration
from openmix_dm.registry import HOOKS


@HOOKS.register_module()
class SeedHook(Hook):
    """Make all draws of an iteration a function of seed, iteration and rank; see `seeding`."""

    priority = 'VERY_HIGH'

    def before_train_iter(self, runner: Any, batch_idx: int, data_batch: Any = None) -> None:
        """Seed torch's generators."""
        seed_iteration(runner.seed, runner.iter, runner.rank)
