import pytest
import torch
from reference import puzzle as reference

from openmix_dm.mixers.puzzle import PuzzleMix
from openmix_dm.mixers.puzzle.saliency import gradient_norm, local_contrast


class GivenSaliency:
    """A probe whose saliency is known, and whose images are pixels already."""

    def __init__(self, saliency):
        self.given, self.asked = saliency, 0

    def saliency(self, inputs, labels):
        self.asked += 1
        return self.given

    def denormalise(self, inputs):
        return inputs


def fixed(grid, **options):
    """A PuzzleMix with a known grid."""
    mixer = PuzzleMix(alpha=1.0, **options)
    mixer.draw_grid = lambda height, width: grid
    return mixer


def bright_corner(count=6, size=16):
    """Images that matter in the upper left quarter (even ones) or the lower right one (odd ones)."""
    saliency = torch.full((count, 3, size, size), 0.01)
    saliency[::2, :, : size // 2, : size // 2] = 1
    saliency[1::2, :, size // 2 :, size // 2 :] = 1
    return saliency


@pytest.mark.parametrize('solver', ['relaxed', 'exact'])
def test_each_side_shows_what_matters_in_it(solver):
    inputs, labels = torch.rand(2, 3, 16, 16), torch.arange(2)
    batch = fixed(4, solver=solver, transport=False)(inputs, labels, GivenSaliency(bright_corner(2)), 0.5)
    assert (batch.mask[0, 0, :8, :8] == 1).all()
    assert (batch.mask[0, 0, 8:, 8:] == 0).all()
    assert (batch.mask[1, 0, :8, :8] == 0).all()
    assert (batch.mask[1, 0, 8:, 8:] == 1).all()
    assert torch.equal(batch.inputs[0, :, :8, :8], inputs[0, :, :8, :8])
    assert torch.equal(batch.inputs[0, :, 8:, 8:], inputs[1, :, 8:, 8:])


@pytest.mark.parametrize('transport', [False, True])
@pytest.mark.parametrize('lam', [0.75, 0.9])
def test_what_matters_in_the_own_image_stays_visible_for_a_large_lam(transport, lam):
    """Both images matter in the same quarter: the own one is shown there."""
    inputs, labels, saliency = torch.rand(4, 3, 16, 16), torch.arange(4), bright_corner(8)[::2]
    batch = fixed(4, transport=transport)(inputs, labels, GivenSaliency(saliency), lam)
    torch.testing.assert_close(batch.inputs[:, :, :8, :8], inputs[:, :, :8, :8])
    assert (batch.target.lam > 0.5).all()
    less = fixed(4, transport=transport)(inputs, labels, GivenSaliency(saliency), 1 - lam)
    assert (less.mask[:, 0, :8, :8] == 0).all()
    assert (less.target.lam < 0.5).all()


@pytest.mark.parametrize(('grid', 't_size', 'size'), [(2, None, 16), (4, None, 16), (2, 4, 16), (4, 2, 16), (8, 4, 16)])
@pytest.mark.parametrize('partner', ['shift', 'permutation'])
def test_the_mixed_images_equal_the_loop_given_the_mask(grid, t_size, size, partner):
    """Saliency, auction and moves by loops; only the mask is taken over."""
    inputs, coarse = torch.rand(3, 3, size, size), torch.rand(3, 1, 8, 8) ** 16
    saliency = coarse.repeat_interleave(size // 8, 2).repeat_interleave(size // 8, 3).repeat(1, 3, 1, 1)
    mixer = fixed(grid, t_size=t_size, partner=partner, t_eps=0.1)
    batch = mixer(inputs, torch.arange(3), GivenSaliency(saliency), 0.5)
    side = size // min(t_size or size, size // grid)
    step, moved = size // side, 0
    for i, j in enumerate(batch.index.tolist()):
        mask = batch.mask[i, 0]
        sides = []
        for k, shown in ((i, mask), (j, 1 - mask)):
            visible = (shown[::step, ::step] > 0).flatten().tolist()
            block = reference.block_saliency(saliency[k], side).float().flatten()
            source = {place: place for place in range(side**2)} | reference.auction(visible, block, 0.1)
            moved += any(place != block for place, block in source.items())
            sides.append(reference.move_blocks(inputs[k], list(source.values())))
        torch.testing.assert_close(batch.inputs[i], mask * sides[0] + (1 - mask) * sides[1])
    assert moved or side < 4


def test_lam_is_each_samples_own_and_the_mean_of_its_mask():
    inputs, saliency = torch.rand(6, 3, 32, 32), torch.rand(6, 3, 32, 32) ** 8
    lam = torch.tensor([0.0, 0.1, 0.4, 0.6, 0.9, 1.0])
    batch = fixed(8)(inputs, torch.arange(6), GivenSaliency(saliency), lam)
    torch.testing.assert_close(batch.target.lam, batch.mask.mean(dim=(1, 2, 3)))
    assert batch.target.lam[0] == 0
    assert batch.target.lam[5] == 1
    torch.testing.assert_close(batch.inputs[0], inputs[batch.index[0]])
    torch.testing.assert_close(batch.inputs[5], inputs[5])
    assert batch.target.lam.tolist() == sorted(batch.target.lam.tolist())
    for i, each in enumerate(lam.tolist()):
        torch.manual_seed(0)
        alone = fixed(8)(inputs, torch.arange(6), GivenSaliency(saliency), each)
        torch.manual_seed(0)
        together = fixed(8)(inputs, torch.arange(6), GivenSaliency(saliency), lam)
        assert torch.equal(alone.mask[i], together.mask[i])


def test_grids_divide_the_image_where_any_does():
    draws = lambda mixer, *size: {mixer.draw_grid(*size) for _ in range(80)}  # noqa: E731
    assert draws(PuzzleMix(1.0), 32, 32) == {2, 4, 8}
    assert draws(PuzzleMix(1.0, block_num=5), 32, 32) == {2, 4, 8, 16}
    assert draws(PuzzleMix(1.0), 12, 20) == {2, 4}
    assert draws(PuzzleMix(1.0), 9, 14) == {2, 4, 8}
    assert draws(PuzzleMix(1.0), 3, 14) == {2}
    assert draws(PuzzleMix(1.0), 1, 14) == {1}


@pytest.mark.parametrize(
    ('t_size', 'grid', 'size', 'moved'),
    [
        (None, 4, (32, 32), 4),
        (4, 4, (32, 32), 8),
        (4, 16, (32, 32), 16),
        (4, 2, (32, 64), 8),
        (5, 4, (32, 32), 4),
        (4, 2, (9, 14), 0),
    ],
)
def test_moved_blocks_are_of_t_size_where_it_divides(t_size, grid, size, moved):
    assert PuzzleMix(1.0, t_size=t_size).moved_grid(grid, *size) == moved
    assert PuzzleMix(1.0, t_size=t_size, transport=False).moved_grid(grid, *size) == 0


@pytest.mark.parametrize('size', [(9, 14), (1, 5), (2, 2), (16, 24), (33, 32)])
@pytest.mark.parametrize('n_labels', [2, 3, 4])
def test_any_size_is_mixed(size, n_labels):
    inputs = torch.rand(3, 3, *size)
    for _ in range(4):
        batch = PuzzleMix(1.0, n_labels=n_labels)(inputs, torch.arange(3), GivenSaliency(torch.rand_like(inputs)))
        assert batch.inputs.shape == inputs.shape
        assert batch.inputs.min() >= 0
        torch.testing.assert_close(batch.target.lam, batch.mask.mean(dim=(1, 2, 3)))


def test_half_precision_shows_the_same():
    inputs, saliency = torch.rand(4, 3, 16, 16).half(), torch.rand(4, 3, 16, 16).half()
    torch.manual_seed(0)
    half = fixed(4)(inputs, torch.arange(4), GivenSaliency(saliency), 0.4)
    torch.manual_seed(0)
    full = fixed(4)(inputs.float(), torch.arange(4), GivenSaliency(saliency.float()), 0.4)
    assert half.inputs.dtype == torch.float16
    assert torch.equal(half.mask, full.mask)
    torch.testing.assert_close(half.inputs.float(), full.inputs, atol=2e-3, rtol=0)


@pytest.mark.parametrize(('grid', 't_size'), [(2, 4), (8, None), (16, None)])
@pytest.mark.parametrize('n_labels', [2, 3, 4])
def test_nothing_waits_for_the_device(grid, t_size, n_labels):
    inputs = torch.empty(6, 3, 32, 32, device='meta')
    labels = torch.empty(6, dtype=torch.long, device='meta')
    batch = fixed(grid, t_size=t_size, n_labels=n_labels)(inputs, labels, GivenSaliency(inputs))
    assert batch.inputs.is_meta


def test_tiny_gradients_count_as_much_as_large_ones():
    gradient = torch.rand(2, 3, 4, 4)
    expected = gradient.square().mean(dim=1).sqrt()
    for scale in (1.0, 1e-30):
        norm = gradient_norm(gradient * scale)
        torch.testing.assert_close(norm / norm.sum((1, 2), True), expected / expected.sum((1, 2), True))
    assert gradient_norm(torch.zeros(1, 3, 2, 2)).tolist() == [[[0, 0], [0, 0]]]


def test_the_model_is_asked_once_and_without_it_contrast_counts():
    inputs = torch.full((2, 3, 16, 16), 0.5)
    inputs[0, :, 2:5, 2:5] = 1.0
    inputs[1, :, 10:13, 10:13] = 1.0
    assert (local_contrast(inputs)[0, 2:5, 2:5] > 0).all()
    assert (local_contrast(inputs)[0, 8:] == 0).all()
    pair = fixed(2).pair(inputs, inputs.flip(0), 0.5)
    assert (pair.inputs[:, :, 2:5, 2:5] == 1).all()
    assert (pair.inputs[:, :, 10:13, 10:13] == 1).all()
    probe = GivenSaliency(torch.rand_like(inputs))
    PuzzleMix(1.0)(inputs, torch.arange(2), probe)
    assert probe.asked == 1


@pytest.mark.parametrize(
    ('options', 'said'),
    [
        ({'n_labels': 5}, 'n_labels'),
        ({'block_num': 1}, 'block_num'),
        ({'neigh': 0}, 'neigh'),
        ({'t_size': 0}, 't_size'),
        ({'beta': -1}, 'beta'),
        ({'solver': 'swap'}, 'solver'),
    ],
)
def test_bad_settings_are_refused(options, said):
    with pytest.raises(ValueError, match=said):
        PuzzleMix(alpha=1.0, **options)
