import torch
from reference import mixers as reference

from openmix_dm.mixers import Mixup


def test_equals_the_loop_for_given_lam():
    inputs, labels, lam = torch.randn(7, 3, 5, 6), torch.arange(7), torch.rand(7)
    for partner in ('shift', 'permutation'):
        batch = Mixup(alpha=1.0, partner=partner)(inputs, labels, lam=lam)
        torch.testing.assert_close(batch.inputs, reference.mixup(inputs, batch.index, lam))
        assert torch.equal(batch.target.lam, lam)


def test_lam_is_beta_distributed():
    """Mean 1/2 and variance 1 / (4 (2 alpha + 1)), within four standard errors of 20,000 draws."""
    draws = 20_000
    for alpha in (0.1, 0.2, 1.0, 2.0):
        lam = Mixup(alpha=alpha, per_sample=True).draw_lam(draws, torch.device('cpu')).double()
        variance = 1 / (4 * (2 * alpha + 1))
        assert abs(lam.mean() - 0.5) < 4 * (variance / draws) ** 0.5
        fourth = torch.distributions.Beta(alpha, alpha).sample((200_000,)).sub(0.5).pow(4).mean()
        assert abs(lam.var() - variance) < 4 * ((fourth - variance**2) / draws) ** 0.5
        assert lam.isfinite().all()


def test_one_draw_and_many_are_the_same_distribution():
    mixer = Mixup(alpha=0.2)
    singles = torch.tensor([mixer.draw_lam(1, torch.device('cpu')) for _ in range(5000)])
    variance = 1 / (4 * 1.4)
    assert abs(singles.mean() - 0.5) < 4 * (variance / 5000) ** 0.5
    assert abs(singles.var() - variance) < 0.01


def test_tiny_alpha_gives_numbers():
    assert Mixup(alpha=1e-2, per_sample=True).draw_lam(1000, torch.device('cpu')).isfinite().all()


def test_gradient_flows_to_the_images():
    for partner in ('shift', 'permutation'):
        inputs = torch.randn(4, 3, 2, 2, requires_grad=True)
        batch = Mixup(alpha=1.0, partner=partner)(inputs, torch.arange(4), lam=0.25)
        batch.inputs[0].sum().backward()
        torch.testing.assert_close(inputs.grad[0], torch.full((3, 2, 2), 0.25))
        torch.testing.assert_close(inputs.grad[batch.index[0]], torch.full((3, 2, 2), 0.75))
