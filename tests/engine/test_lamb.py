"""LAMB through mmengine's optimiser wrapper."""

import torch
from mmengine.optim import build_optim_wrapper
from torch import nn

from openmix_dm.registry import OPTIMIZERS


def slow_step(weight, gradient, lr, decay):
    """One first step of LAMB, from its paper: Adam's direction with decay, as long as the weights are."""
    gradient = gradient / max(float(gradient.norm()), 1.0)
    direction = gradient / (gradient.abs() + 1e-6) + decay * weight  # after bias correction both moments are plain
    return weight - lr * float(weight.norm() / direction.norm()) * direction


def test_its_first_step_is_that_of_the_paper():
    weight = nn.Parameter(torch.randn(4, 3))
    before, gradient = weight.detach().clone(), torch.randn(4, 3) * 5
    optimizer = OPTIMIZERS.build({'type': 'Lamb', 'params': [weight], 'lr': 0.1, 'weight_decay': 0.02})
    weight.grad = gradient.clone()
    optimizer.step()
    torch.testing.assert_close(weight.detach(), slow_step(before, gradient, 0.1, 0.02), rtol=1e-4, atol=1e-5)


def test_decay_can_be_taken_off_norms_and_biases():
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4))
    wrapper = build_optim_wrapper(
        model,
        {
            'type': 'openmix_dm.MixOptimWrapper',
            'optimizer': {'type': 'openmix_dm.Lamb', 'lr': 8e-3, 'weight_decay': 0.02},
            'paramwise_cfg': {'norm_decay_mult': 0, 'bias_decay_mult': 0},
        },
    )
    assert [group['weight_decay'] for group in wrapper.optimizer.param_groups] == [0.02, 0, 0, 0]
    assert type(wrapper.optimizer).__module__.startswith('timm.')
