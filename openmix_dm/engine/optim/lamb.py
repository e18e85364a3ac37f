"""LAMB, the optimiser of the RSB recipes, as timm has it."""

import torch

from openmix_dm.registry import OPTIMIZERS


@OPTIMIZERS.register_module(name='Lamb')
def lamb(
    params: list[dict],
    lr: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-6,
    weight_decay: float = 0.01,
    max_grad_norm: float | None = 1.0,
) -> torch.optim.Optimizer:
    """Build LAMB (https://arxiv.org/abs/1904.00962) as timm has it.

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
    from timm.optim import Lamb  # only where it is used: the import takes a while

    beta1, beta2 = betas  # a config may hold a list
    return Lamb(params, lr=lr, betas=(beta1, beta2), eps=eps, weight_decay=weight_decay, max_grad_norm=max_grad_norm)
