"""LAMB, the optimiser of the RSB recipes, for whole lists of tensors at once."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from openmix_dm.errors import CheckpointError
from openmix_dm.registry import OPTIMIZERS
from openmix_dm.utils.checks import non_negative, positive

# What timm's LAMB can also be told, at the values at which it does what ours does. They stand in the parameter groups,
# so that either resumes what the other has saved.
TIMMS = {
    'bias_correction': True,
    'grad_averaging': True,
    'trust_clip': False,
    'always_adapt': False,
    'caution': False,
    'decoupled_decay': False,
    'corrected_weight_decay': False,
}


@OPTIMIZERS.register_module()
class Lamb(torch.optim.Optimizer):
    """Optimise by LAMB (https://arxiv.org/abs/1904.00962), with the numbers and the saved state of timm's.

    Works on lists of tensors, where timm's goes from parameter to parameter: on a GPU some 80 operations a step instead
    of 2,400 for a ResNet-50. Nothing is read back from the device, which can be told to leave a step out: `found_inf`,
    as torch's fused optimisers are told of fp16's overflow.

    Args:
        params: groups of parameters; filled in by the constructor of `optim_wrapper`.
        lr: learning rate; the step of each tensor is scaled by the ratio of its norm to that of its update.
            Default: 0.001.
        betas: decay of the averages of the gradient and of its square. Default: (0.9, 0.999).
        eps: added to the root of the averaged square. Default: 1e-06.
        weight_decay: part of the update, before the ratio of norms is taken; groups with 0 are not scaled by that
            ratio. Default: 0.01.
        max_grad_norm: LAMB's own first step, which scales down a gradient that is longer; no clipping of the recipe.
            None leaves it out. Default: 1.0.

    Example:
        optim_wrapper = dict(type='MixOptimWrapper', optimizer=dict(type='Lamb', lr=8e-3, weight_decay=0.02))
    """

    _step_supports_amp_scaling = True  # GradScaler then leaves both of the following to the step
    found_inf: Tensor  # 1 where the step is to be left out; only there while somebody tells
    grad_scale: Tensor | None  # that gradients are still multiplied by

    def __init__(
        self,
        params: list[dict],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 0.01,
        max_grad_norm: float | None = 1.0,
    ) -> None:
        beta1, beta2 = betas  # a config may hold a list
        for name, value in (('lr', lr), ('eps', eps), ('weight_decay', weight_decay)):
            non_negative(name, value)
        if max_grad_norm is not None:
            positive('max_grad_norm', max_grad_norm)
        settings = {'lr': lr, 'betas': (beta1, beta2), 'eps': eps, 'weight_decay': weight_decay}
        super().__init__(params, {**settings, 'max_grad_norm': max_grad_norm, **TIMMS})

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take a saved state, ours or timm's; refuse one of a LAMB that is told to do something else."""
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in TIMMS.items():
                if group.setdefault(name, value) != value:
                    raise CheckpointError(
                        f'Lamb cannot go on from an optimiser with {name}={group[name]!r}, expected {value!r}; it does '
                        "what timm's does without that option"
                    )
            if 'step' in group:
                group['step'] = torch.as_tensor(group['step'], dtype=torch.float32)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:  # type: ignore[override]
        """Step all parameters that have a gradient; the gradients themselves are scaled down where they are clipped."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        moving = [[each for each in group['params'] if each.grad is not None] for group in self.param_groups]
        left_out = getattr(self, 'found_inf', None)
        self._clip([parameter.grad for parameters in moving for parameter in parameters])
        for group, parameters in zip(self.param_groups, moving, strict=True):
            _count(group, left_out)
            if parameters:
                self._step_group(group, parameters, left_out)
        return loss

    def _clip(self, gradients: list[Any]) -> None:
        longest, scale = self.defaults['max_grad_norm'], getattr(self, 'grad_scale', None)
        if gradients and scale is not None:
            torch._foreach_div_(gradients, scale)
        if gradients and longest is not None:
            total = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
            torch._foreach_div_(gradients, (total / longest).clamp_(min=1.0))

    def _step_group(self, group: dict[str, Any], parameters: list[Tensor], left_out: Tensor | None) -> None:
        updates = self._directions(group, parameters, left_out)
        if group['weight_decay']:
            torch._foreach_add_(updates, parameters, alpha=group['weight_decay'])
            # as many factors as tensors, each on the device: the one thing that no list function takes in one go
            torch._foreach_mul_(updates, trust_ratios(parameters, updates, left_out))
        torch._foreach_add_(parameters, updates, alpha=-group['lr'])

    def _directions(self, group: dict[str, Any], parameters: list[Tensor], left_out: Tensor | None) -> list[Tensor]:
        """Update the averages and return Adam's directions; where a step is left out, change nothing and return 0."""
        directions = list(torch._foreach_mul(parameters, 0))
        gradients = [_laid_out(each.grad, like) for each, like in zip(parameters, directions, strict=True)]
        means, squares = self._averages(parameters, directions)
        beta1, beta2 = group['betas']
        # torch's own step of Adam, from 0 and by a rate of -1
        torch._fused_adam_(
            directions,
            gradients,
            means,
            squares,
            [],
            [group['step']] * len(parameters),
            lr=-1.0,
            beta1=beta1,
            beta2=beta2,
            weight_decay=0.0,
            eps=group['eps'],
            amsgrad=False,
            maximize=False,
            found_inf=left_out,
        )
        return directions

    def _averages(self, parameters: list[Tensor], like: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        """Return the averaged gradients and their averaged squares, which start at 0."""
        for parameter, template in zip(parameters, like, strict=True):
            state = self.state[parameter]
            for name in ('exp_avg', 'exp_avg_sq'):
                state[name] = _laid_out(state[name], template) if name in state else torch.zeros_like(template)
        states = [self.state[parameter] for parameter in parameters]
        return [state['exp_avg'] for state in states], [state['exp_avg_sq'] for state in states]


def trust_ratios(parameters: list[Tensor], updates: list[Tensor], left_out: Tensor | None = None) -> list[Tensor]:
    """Return the norm of each parameter over that of its update; 1 where either is 0; all 0 for a step left out."""
    weights, lengths = (torch.stack(torch._foreach_norm(tensors)) for tensors in (parameters, updates))
    ratios = torch.where((weights > 0) & (lengths > 0), weights / lengths, 1.0)
    return list((ratios if left_out is None else ratios * (1 - left_out)).unbind())


def _laid_out(tensor: Any, like: Tensor) -> Tensor:
    """Return a tensor in the layout of another: torch's fused steps go through the memory of both side by side.

    Gradients have the layout of their parameters of themselves, averages of a run that went on in another one do not.
    """
    return tensor if tensor.stride() == like.stride() else torch.empty_like(like).copy_(tensor)


def _count(group: dict[str, Any], left_out: Tensor | None) -> None:
    """Count a step of a group, where its parameters are: there it is known whether it is left out."""
    if not group['params']:
        return
    device = group['params'][0].device
    count = group.get('step', torch.zeros((), device=device)).to(device)
    group['step'] = count + 1 if left_out is None else count + (1 - left_out)
