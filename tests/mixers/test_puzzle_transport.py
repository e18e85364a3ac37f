import pytest
import torch
from reference import puzzle as reference

from openmix_dm.mixers.puzzle.transport import sources, take_blocks


def scene(side, count, power):
    saliency = torch.rand(count, side, side) ** power
    return torch.rand(count, side, side) > 0.5, saliency / saliency.sum(dim=(1, 2), keepdim=True)


@pytest.mark.parametrize('t_eps', [0.1, 0.8])
@pytest.mark.parametrize(('side', 'count', 'power'), [(2, 12, 2), (4, 8, 1), (4, 8, 8), (8, 3, 4), (8, 2, 30)])
def test_visible_places_get_the_blocks_of_the_auction(side, count, power, t_eps):
    visible, saliency = scene(side, count, power)
    found, moved = sources(visible, saliency, t_eps), 0
    for i in range(count):
        expected = reference.auction(visible[i].flatten().tolist(), saliency[i].flatten(), t_eps)
        for place, block in expected.items():
            assert found[i, place] == block
            moved += place != block
    assert moved > 0 or side == 2


def test_no_block_is_seen_twice_and_hidden_places_keep_theirs():
    visible, saliency = scene(16, 4, 4)
    found = sources(visible, saliency, 0.8)
    for seen, blocks in zip(visible.flatten(1), found, strict=True):
        assert len(set(blocks[seen].tolist())) == seen.sum()
        assert torch.equal(blocks[~seen], torch.arange(256)[~seen])
        assert (blocks != torch.arange(256)).any()


def test_a_salient_hidden_block_moves_to_the_nearest_visible_place():
    saliency, visible = torch.full((1, 8, 8), 0.001), torch.zeros(1, 8, 8, dtype=torch.bool)
    saliency[0, 3, 2] = 0.937
    visible[0, 3, 4:] = True
    assert sources(visible, saliency, 0.8)[0, 3 * 8 + 4] == 3 * 8 + 2


def test_images_without_saliency_stay_as_they_are():
    for visible in (torch.ones(2, 4, 4, dtype=torch.bool), torch.rand(2, 4, 4) > 0.5):
        assert torch.equal(sources(visible, torch.zeros(2, 4, 4), 0.8), torch.arange(16).expand(2, 16))


@pytest.mark.parametrize('shape', [(3, 3, 8, 8), (2, 1, 8, 16), (2, 4, 12, 4)])
def test_blocks_of_chosen_images_are_gathered(shape):
    images, rows = torch.rand(shape), torch.tensor([1, 0, 1])
    source = torch.stack([torch.randperm(16) for _ in rows])
    moved = take_blocks(images, rows, source)
    for i, row in enumerate(rows):
        assert torch.equal(moved[i], reference.move_blocks(images[row], source[i].tolist()))
