"""Derivatives of the losses beyond the first, what has no derivative, and what is kept for them."""

import pytest
import torch
from losses.test_functional import batch
from reference import losses as reference

from openmix_dm.losses import functional

CASES = {
    'mce': (functional.mixed_ce, {}),
    'mce-smooth': (functional.mixed_ce, {'label_smoothing': 0.1}),
    'dm': (functional.decoupled_ce, {'eta': 0.1}),
    'dm-eta1': (functional.decoupled_ce, {'eta': 1.0}),
    'dm-a': (functional.decoupled_ce, {'eta': 1.0, 'sides': 'a'}),
    'dm-smooth': (functional.decoupled_ce, {'eta': 1.0, 'label_smoothing': 0.1}),
    'mbce1': (functional.mixed_bce, {}),
    'mbce2': (functional.mixed_bce, {'two_hot': True}),
    'dmbce': (functional.decoupled_bce, {'t': 0.5, 'xi': 0.8}),
}


def plain(name):
    settings = {k.replace('label_', ''): v for k, v in CASES[name][1].items()}
    return lambda *inputs: reference.differentiable(name, *inputs, **settings)


def fused(name):
    loss_of, settings = CASES[name]
    return lambda *inputs: loss_of(*inputs, **settings)


def penalised(loss_of, network, inputs, target):
    """Return the weights' gradients of a loss with a penalty on its gradient with respect to the images."""
    images = inputs.clone().requires_grad_()
    loss = loss_of(network(images), *target).mean()
    (gradient,) = torch.autograd.grad(loss, images, create_graph=True)
    return torch.autograd.grad(loss + gradient.square().sum(), list(network.parameters()))


@pytest.mark.parametrize('num_classes', [2, 3, 7])
@pytest.mark.parametrize('name', CASES)
def test_a_gradient_penalty_is_that_of_plain_autograd(name, num_classes):
    _, *target = batch(size=24, num_classes=num_classes)
    target[2] = target[2].double()
    layers = torch.nn.Linear(6, 10), torch.nn.Tanh(), torch.nn.Linear(10, num_classes)
    network, inputs = torch.nn.Sequential(*layers).double(), torch.randn(24, 6, dtype=torch.float64)
    found, expected = (penalised(loss(name), network, inputs, target) for loss in (fused, plain))
    for mine, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize('name', CASES)
def test_second_and_third_derivatives(name):
    logits, *target = batch(size=16, num_classes=5, scale=1.0)
    logits.requires_grad_()

    def gradient(z):
        return torch.autograd.grad(fused(name)(z, *target).square().sum(), z, create_graph=True)[0]

    assert torch.autograd.gradgradcheck(lambda z: fused(name)(z, *target), logits)
    assert torch.autograd.gradgradcheck(gradient, logits)


@pytest.mark.parametrize('scale', [1.0, 30.0, 100.0, 1e4])
@pytest.mark.parametrize('name', CASES)
def test_the_hessian_in_float32_with_logits_of_any_size(name, scale):
    logits, *target = batch(size=64, num_classes=10, scale=1.0, dtype=torch.float32)
    logits = logits / logits.abs().max() * scale
    direction = torch.randn(64, 10)
    products = []
    for loss_of, z in ((fused(name), logits), (plain(name), logits.double())):
        z = z.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(loss_of(z, *target).sum(), z, create_graph=True)
        products.append(torch.autograd.grad((gradient * direction).sum(), z)[0].double())
    torch.testing.assert_close(*products, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize('dtype', [torch.float16, torch.bfloat16])
@pytest.mark.parametrize('name', CASES)
def test_second_derivatives_have_the_type_of_the_logits(name, dtype):
    logits, *target = batch(size=8, dtype=dtype)
    logits.requires_grad_()
    (gradient,) = torch.autograd.grad(fused(name)(logits, *target).sum(), logits, create_graph=True)
    (second,) = torch.autograd.grad(gradient.square().sum(), logits)
    assert gradient.dtype == second.dtype == dtype
    assert second.isfinite().all()


@pytest.mark.parametrize('name', CASES)
def test_lam_gets_no_gradient(name):
    logits, y_a, y_b, lam = batch(size=8)
    logits.requires_grad_()
    lam.requires_grad_()
    gradients = torch.autograd.grad(
        fused(name)(logits, y_a, y_b, lam).sum(), (logits, lam), create_graph=True, allow_unused=True
    )
    assert gradients[1] is None
    assert torch.autograd.grad(gradients[0].square().sum(), lam, allow_unused=True) == (None,)


@pytest.mark.parametrize('name', ['mce', 'dm', 'dm-smooth'])
def test_a_training_step_keeps_one_tensor_of_the_size_of_the_logits(name):
    logits, *target = batch(size=32, num_classes=50, dtype=torch.float32)
    logits.requires_grad_()
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: kept.append(tensor) or tensor, lambda tensor: tensor):
        loss = fused(name)(logits, *target)
    large = [tensor for tensor in kept if tensor.numel() >= logits.numel()]
    assert len(large) == 1
    assert sum(tensor.numel() for tensor in kept) <= logits.numel() + 6 * len(logits)
    assert torch.equal(torch.autograd.grad(loss.sum(), logits)[0], large[0])
