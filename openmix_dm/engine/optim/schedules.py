"""Schedules that mmengine does not have."""

import math
from collections.abc import Sequence
from typing import Any

from mmengine.optim.scheduler import CosineAnnealingLR
from mmengine.optim.scheduler.param_scheduler import INF, _ParamScheduler

from openmix_dm.engine.optim.parameter_groups import OWNER
from openmix_dm.registry import PARAM_SCHEDULERS
from openmix_dm.utils.checks import non_negative, positive


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


@PARAM_SCHEDULERS.register_module()
class MixCosineLR(CosineAnnealingLR):
    """Lower the learning rate along a cosine, to an end of its own for a mixer that learns.

    For all but the mixer's parameters it is mmengine's CosineAnnealingLR. AutoMix and SAMix train their mix block by
    another schedule than the network: the block has to go on learning when the network hardly moves any more.

    Args:
        optimizer: the optimiser whose learning rate follows; filled in by the runner.
        eta_min: the learning rate at the end. Default: 0.0.
        mixer_eta_min: that of the mixer's parameters; None for `eta_min`. Default: None.
        T_max: steps from the start to the end of the cosine; None for `end` - `begin`. Default: None.
        begin: the step at which the schedule begins. Default: 0.
        end: the step at which it ends; filled in from `train_cfg`, `max_iters` or `max_epochs`. Default: 1000000000.
        last_step: the step to go on from where no state is loaded; -1 starts anew. Default: -1.
        by_epoch: step after each epoch instead of each iteration. Default: True.
        verbose: print each new value. Default: False.

    Example:
        param_scheduler = dict(type='MixCosineLR', mixer_eta_min=5e-4, by_epoch=True, convert_to_iter_based=True)
    """

    def __init__(
        self,
        optimizer: Any,
        eta_min: float = 0.0,
        mixer_eta_min: float | None = None,
        T_max: int | None = None,  # noqa: N803
        begin: int = 0,
        end: int = INF,
        last_step: int = -1,
        by_epoch: bool = True,
        verbose: bool = False,
    ) -> None:
        self.eta_min: float | None
        self.mixer_eta_min = eta_min if mixer_eta_min is None else non_negative('mixer_eta_min', mixer_eta_min)
        super().__init__(
            optimizer,
            T_max=T_max,
            eta_min=eta_min,
            begin=begin,
            end=end,
            last_step=last_step,
            by_epoch=by_epoch,
            verbose=verbose,
        )

    def _get_value(self) -> list[float]:
        own_end: float | None = self.eta_min
        others = super()._get_value()
        self.eta_min = self.mixer_eta_min
        mixers = super()._get_value()
        self.eta_min = own_end
        owned = [group.get(OWNER) == 'mixer' for group in self.optimizer.param_groups]
        return [mixer if own else other for own, mixer, other in zip(owned, mixers, others, strict=True)]


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
