"""Torch's fused optimisers: one launch for all parameters, and steps that the device itself can leave out."""

from collections.abc import Sequence
from typing import Any

import torch

from openmix_dm.registry import OPTIMIZERS

# Settings that ask for another form of the step.
OTHER_FORMS = ('fused', 'foreach', 'capturable', 'differentiable')


def fused_on_gpus(config: dict[str, Any], groups: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the config of an optimiser, fused if torch has that form of it and the parameters are on a GPU."""
    kind = OPTIMIZERS.get(config['type']) if isinstance(config['type'], str) else config['type']
    known = kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW)
    on_gpu = all(parameter.is_cuda for group in groups for parameter in group['params'])
    # With dampening, a first step is no step from a momentum of zero; see `fill_momentum`.
    damped = any(settings.get('dampening') for settings in (config, *groups))
    if not known or not on_gpu or damped or any(config.get(form) is not None for form in OTHER_FORMS):
        return config
    return {**config, 'fused': True}


def fill_momentum(optimizer: torch.optim.Optimizer) -> None:
    """Give each parameter of a fused SGD a momentum of zero, from which a first step is the same.

    Torch would make it in the first step without writing to it if that step is left out.
    """
    if not isinstance(optimizer, torch.optim.SGD):
        return
    for group in optimizer.param_groups:
        if not group['momentum'] or not group.get('fused'):
            continue
        for parameter in group['params']:
            if optimizer.state[parameter].get('momentum_buffer') is None:
                optimizer.state[parameter]['momentum_buffer'] = torch.zeros_like(parameter)


def leaves_out_on_device(optimizer: torch.optim.Optimizer) -> bool:
    """Say whether an optimiser on a GPU can be told on the device to leave a step out: torch's fused ones can."""
    fused = getattr(optimizer, '_step_supports_amp_scaling', False)
    return fused and optimizer.param_groups[0]['params'][0].is_cuda


def step_unless(left_out: torch.Tensor, optimizer: Any, **options: Any) -> None:
    """Step, unless the device finds that the step is to be left out: it is told as it is told of fp16's overflow."""
    optimizer.found_inf = left_out
    try:
        optimizer.step(**options)
    finally:
        del optimizer.found_inf
