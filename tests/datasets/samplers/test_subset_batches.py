"""A share of the images, the same in every epoch."""

import pytest

from openmix_dm.datasets import SubsetBatches


def shown(epoch=0, seed=0, fraction=0.3, images=100):
    sampler = SubsetBatches(range(images), 5, seed, fraction=fraction)
    sampler.start_at(epoch)
    return [sample.image for batch in sampler for sample in batch]


def test_every_epoch_shows_the_same_share_in_another_order():
    assert len(shown()) == len(set(shown())) == 30
    assert set(shown(epoch=1)) == set(shown()) <= set(range(100))
    assert shown(epoch=1) != shown()


def test_the_seed_chooses_the_images():
    assert shown(seed=1) == shown(seed=1)
    assert set(shown(seed=1)) != set(shown(seed=2))


def test_the_share_is_spread_over_the_whole_set():
    """A prefix of a set that is sorted by class would be a few classes."""
    assert min(shown()) < 20
    assert max(shown()) >= 80


def test_a_whole_set_is_a_share_too():
    assert sorted(shown(fraction=1.0)) == list(range(100))


@pytest.mark.parametrize('fraction', [0, -0.1, 1.5])
def test_refuses_impossible_shares(fraction):
    with pytest.raises(ValueError, match='fraction must be in'):
        shown(fraction=fraction)


def test_a_share_can_be_repeated_too():
    sampler = SubsetBatches(range(100), 6, 0, fraction=0.3, repeats=3)
    images = [sample.image for batch in sampler for sample in batch]
    assert images[::3] == images[1::3] == images[2::3]
    assert set(images) <= set(shown())


def test_images_can_be_repeated_in_a_batch():
    batch = SubsetBatches(range(100), 6, seed=0, fraction=0.5, repeats=3).batch(0, 0)
    assert len({sample.image for sample in batch}) == 2
    assert len({sample.key for sample in batch}) == 6
