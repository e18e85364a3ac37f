"""Seed every training iteration by where it is."""

from typing import Any

import torch
from mmengine.hooks import Hook

from openmix_dm.registry import HOOKS
from openmix_dm.utils.dist import common_draws
from openmix_dm.utils.keys import COMMON, ITERATION, key


def seed_iteration(seed: int, iteration: int, rank: int) -> None:
    """Seed torch's generators for one iteration of one rank, and the one for draws that all ranks make alike.

    Dropout, stochastic depth and the mixers then draw the same numbers in a resumed run, and ranks draw different ones.
    The policy of a mixture is one for all ranks: see `CommonDraws`.
    Not `torch.manual_seed`, which also seeds what is not there and takes a hundred times as long.
    """
    value = key(ITERATION, seed, iteration, rank)
    torch.default_generator.manual_seed(value)
    if torch.cuda.is_available():
        torch.cuda.manual_seed(value)
    common_draws.seed(key(COMMON, seed, iteration))


@HOOKS.register_module()
class SeedHook(Hook):
    """Make all draws of an iteration a function of seed, iteration and rank; see `seed_iteration`.

    A resumed run then draws what an unbroken one would have drawn, without a state of the generators to save. Draws
    between two iterations, as of a picture, change nothing.

    Example:
        default_hooks = dict(seed=dict(type='SeedHook'))
    """

    priority = 'VERY_HIGH'

    def before_train_iter(self, runner: Any, batch_idx: int, data_batch: Any = None) -> None:
        """Seed torch's generators."""
        seed_iteration(runner.seed, runner.iter, runner.rank)
