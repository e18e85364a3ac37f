"""LAMB: the paper's step, timm's numbers, and a state that both read."""

import copy

import pytest
import torch
from mmengine.optim import build_optim_wrapper
from timm.optim import Lamb as TimmLamb
from torch import nn

from openmix_dm.engine.optim.lamb import Lamb
from openmix_dm.errors import CheckpointError
from openmix_dm.registry import OPTIMIZERS

SHAPES = ((8, 3, 3, 3), (8,), (8,), (5, 8), (5,), (4, 4))


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


def weights(dtype=torch.float32):
    """Parameters of a network, one of them zero: there is no norm to take a ratio of."""
    drawn = [nn.Parameter(torch.randn(shape, dtype=dtype)) for shape in SHAPES]
    drawn[-1].data.zero_()
    return drawn


def groups(parameters):
    return [
        {'params': [p for p in parameters if p.dim() > 1], 'weight_decay': 0.02},
        {'params': [p for p in parameters if p.dim() == 1], 'weight_decay': 0.0, 'lr': 3e-3},
    ]


def steps(optimizers, sides, first, last):
    """Step several optimisers by the same gradients; now and then a parameter has none."""
    for number in range(first, last):
        generator = torch.Generator().manual_seed(number)
        for index, shape in enumerate(SHAPES):
            gradient = torch.randn(shape, generator=generator, dtype=torch.float64) * (0.01 if number % 4 else 10)
            for parameters in sides:
                absent = index == 2 and number % 5 == 3
                parameters[index].grad = None if absent else gradient.to(parameters[index].dtype)
        for optimizer in optimizers:
            optimizer.step()


def assert_same(one, other, tolerance=1e-6):
    for mine, theirs in zip(one, other, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize('dtype', [torch.float32, torch.float64])
@pytest.mark.parametrize('max_grad_norm', [1.0, 0.05, None])
def test_twenty_steps_equal_timms(dtype, max_grad_norm):
    ours = weights(dtype)
    timms = copy.deepcopy(ours)
    optimizers = [
        kind(groups(side), lr=8e-3, max_grad_norm=max_grad_norm) for kind, side in ((Lamb, ours), (TimmLamb, timms))
    ]
    before = copy.deepcopy(ours)
    steps(optimizers, (ours, timms), 0, 20)
    assert_same(ours, timms)
    assert all((now - then).abs().max() > 1e-3 for now, then in zip(ours[:-1], before[:-1], strict=True))
    assert ours[-1].abs().max() > 0  # zero weights move: their ratio is 1


@pytest.mark.parametrize(('first', 'second'), [(TimmLamb, Lamb), (Lamb, TimmLamb)], ids=['from timm', 'to timm'])
def test_a_run_goes_on_with_the_other(first, second, tmp_path):
    unbroken = weights()
    resumed = copy.deepcopy(unbroken)
    whole, begun = first(groups(unbroken), lr=8e-3), first(groups(resumed), lr=8e-3)
    steps([whole, begun], (unbroken, resumed), 0, 7)
    torch.save(begun.state_dict(), tmp_path / 'state.pth')
    goes_on = second(groups(resumed), lr=1.0)
    goes_on.load_state_dict(torch.load(tmp_path / 'state.pth'))
    steps([whole, goes_on], (unbroken, resumed), 7, 20)
    assert_same(unbroken, resumed)
    assert goes_on.param_groups[0]['step'] == 20


def test_a_state_of_another_lamb_is_refused():
    parameters = weights()
    cautious = TimmLamb(groups(parameters), caution=True)
    with pytest.raises(CheckpointError, match='caution=True'):
        Lamb(groups(parameters)).load_state_dict(cautious.state_dict())


@pytest.mark.parametrize('wrong', [{'lr': -1}, {'eps': float('nan')}, {'weight_decay': '1'}, {'max_grad_norm': 0}])
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Lamb(weights(), **wrong)


def test_without_gradients_nothing_moves():
    parameters = weights()
    before = copy.deepcopy(parameters)
    Lamb(groups(parameters)).step()
    assert_same(parameters, before, 0)


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
    assert type(wrapper.optimizer) is Lamb
