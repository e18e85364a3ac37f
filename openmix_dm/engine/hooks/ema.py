"""An exponential moving average of the weights."""

import copy
from pathlib import Path
from typing import Any

import torch
from mmengine.hooks import Hook
from torch import Tensor, nn

from openmix_dm.mixers import NoMix
from openmix_dm.registry import HOOKS
from openmix_dm.runs.checkpoints import save_file
from openmix_dm.utils.checks import in_range

FILE = 'ema.pth'


@HOOKS.register_module()
class EmaHook(Hook):
    """Keep averaged weights beside the trained ones: average = decay * average + (1 - decay) * weights, at each step.

    The average is a network of its own, which validation runs beside the trained one: nothing is ever swapped in, so
    nothing can be left swapped in. Its metrics are `ema_top1` and the like. It is saved in every checkpoint, and alone,
    ready to load, as ema.pth. A checkpoint without an average starts it from its weights.

    Args:
        decay: the paper's number, 0.99996 or 0.999; from 0 to 1.
        average_buffers: average batch norm's statistics too; else they are the trained network's of the moment.
            Default: False.

    Example:
        default_hooks = dict(ema=dict(type='EmaHook', decay=0.999))
    """

    def __init__(self, decay: float, average_buffers: bool = False) -> None:
        self.decay, self.average_buffers = in_range('decay', decay, 0, 1), average_buffers
        self._average: nn.Module | None = None

    def before_train(self, runner: Any) -> None:
        """Make the average available to validation; a resumed one has been loaded already."""
        runner.averaged_model = self._model(runner)

    def after_train_iter(self, runner: Any, batch_idx: int, data_batch: Any = None, outputs: Any = None) -> None:
        """Follow the weights after an optimiser step."""
        if runner.optim_wrapper.should_update():
            update(self._model(runner), runner.bare_model, self.decay, self.average_buffers)

    def before_save_checkpoint(self, runner: Any, checkpoint: dict[str, Any]) -> None:
        """Put the average into a checkpoint, and beside it."""
        checkpoint['ema_state_dict'] = self._model(runner).state_dict()
        alone = {'state_dict': checkpoint['ema_state_dict'], 'meta': checkpoint['meta']}
        save_file(alone, Path(runner.work_dir) / FILE)

    def after_load_checkpoint(self, runner: Any, checkpoint: dict[str, Any]) -> None:
        """Take the average of a checkpoint; one without goes on from its weights."""
        weights = checkpoint.get('ema_state_dict')
        if weights is not None:
            self._model(runner).load_state_dict(weights)

    def _model(self, runner: Any) -> nn.Module:
        if self._average is None:
            self._average = averaged_copy(runner.bare_model)
        return self._average


def averaged_copy(model: Any) -> nn.Module:
    """Copy a model for evaluation without the parts that only training needs."""
    parts = {name: getattr(model, name) for name in getattr(model, 'training_only', ())}
    for name in parts:
        setattr(model, name, NoMix())  # not copied: a learned mixer is as large as the model
    try:
        average = copy.deepcopy(model)
    finally:
        for name, part in parts.items():
            setattr(model, name, part)
    return average.eval().requires_grad_(False)


@torch.no_grad()
def update(average: nn.Module, model: nn.Module, decay: float, average_buffers: bool) -> None:
    """Move the average towards the model, all tensors of a kind at once."""
    theirs = dict(model.named_parameters())
    pairs = [(mine, theirs[name].detach()) for name, mine in average.named_parameters()]
    torch._foreach_lerp_([mine for mine, _ in pairs], [other for _, other in pairs], 1 - decay)
    buffers = dict(model.named_buffers())
    kinds: dict[torch.dtype, tuple[list[Tensor], list[Tensor]]] = {}  # a list of one type is one operation of a GPU
    for name, mine in average.named_buffers():
        ours, others = kinds.setdefault(mine.dtype, ([], []))
        ours.append(mine)
        others.append(buffers[name])
    for kind, (ours, others) in kinds.items():
        if average_buffers and kind.is_floating_point:
            torch._foreach_lerp_(ours, others, 1 - decay)
        else:
            torch._foreach_copy_(ours, others)
