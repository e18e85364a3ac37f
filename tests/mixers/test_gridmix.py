import numpy as np
import pytest
import torch
from reference import gridmix as reference

from openmix_dm.mixers.boxes import outside_mask
from openmix_dm.mixers.gridmix import DRAWS, GridMix, comb

CPU = torch.device('cpu')


def expected_mask(mixer, lam, uniform, height, width):
    """The slow mask of the same draws."""
    fewest, most = mixer.n_holes
    (area_low, area_high), (aspect_low, aspect_high) = mixer.cut_area_ratio, mixer.cut_aspect_ratio
    return reference.mask(
        lam,
        fewest + int(uniform[0] * (most - fewest + 1)),
        area_low + (area_high - area_low) * uniform[1],
        aspect_low + (aspect_high - aspect_low) * uniform[2],
        uniform[3:],
        height,
        width,
        mixer.hole_aspect_ratio,
    )


@pytest.mark.parametrize(('height', 'width'), [(16, 16), (9, 14), (21, 8), (33, 32)])
@pytest.mark.parametrize('settings', [{}, {'hole_aspect_ratio': 1.7}, {'n_holes': [1, 8]}], ids=str)
def test_masks_equal_the_loop(height, width, settings):
    mixer, lam = GridMix(alpha=1.0, **settings), torch.rand(40, dtype=torch.float64)
    lam[:2] = torch.tensor([0.0, 1.0])
    uniform = torch.rand(DRAWS, 40, dtype=torch.float64)
    ours = outside_mask(*mixer.holes(lam, uniform, height, width))
    for i in range(40):
        expected = expected_mask(mixer, lam[i].item(), uniform[:, i].tolist(), height, width)
        assert np.array_equal(ours[i, 0], expected)


def test_one_mask_equals_one_of_many(monkeypatch):
    """The same numbers make the same mask, whether they are drawn for the batch or for each sample."""
    uniform = torch.rand(DRAWS, 1, dtype=torch.float64)
    monkeypatch.setattr(torch, 'rand', lambda *shape, **options: uniform.expand(shape))
    for lam in (0.0, 0.36, 0.75, 1.0):
        one, share = GridMix(alpha=1.0).draw_mask(lam, 18, 25, CPU)
        each, shares = GridMix(alpha=1.0).draw_mask(torch.full((2,), lam, dtype=torch.float64), 18, 25, CPU)
        assert torch.equal(one.expand(2, -1, -1, -1), each)
        assert shares.tolist() == pytest.approx([share] * 2)


def test_comb_by_hand():
    numbers = [torch.tensor([value], dtype=torch.float64) for value in (2, 3, 2, 0.5)]
    assert comb(*numbers, size=10)[0].tolist() == [0, 0, 1, 1, 0, 1, 1, 0, 0, 0]
    numbers[3] = torch.tensor([0.999], dtype=torch.float64)
    assert comb(*numbers, size=10)[0].tolist() == [0, 0, 0, 0, 1, 1, 0, 1, 1, 0]


def test_the_region_fits_into_the_image():
    """No hole is lost at the border: with lam 0 the partner's share is that of the region, whole patches of it."""
    mixer, draws = GridMix(alpha=1.0), 3000
    uniform = torch.rand(DRAWS, draws, dtype=torch.float64)
    down, across = mixer.holes(torch.zeros(draws, dtype=torch.float64), uniform, 32, 32)
    columns = 2 + (uniform[0] * 5).floor()
    assert ((across.sum(dim=1) % columns) == 0).all()
    assert ((across.diff(dim=1) == 1).sum(dim=1) + across[:, 0] == 1).all()  # one piece: no gaps between patches
    # half of the image at least, of which whole patches in whole pixels leave two thirds (1.5 rows become 1) or so
    assert (down.mean(dim=1) * across.mean(dim=1)).min() > 0.3


def test_at_least_lam_is_shown_and_the_label_says_how_much():
    lam = torch.rand(3000)
    for height, width in ((32, 32), (9, 14)):
        mask, shown = GridMix(alpha=1.0).draw_mask(lam, height, width, CPU)
        torch.testing.assert_close(mask.mean(dim=(1, 2, 3)), shown)
        assert (shown >= lam - 1e-6).all()
        assert shown.mean() < 0.95


def test_mean_share_over_many_draws():
    """In a large image rounding is small: the partner's share is (1 - lam) of the region's, by the loop's formula."""
    draws, lam = 2000, 0.36
    mixer = GridMix(alpha=1.0, cut_aspect_ratio=(1.0, 1.0))
    _, shown = mixer.draw_mask(torch.full((draws,), lam), 240, 240, CPU)
    shown = shown.double()
    # the mean of the area is 3/4; whole patches of whole pixels and holes rounded down lose up to a twentieth of it
    expected, error = 1 - 0.75 * (1 - lam), shown.std() / draws**0.5
    assert expected - 4 * error < shown.mean() < expected + 0.05 * (1 - lam) + 4 * error


def test_the_ends_of_lam():
    mixer = GridMix(alpha=1.0, n_holes=(4, 4), cut_area_ratio=(1.0, 1.0), cut_aspect_ratio=(1.0, 1.0))
    for lam in (0.0, 1.0):
        mask, shown = mixer.draw_mask(lam, 16, 16, CPU)
        assert shown == lam
        assert (mask == lam).all()
    quarter, shown = mixer.draw_mask(0.75, 16, 16, CPU)
    assert shown == 0.75
    assert quarter[0, 0, :4, :4].tolist() == [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]]


def test_numbers_of_holes_are_uniform():
    """Count the combs' teeth: each number from 2 to 6 is drawn equally often, within four standard errors."""
    draws = 4000
    mixer, uniform = GridMix(alpha=1.0), torch.rand(DRAWS, draws, dtype=torch.float64)
    _, across = mixer.holes(torch.full((draws,), 0.5, dtype=torch.float64), uniform, 64, 64)
    teeth = (across.diff(dim=1) == 1).sum(dim=1) + across[:, 0].long()
    for number in range(2, 7):
        assert abs((teeth == number).double().mean() - 0.2) < 4 * (0.2 * 0.8 / draws) ** 0.5


def test_masks_differ_between_samples_and_batches():
    mixer = GridMix(alpha=1.0)
    masks, _ = mixer.draw_mask(torch.full((4,), 0.5), 32, 32, CPU)
    assert len({tuple(mask.flatten().tolist()) for mask in masks}) == 4
    assert not torch.equal(mixer.draw_mask(0.5, 32, 32, CPU)[0], mixer.draw_mask(0.5, 32, 32, CPU)[0])


def test_half_precision_and_meta():
    mixer, labels = GridMix(alpha=1.0), torch.arange(3)
    for lam in (0.3, torch.tensor([0.0, 0.3, 1.0])):
        inputs = torch.ones(3, 2, 9, 14, dtype=torch.float16)
        with torch.autocast('cpu', dtype=torch.bfloat16):
            batch = mixer(inputs, labels, lam=lam)
        assert batch.mask.dtype == batch.target.lam.dtype == torch.float32
        assert (batch.inputs == 1).all()
        batch = mixer(inputs.to('meta'), labels.to('meta'), lam=lam)
        assert batch.inputs.is_meta
        assert batch.mask.is_meta


def test_a_grid_finer_than_the_image_is_refused():
    with pytest.raises(ValueError, match=r'n_holes .*width of the image, 5, got'):
        GridMix(alpha=1.0)(torch.zeros(2, 3, 8, 5), torch.arange(2))
    GridMix(alpha=1.0)(torch.zeros(2, 3, 3, 6), torch.arange(2))


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('n_holes', (0, 4)),
        ('n_holes', (4, 2)),
        ('n_holes', (2.5, 4)),
        ('n_holes', 4),
        ('hole_aspect_ratio', 0),
        ('cut_area_ratio', (0.5, 1.5)),
        ('cut_area_ratio', (0.0, 1.0)),
        ('cut_area_ratio', (0.9, 0.5)),
        ('cut_aspect_ratio', (-1, 2)),
        ('cut_aspect_ratio', '12'),
        ('alpha', 0),
    ],
)
def test_bad_settings_are_refused(name, value):
    with pytest.raises(ValueError, match=f'{name} .*got'):
        GridMix(**{'alpha': 1.0, name: value})
