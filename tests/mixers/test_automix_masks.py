import pytest
import torch
from reference import automix as reference

from openmix_dm.mixers.automix.masks import mask_loss, plain_near_ends, with_mean


def masks(size=6):
    torch.manual_seed(0)
    return torch.rand(size, 1, 5, 7, dtype=torch.float64)


@pytest.mark.parametrize('lam', [0.0, 0.3, 0.45, 0.55, 1.0])
@pytest.mark.parametrize('variance', [False, True])
def test_the_loss_equals_the_released_definition(lam, variance):
    mask = masks()
    ours = mask_loss(mask, lam, 0.1, 2.0 if variance else 0.0).item()
    assert ours == pytest.approx(reference.mask_loss(1 - mask, lam, variance))


def test_a_lam_of_each_sample_is_compared_with_its_own_mask():
    mask = torch.tensor([0.2, 0.8]).view(2, 1, 1, 1).expand(2, 1, 4, 4)
    assert mask_loss(mask, torch.tensor([0.2, 0.8]), 0.1, 0.0) == 0
    assert mask_loss(mask, torch.tensor([0.8, 0.2]), 0.1, 0.0).item() == pytest.approx(0.5)
    assert mask_loss(mask, 0.5, 0.1, 0.0) == 0  # one lam: the batch as a whole


def test_the_loss_pulls_the_mean_towards_lam_and_apart_by_its_variance():
    mask = masks().requires_grad_()
    (gradient,) = torch.autograd.grad(mask_loss(mask, 0.9, 0.1, 0.0), mask)
    assert (gradient < 0).all()
    (gradient,) = torch.autograd.grad(mask_loss(mask, 0.5, 0.5, 1.0), mask)
    above = mask > mask.mean()
    assert ((gradient < 0) == above).all()


@pytest.mark.parametrize('lam', [0.0, 0.1, 0.5, 0.9, 1.0])
def test_adjusted_masks_have_the_mean_asked_for_and_stay_masks(lam):
    adjusted = with_mean(torch.cat((masks(), torch.zeros(1, 1, 5, 7), torch.ones(1, 1, 5, 7))), torch.full((8,), lam))
    torch.testing.assert_close(adjusted.mean(dim=(1, 2, 3)), torch.full((8,), lam, dtype=torch.float64))
    assert (adjusted >= 0).all()
    assert (adjusted <= 1).all()


def test_adjusting_keeps_the_order_of_the_pixels():
    mask = masks()
    for lam in (0.2, 0.8):
        adjusted = with_mean(mask, torch.full((6,), lam, dtype=torch.float64))
        assert torch.equal(adjusted.flatten(1).argsort(dim=1), mask.flatten(1).argsort(dim=1))


def test_masks_are_plain_near_the_ends_only():
    mask, lam = masks(5), torch.tensor([0.0, 0.08, 0.5, 0.93, 1.0], dtype=torch.float64)
    plain = plain_near_ends(mask, lam, 0.08)
    for row in (0, 1, 3, 4):
        assert (plain[row] == lam[row]).all()
    assert torch.equal(plain[2], mask[2])
