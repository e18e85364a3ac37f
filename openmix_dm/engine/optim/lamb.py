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
    """Build LAMB (https://arxiv.org/abs/1904.00962).

    max_grad_norm: LAMB's own first step, which scales down a gradient that is longer; no clipping of the recipe.
    """
    from timm.optim import Lamb  # only where it is used: the import takes a while

    beta1, beta2 = betas  # a config may hold a list
    return Lamb(params, lr=lr, betas=(beta1, beta2), eps=eps, weight_decay=weight_decay, max_grad_norm=max_grad_norm)
