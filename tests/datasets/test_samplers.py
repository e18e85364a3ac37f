import pytest

from openmix_dm.datasets import EvalBatches, TrainBatches, samplers
from openmix_dm.errors import ConfigError


def on_rank(monkeypatch, rank, world_size):
    monkeypatch.setattr(samplers, 'get_dist_info', lambda: (rank, world_size))


def batches(epoch=0, first=0, images=23, batch_size=4, seed=0, **options):
    sampler = TrainBatches(range(images), batch_size, seed, **options)
    sampler.start_at(epoch, first)
    return list(sampler)


def test_an_epoch_shows_each_image_at_most_once():
    shown = [pick.image for batch in batches() for pick in batch]
    assert len(shown) == len(set(shown)) == 20
    assert [len(batch) for batch in batches()] == [4] * 5


def test_epochs_and_seeds_differ_and_repeat():
    assert batches(epoch=1) == batches(epoch=1)
    assert batches(epoch=1) != batches(epoch=2)
    assert batches(seed=1) != batches(seed=2)


def test_any_batch_can_be_the_first():
    for first in range(5):
        assert batches(epoch=3, first=first) == batches(epoch=3)[first:]


def test_ranks_share_each_global_batch(monkeypatch):
    """Two ranks with batches of 2 see, together, what one rank sees with batches of 4: keys included."""
    whole = batches(batch_size=4)
    parts = []
    for rank in (0, 1):
        on_rank(monkeypatch, rank, 2)
        parts.append(batches(batch_size=2))
    assert [a + b for a, b in zip(*parts, strict=True)] == whole


def test_keys_belong_to_places_not_to_images():
    keys = [pick.key for epoch in range(3) for batch in batches(epoch=epoch) for pick in batch]
    assert len(set(keys)) == len(keys)


def test_whole_accumulation_windows():
    assert len(batches(batch_size=4, multiple_of=2)) == 4


def test_without_shuffling_in_order():
    assert [pick.image for pick in batches(shuffle=False)[0]] == [0, 1, 2, 3]


def test_a_batch_larger_than_the_data_is_refused():
    with pytest.raises(ConfigError, match='global_batch_size'):
        TrainBatches(range(3), 4, 0)


@pytest.mark.parametrize('world_size', [1, 2, 3, 5])
def test_evaluation_counts_every_image_once(monkeypatch, world_size):
    seen = []
    for rank in range(world_size):
        on_rank(monkeypatch, rank, world_size)
        sampler = EvalBatches(range(23), 4, seed=0)
        part = list(sampler)
        assert len(part) == len(sampler)
        seen += [image for batch in part for image in batch]
    assert sorted(seen) == list(range(23))
