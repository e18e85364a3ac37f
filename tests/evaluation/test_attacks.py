"""Attacks against a slow reference: one image at a time, the normalisation written out, gradients by autograd."""

import pytest
import torch
import torch.nn.functional as F
from support.small_models import classifier
from torch import nn

from openmix_dm.evaluation.attacks import EPS, error_percent, fgsm, pgd
from openmix_dm.evaluation.pixels import logits_of


@pytest.fixture
def model():
    network = classifier(dropout=0.5)
    network.backbone.stage2[0].running_mean.normal_()
    return network.train()


@pytest.fixture
def batch():
    return torch.rand(5, 3, 8, 8), torch.randint(5, (5,))


def slow_step(model, image, label, eps):
    """One FGSM step by hand: PREPROCESSOR of the parts has mean 10 and deviation 20."""
    model.eval()
    normalised = ((image * 255 - 10) / 20)[None].requires_grad_()
    F.cross_entropy(model.head(model.backbone(normalised)), label[None]).backward()
    model.zero_grad()
    return (image + eps * normalised.grad[0].sign()).clamp(0, 1)


def test_fgsm_is_the_step_by_autograd(model, batch):
    attacked = fgsm(model, *batch)
    slow = torch.stack([slow_step(model, image, label, EPS) for image, label in zip(*batch, strict=True)])
    assert torch.allclose(attacked, slow, atol=1e-7)
    assert (attacked - batch[0]).abs().max() <= EPS + 1e-7
    assert (attacked >= 0).all()
    assert (attacked <= 1).all()
    assert not torch.equal(attacked, batch[0])


def test_the_loss_rises_and_the_model_is_left_alone(model, batch):
    before = F.cross_entropy(logits_of(model.eval(), batch[0]), batch[1])
    model.train()
    attacked = fgsm(model, *batch, eps=1 / 255)
    assert model.training
    assert model.backbone.stage2[2].training
    assert all(parameter.grad is None for parameter in model.parameters())
    assert F.cross_entropy(logits_of(model.eval(), attacked), batch[1]) > before


def test_pgd_of_one_whole_step_is_fgsm_and_stays_within_eps(model, batch):
    assert torch.allclose(pgd(model, *batch, steps=1, step=EPS), fgsm(model, *batch), atol=1e-7)
    generator = torch.Generator().manual_seed(3)
    attacked = pgd(model, *batch, eps=4 / 255, step=3 / 255, steps=4, generator=generator)
    assert (attacked - batch[0]).abs().max() <= 4 / 255 + 1e-7
    again = pgd(model, *batch, eps=4 / 255, step=3 / 255, steps=4, generator=torch.Generator().manual_seed(3))
    assert torch.equal(attacked, again)
    losses = [
        F.cross_entropy(logits_of(model.eval(), images), batch[1])
        for images in (batch[0], pgd(model, *batch, steps=2), pgd(model, *batch, steps=20))
    ]
    assert losses[0] < losses[1] <= losses[2]


def test_an_attack_works_without_a_preprocessor_and_inside_no_grad(batch):
    network = nn.Sequential(nn.Flatten(), nn.Linear(192, 5))
    with torch.no_grad():
        attacked = fgsm(network, *batch)
    assert (attacked - batch[0]).abs().max() > EPS / 2


def test_the_error_counts_every_image_once(model, batch):
    images, labels = batch
    clean = logits_of(model.eval(), images).argmax(1)
    expected = 100 * sum(int(c != y) for c, y in zip(clean, labels, strict=True)) / 5
    parts = [(images[:3], labels[:3]), (images[3:], labels[3:])]
    assert error_percent(model, parts, attack=None) == pytest.approx(expected)
    attacked = logits_of(model, fgsm(model, images, labels)).argmax(1)
    assert error_percent(model, parts) == pytest.approx(100 * (attacked != labels).float().mean().item())


def test_mistakes_are_refused(model, batch):
    with pytest.raises(ValueError, match='divide bytes by 255'):
        fgsm(model, batch[0].to(torch.uint8), batch[1])
    with pytest.raises(ValueError, match='eps must be'):
        fgsm(model, *batch, eps=-1)
    with pytest.raises(ValueError, match='steps must be'):
        pgd(model, *batch, steps=0)
    with pytest.raises(ValueError, match='got none'):
        error_percent(model, [])
