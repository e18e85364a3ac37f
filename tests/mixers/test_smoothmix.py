import math

import numpy as np
import pytest
import torch
from reference import smoothmix as reference

from openmix_dm.mixers.boxes import outside_mask
from openmix_dm.mixers.smoothmix import SmoothMix, profiles

CPU = torch.device('cpu')


def to_lam(sigma):
    return math.exp(-2 * math.pi * sigma**2)


def test_masks_equal_the_loop():
    sigmas = [0.0, 0.1, 0.25, 0.3, 0.5, 2.0]
    lam = torch.tensor([[to_lam(sigma)] for sigma in sigmas])
    centres = torch.rand(6, 2)
    centres[0] = 0.5  # on a pixel: a blob without width shows nothing all the same
    ours = outside_mask(*profiles(lam, centres[:, :1], centres[:, 1:], 9, 13))
    for i, sigma in enumerate(sigmas):
        expected = reference.mask(sigma, centres[i].tolist(), 9, 13)
        np.testing.assert_allclose(ours[i, 0], expected, atol=1e-5)


def test_the_partner_is_inside_the_blob():
    """Own ones, partner zeros: dark in the middle of the blob, and the label says how much is left."""
    pair = SmoothMix(alpha=1.0).pair(torch.ones(4, 1, 32, 32), torch.zeros(4, 1, 32, 32), 0.6)
    assert pair.inputs.min() < 0.01
    assert pair.inputs.mean().item() == pytest.approx(pair.lam[0].item(), abs=1e-5)
    assert pair.lam[0] > 0.5


def test_the_ends_of_lam():
    mixer = SmoothMix(alpha=1.0)
    for lam in (0.0, 1.0):
        mask, shown = mixer.draw_mask(lam, 9, 14, CPU)
        assert shown == lam
        assert (mask == lam).all()
    mask, shown = mixer.draw_mask(torch.tensor([0.0, 1.0]), 9, 14, CPU)
    assert shown.tolist() == [0, 1]
    assert mask.mean(dim=(1, 2, 3)).tolist() == [0, 1]


def test_a_given_lam_is_shown_up_to_the_border():
    """At no centre does a blob show more than 0.04 too much of the partner; the mean over centres is known."""
    draws = 4000
    for lam in (0.05, 0.3, 0.6, 0.9):
        mask, shown = SmoothMix(alpha=1.0).draw_mask(torch.full((draws,), lam), 24, 32, CPU)
        torch.testing.assert_close(mask.mean(dim=(1, 2, 3)), shown)
        assert shown.min() >= lam - 0.04
        sigma = math.sqrt(-math.log(lam) / (2 * math.pi))
        assert shown.min().item() == pytest.approx(1 - reference.centred_share(sigma), abs=0.01)
        error = shown.std() / draws**0.5
        assert abs(shown.mean() - (1 - reference.mean_share(sigma))) < 4 * error + 1e-3  # 1e-3: pixels, not integrals


@pytest.mark.parametrize('per_sample', [False, True])
def test_sigma_is_uniform(per_sample):
    """The quartiles of sigma, each within four standard errors."""
    draws, mixer = 4000, SmoothMix(alpha=0.2, sigma=(0.25, 0.5), per_sample=per_sample)
    lam = mixer.draw_lam(draws, CPU) if per_sample else torch.tensor([mixer.draw_lam(8, CPU) for _ in range(draws)])
    sigma = (-lam.log() / (2 * math.pi)).sqrt()
    assert sigma.min() >= 0.25 - 1e-6
    assert sigma.max() <= 0.5 + 1e-6
    for share in (0.25, 0.5, 0.75):
        below = (sigma < 0.25 + 0.25 * share).double().mean()
        assert abs(below - share) < 4 * (share * (1 - share) / draws) ** 0.5


def test_without_sigma_lam_is_beta_distributed():
    draws = 20_000
    lam = SmoothMix(alpha=0.2, sigma=None, per_sample=True).draw_lam(draws, CPU).double()
    spread = (lam - 0.5).square()
    assert abs(lam.mean() - 0.5) < 4 * (1 / 5.6 / draws) ** 0.5
    assert abs(spread.mean() - 1 / 5.6) < 4 * spread.std() / draws**0.5


def test_centres_are_uniform():
    """The darkest pixel is in each quarter of the image equally often, within four standard errors."""
    draws = 4000
    masks, _ = SmoothMix(alpha=1.0).draw_mask(torch.full((draws,), 0.8), 16, 16, CPU)
    pixel = masks.flatten(1).argmin(dim=1)
    for half in (pixel // 16 < 8, pixel % 16 < 8, (pixel // 16 < 8) == (pixel % 16 < 8)):
        assert abs(half.double().mean() - 0.5) < 4 * 0.5 / draws**0.5


def test_masks_differ_between_samples_and_batches():
    mixer = SmoothMix(alpha=1.0)
    masks, shown = mixer.draw_mask(torch.full((4,), 0.5), 16, 16, CPU)
    assert masks.shape == (4, 1, 16, 16)
    assert len(set(shown.tolist())) == 4
    assert not torch.equal(mixer.draw_mask(0.5, 16, 16, CPU)[0], mixer.draw_mask(0.5, 16, 16, CPU)[0])


def test_half_precision_and_meta():
    mixer, labels = SmoothMix(alpha=1.0), torch.arange(3)
    for lam in (0.3, torch.tensor([0.0, 0.3, 1.0]), torch.tensor([0.0, 0.3, 1.0], dtype=torch.float16)):
        inputs = torch.ones(3, 2, 9, 14, dtype=torch.float16)
        with torch.autocast('cpu', dtype=torch.bfloat16):
            batch = mixer(inputs, labels, lam=lam)
        assert batch.mask.dtype == batch.target.lam.dtype == torch.float32
        torch.testing.assert_close(batch.inputs, inputs)
        batch = mixer(inputs.to('meta'), labels.to('meta'), lam=lam)
        assert batch.inputs.is_meta
        assert batch.mask.is_meta


@pytest.mark.parametrize(
    ('name', 'value'),
    [('sigma', 0.3), ('sigma', (0.5, 0.25)), ('sigma', (0, 0.5)), ('sigma', (0.1, 0.2, 0.3)), ('alpha', -1)],
)
def test_bad_settings_are_refused(name, value):
    with pytest.raises(ValueError, match=f'{name} .*got'):
        SmoothMix(**{'alpha': 1.0, name: value})
