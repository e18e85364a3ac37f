from collections import Counter

import pytest
from timm.data.distributed_sampler import RepeatAugSampler

from openmix_dm.datasets import EvalBatches, TrainBatches
from openmix_dm.datasets.samplers import epoch_batches as samplers
from openmix_dm.errors import ConfigError


def on_rank(monkeypatch, rank, world_size):
    monkeypatch.setattr(samplers, 'get_dist_info', lambda: (rank, world_size))


def batches(epoch=0, first=0, images=23, batch_size=4, seed=0, **options):
    sampler = TrainBatches(range(images), batch_size, seed, **options)
    sampler.start_at(epoch, first)
    return list(sampler)


def test_an_epoch_shows_each_image_at_most_once():
    shown = [sample.image for batch in batches() for sample in batch]
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
    """Two ranks with batches of 2 see, in turn, what one rank sees with batches of 4: keys included."""
    whole = batches(batch_size=4)
    parts = []
    for rank in (0, 1):
        on_rank(monkeypatch, rank, 2)
        parts.append(batches(batch_size=2))
    assert [[a[0], b[0], a[1], b[1]] for a, b in zip(*parts, strict=True)] == whole


def test_keys_belong_to_places_not_to_images():
    keys = [sample.key for epoch in range(3) for batch in batches(epoch=epoch) for sample in batch]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize('world_size', [1, 2, 4, 5])
def test_repeated_augmentation_shows_what_timm_shows(monkeypatch, world_size):
    """Timm's lists of the same permutation, as far as whole batches reach."""
    for rank in range(world_size):
        on_rank(monkeypatch, rank, world_size)
        shown = [sample.image for batch in batches(images=103, repeats=3, shuffle=False) for sample in batch]
        timms = list(RepeatAugSampler(range(103), world_size, rank, shuffle=False, num_repeats=3, selected_round=1))
        assert shown == timms[: len(shown)]
        assert len(timms) - len(shown) < 4


def test_repeated_augmentation_keeps_the_length_and_repeats_each_image(monkeypatch):
    assert len(batches(images=120, repeats=3)) == len(batches(images=120))
    for batch in batches(images=120, batch_size=12, repeats=3):
        assert sorted(Counter(sample.image for sample in batch).values()) == [3] * 4
    shown = Counter(sample.image for batch in batches(images=120, repeats=3) for sample in batch)
    assert len(shown) == 40  # a batch of 4 cuts a row of 3 somewhere, an epoch does not
    keys = [sample.key for batch in batches(images=120, repeats=3) for sample in batch]
    assert len(set(keys)) == len(keys)


def test_copies_of_an_image_are_on_different_ranks(monkeypatch):
    seen = []
    for rank in range(4):
        on_rank(monkeypatch, rank, 4)
        seen += [(rank, sample.image) for sample in batches(images=64, batch_size=6, repeats=3)[0]]
    assert len(set(seen)) == len(seen) == 24
    assert set(Counter(image for _, image in seen).values()) == {3}


def test_any_batch_can_be_the_first_with_repeats():
    for first in range(5):
        assert batches(epoch=3, first=first, repeats=3) == batches(epoch=3, repeats=3)[first:]


@pytest.mark.parametrize('repeats', [0, 1.5, True])
def test_bad_repeats_are_refused(repeats):
    with pytest.raises(ValueError, match='repeats'):
        TrainBatches(range(20), 4, 0, repeats=repeats)


def test_whole_accumulation_windows():
    assert len(batches(batch_size=4, multiple_of=2)) == 4


def test_without_shuffling_in_order():
    assert [sample.image for sample in batches(shuffle=False)[0]] == [0, 1, 2, 3]


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
