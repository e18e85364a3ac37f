"""Schedules that mmengine does not have."""

import math
from typing import Any

from mmengine.optim.scheduler.param_scheduler import INF, _ParamScheduler

from openmix_dm.registry import PARAM_SCHEDULERS
from openmix_dm.utils.checks import positive


@PARAM_SCHEDULERS.register_module()
class CosineTailLR(_ParamScheduler):
    """lr * cos(share * pi * t / end), which stops short of zero: at share 7/16, FixMatch's, at 0.195 of the start."""

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
