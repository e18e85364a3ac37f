import numpy as np
import pytest
import torch
from reference import fmix as reference

from openmix_dm.mixers.fmix import FMix, filtered, isotropic_table, rank_mask, top_mask, two_frequency_table

CPU = torch.device('cpu')


def scaled(field):
    """A field without its scale, which means nothing to a mask."""
    field = np.asarray(field, dtype=np.float64)
    return field / np.abs(field).max()


@pytest.mark.parametrize(('height', 'width'), [(6, 8), (5, 7), (4, 1), (1, 5), (7, 4)])
@pytest.mark.parametrize('decay_power', [0.0, 1.0, 3.0])
def test_the_field_is_the_sum_of_its_waves(height, width, decay_power):
    noise = torch.randn(height, width // 2 + 1, 2)
    ours = filtered(noise[None], isotropic_table(height, width, decay_power, CPU), height, width)[0]
    expected = reference.isotropic_field(noise.double(), height, width, decay_power)
    np.testing.assert_allclose(scaled(ours), scaled(expected), atol=2e-6)


@pytest.mark.parametrize(('height', 'width'), [(6, 6), (8, 8), (5, 5), (7, 12), (12, 7), (3, 16)])
def test_two_frequencies_is_the_field_of_the_released_code(height, width):
    amplitude = two_frequency_table(height, width, 3.0, CPU)
    spectrum = torch.randn(height, reference.released_columns(width), 2)
    noise = spectrum[:2].permute(1, 2, 0).contiguous()  # the parts of a complex number are rows 0 and 1 there
    ours = filtered(noise[None], amplitude, height, width)[0]
    expected = reference.released_field(spectrum.double().numpy(), height, width, 3.0)
    np.testing.assert_allclose(scaled(ours), scaled(expected), atol=2e-6)


def test_masks_equal_the_sorted_pixels():
    field = torch.randn(6, 5, 7)
    own, soft = [0, 1, 12, 17, 34, 35], [0, 1, 5, 17, 1, 0]
    ours = rank_mask(field.flatten(1), torch.tensor(own), torch.tensor(soft)).view(6, 5, 7)
    for i in range(6):
        np.testing.assert_allclose(ours[i], reference.mask(field[i].numpy(), own[i], soft[i]), atol=1e-6)
        hard = top_mask(field[i].reshape(1, -1), own[i]).view(5, 7)
        assert np.array_equal(hard, reference.mask(field[i].numpy(), own[i], 0))


def test_ties_do_not_change_the_number_of_pixels():
    field = torch.zeros(1, 20)
    for own in range(21):
        assert top_mask(field, own).sum() == own
        assert rank_mask(field, torch.tensor([own]), torch.tensor([0])).sum() == own


@pytest.mark.parametrize('settings', [{}, {'two_frequencies': True}, {'max_soft': 0.2}], ids=str)
def test_the_mask_shows_lam(settings):
    """Rounding to whole pixels is all that is between lam and the mean of the mask."""
    mixer, lam = FMix(alpha=1.0, **settings), torch.rand(200, dtype=torch.float64)
    mask, shown = mixer.draw_mask(lam, 9, 14, CPU)
    torch.testing.assert_close(mask.mean(dim=(1, 2, 3)), shown)
    assert (shown - lam).abs().max() <= 0.501 / (9 * 14)
    for value in [0.0, 1.0, *lam[:50].tolist()]:
        mask, share = mixer.draw_mask(value, 9, 14, CPU)
        assert mask.mean().item() == pytest.approx(share, abs=1e-6)
        assert abs(share - value) <= 0.501 / (9 * 14)


def test_lam_over_many_batches():
    """Labels keep the mean 1/2 and the variance of Beta(0.2, 0.2), within four standard errors."""
    draws = 2000
    mixer = FMix(alpha=0.2, per_sample=True)
    shown = mixer(torch.zeros(draws, 1, 16, 16), torch.zeros(draws, dtype=torch.long)).target.lam.double()
    variance = 1 / (4 * 1.4)
    assert abs(shown.mean() - 0.5) < 4 * (variance / draws) ** 0.5
    spread = (shown - 0.5).square()
    assert abs(spread.mean() - variance) < 4 * spread.std() / draws**0.5


def energies(mixer, draws=2000, height=16, width=16):
    """The energy at each frequency (ky, kx) over many fields, and the standard error of each."""
    energy = torch.fft.fft2(mixer.draw_field(draws, height, width, CPU).double()).abs().square()
    return energy.mean(dim=0), energy.std(dim=0) / draws**0.5


def test_the_spectrum_is_isotropic():
    """Waves of one length have one energy in all directions, and waves of twice the length 2 ** 6 times as much."""
    mean, error = energies(FMix(alpha=1.0))
    assert abs(mean[0, 1] - mean[1, 0]) < 4 * (error[0, 1] ** 2 + error[1, 0] ** 2) ** 0.5
    assert abs(mean[1, 1] - mean[1, -1]) < 4 * (error[1, 1] ** 2 + error[1, -1] ** 2) ** 0.5
    assert abs(mean[0, 8] - mean[8, 0]) < 4 * (error[0, 8] ** 2 + error[8, 0] ** 2) ** 0.5
    for k in (0, 1, 4):
        expected = 64 * mean[2 * k, 8]
        assert abs(mean[k, 4] - expected) < 4 * (error[k, 4] ** 2 + (64 * error[2 * k, 8]) ** 2) ** 0.5
    high = mean[:, 2:-1].sum() / mean.sum()
    assert high > 0.005  # what the released code leaves out


def test_two_frequencies_has_two_horizontal_frequencies():
    mean, _ = energies(FMix(alpha=1.0, two_frequencies=True), draws=100)
    assert mean[:, 2:-1].sum() < 1e-10 * mean.sum()
    assert mean[:, [1, -1]].sum() > 0.01 * mean.sum()


def test_a_higher_power_makes_smoother_masks():
    def edges(power):
        mask, _ = FMix(alpha=1.0, decay_power=power).draw_mask(torch.full((50,), 0.5), 32, 32, CPU)
        return mask.diff(dim=-1).abs().mean()

    assert edges(3.0) < 0.5 * edges(1.0) < 0.5 * edges(0.0)
    assert FMix(alpha=1.0, decay_power=40.0).draw_field(1, 224, 224, CPU).isfinite().all()


def test_soft_edges():
    mask, _ = FMix(alpha=1.0, max_soft=0.1).draw_mask(0.5, 20, 20, CPU)
    assert ((mask > 0) & (mask < 1)).sum() == 2 * 40 - 2  # the first and the last step of the ramp are 1 and 0
    assert set(FMix(alpha=1.0, max_soft=0.5).draw_mask(1.0, 8, 8, CPU)[0].unique().tolist()) == {1.0}


def test_masks_differ_between_samples_and_batches():
    mixer = FMix(alpha=1.0)
    masks, _ = mixer.draw_mask(torch.full((4,), 0.5), 16, 16, CPU)
    assert len({tuple(mask.flatten().tolist()) for mask in masks}) == 4
    assert not torch.equal(mixer.draw_mask(0.5, 16, 16, CPU)[0], mixer.draw_mask(0.5, 16, 16, CPU)[0])


@pytest.mark.parametrize('settings', [{}, {'two_frequencies': True}, {'max_soft': 0.2}], ids=str)
def test_half_precision_and_meta(settings):
    mixer, labels = FMix(alpha=1.0, **settings), torch.arange(3)
    for lam in (0.3, torch.tensor([0.0, 0.3, 1.0])):
        inputs = torch.ones(3, 2, 9, 14, dtype=torch.float16)
        with torch.autocast('cpu', dtype=torch.bfloat16):
            batch = mixer(inputs, labels, lam=lam)
        assert batch.mask.dtype == torch.float32
        assert batch.inputs.dtype == torch.float16
        assert (batch.inputs == 1).all()
        batch = mixer(inputs.to('meta'), labels.to('meta'), lam=lam)
        assert batch.inputs.is_meta
        assert batch.mask.is_meta


@pytest.mark.parametrize(
    ('name', 'value'),
    [('decay_power', -1), ('decay_power', float('nan')), ('max_soft', 0.6), ('max_soft', -0.1), ('alpha', 0)],
)
def test_bad_settings_are_refused(name, value):
    with pytest.raises(ValueError, match=f'{name} .*got'):
        FMix(**{'alpha': 1.0, name: value})
