"""Schedules that mmengine does not have."""

import math
from collections.abc import Sequence
from typing import Any

from mmengine.optim.scheduler.param_scheduler import INF, _ParamScheduler

from openmix_dm.registry import PARAM_SCHEDULERS
from openmix_dm.utils.checks import positive


@PARAM_SCHEDULERS.register_module()
class CosineTailLR(_ParamScheduler):
    """Lower the learning rate by a part of a cosine, as FixMatch does (https://arxiv.org/abs/2001.07685).

    lr * cos(share * pi * t / (end - begin)) at the t-th step from `begin`, which stops short of zero: at share 7/16,
    FixMatch's, at 0.195 of the start.

    Args:
        optimizer: the optimiser whose learning rate follows; filled in by the runner.
        share: how much of half a period is run through; 0.5 would end at zero. Default: 0.4375.
        begin: the step at which the schedule begins. Default: 0.
        end: the step at which it ends; filled in from `train_cfg`, `max_iters` or `max_epochs`. Default: 1000000000.
        last_step: the step to go on from where no state is loaded; -1 starts anew. Default: -1.
        by_epoch: step after each epoch instead of each iteration. A training by epochs has to say True, because `end`
            is then filled in with epochs; one by iterations refuses it. Default: False.
        verbose: print each new value. Default: False.

    Example:
        param_scheduler = dict(type='CosineTailLR')
    """

    def __init__(
        self,
        optimizer: Any,
        share: float = 7 / 16,
        begin: int = 0,
        end: int = INF,
        last_step: int = -1,
        by_epoch: bool = False,
        verbose: bool = False,
    ) -> None:
        self.share, self.length = positive('share', share), end - begin
        super().__init__(optimizer, 'lr', begin, end, last_step, by_epoch, verbose)

    def _get_value(self) -> list[float]:
        factor = math.cos(self.share * math.pi * self.last_step / self.length)
        return [base * factor for base in self.base_values]


# What a schedule counts and computes on its way; all else of its state says what it is.
COUNTERS = ('last_step', '_global_step', '_last_value', 'base_values', 'verbose')


def same_schedules(schedules: Sequence[Any], saved: Sequence[dict[str, Any]]) -> bool:
    """Say whether saved states are of schedules of the same kinds, lengths and settings."""
    shapes = [
        [{key: value for key, value in state.items() if key not in COUNTERS} for state in states]
        for states in ([schedule.state_dict() for schedule in schedules], saved)
    ]
    return shapes[0] == shapes[1]


def replay(schedules: Sequence[Any], iterations: int, epoch: int) -> None:
    """Step fresh schedules to where a run is, as its iterations and epochs would have done.

    Most schedules compute a value from the one before it, so that there is no way to jump.
    """
    for done in range(1, iterations + 1):
        for schedule in schedules:
            if not schedule.by_epoch or done % epoch == 0:
                schedule.step()
