import itertools

import pytest
import torch

from openmix_dm.evaluation.hidden_patches import hidden_mask, hiding_order, occlude, patch_grid, usual_patch


def slow_mask(order, ratio, height, width, patch):
    """Pixel by pixel: a pixel is hidden if its patch is among the first."""
    across = -(-width // patch)
    mask = torch.zeros(len(order), 1, height, width, dtype=torch.bool)
    first = round(ratio * order.shape[1])
    for i in range(len(order)):
        for y in range(height):
            for x in range(width):
                mask[i, 0, y, x] = order[i, (y // patch) * across + x // patch] < first
    return mask


@pytest.mark.parametrize(('height', 'width', 'patch'), [(16, 16, 4), (9, 14, 4)])
def test_the_mask_pixel_by_pixel(height, width, patch):
    rows, columns = patch_grid(height, width, patch)
    order = hiding_order(range(3), rows * columns)
    for ratio in (0, 0.3, 0.5, 1):
        assert torch.equal(
            hidden_mask(order, ratio, height, width, patch), slow_mask(order, ratio, height, width, patch)
        )


def test_the_order_belongs_to_the_image():
    whole = hiding_order(range(10), 20, seed=1)
    assert torch.equal(whole[4:7], hiding_order([4, 5, 6], 20, seed=1))
    assert all(sorted(row) == list(range(20)) for row in whole.tolist())
    assert not torch.equal(whole[0], whole[1])
    assert not torch.equal(whole, hiding_order(range(10), 20, seed=2))


def test_what_is_hidden_stays_hidden():
    order = hiding_order(range(4), 196)
    masks = [hidden_mask(order, ratio / 10, 224, 224, 16) for ratio in range(11)]
    assert [int(mask[0].sum()) for mask in masks] == [round(ratio / 10 * 196) * 256 for ratio in range(11)]
    assert all(bool((low <= high).all()) for low, high in itertools.pairwise(masks))


def test_the_fill_is_where_the_mask_is():
    inputs, mask = torch.randn(2, 3, 4, 4), torch.rand(2, 1, 4, 4) < 0.5
    filled = occlude(inputs, mask, 7.0)
    assert bool((filled[mask.expand_as(filled)] == 7).all())
    assert torch.equal(filled[~mask.expand_as(filled)], inputs[~mask.expand_as(filled)])


def test_sizes_and_mistakes():
    assert [usual_patch(size, size) for size in (224, 64, 32, 16, 4)] == [16, 8, 4, 2, 1]
    with pytest.raises(ValueError, match='patch must be'):
        patch_grid(8, 8, 9)
    with pytest.raises(ValueError, match='ratio must be'):
        hidden_mask(hiding_order([0], 4), 1.5, 8, 8, 4)
    with pytest.raises(ValueError, match='2 x 2 patches'):
        hidden_mask(hiding_order([0], 5), 0.5, 8, 8, 4)
