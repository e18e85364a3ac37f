"""A batch as two arrays is, number for number, what a list of samples was."""

import pickle

import numpy as np
import pytest
import torch

from openmix_dm.datasets import Digits, SampleBatch, SampleIndex, SubsetBatches, TrainBatches
from openmix_dm.datasets.samplers import epoch_batches, stream_batches
from openmix_dm.datasets.samplers.sample_index import BatchDraws
from openmix_dm.datasets.streams import Streams

PERMUTATION, AUGMENTATION, SUBSET = 1, 2, 4
CROP = {'type': 'BatchRandomCrop', 'padding': 1, 'mode': 'constant'}


def mixed(*parts):
    """Splitmix64, number by number: what a key has been since the first run."""
    state = 0
    for part in parts:
        state = (state + part + 0x9E3779B97F4A7C15) % 2**64
        state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        state = (state ^ state >> 27) * 0x94D049BB133111EB % 2**64
        state ^= state >> 31
    return state >> 1


def permutation(count, *parts):
    return torch.randperm(count, generator=torch.Generator().manual_seed(mixed(PERMUTATION, *parts))).tolist()


@pytest.mark.parametrize(('rank', 'world_size'), [(0, 1), (2, 3)])
@pytest.mark.parametrize('repeats', [1, 3])
@pytest.mark.parametrize('seed', [0, 7, -1, 2**63 + 5])
def test_batches_of_an_epoch_are_the_samples_one_by_one(monkeypatch, rank, world_size, repeats, seed):
    monkeypatch.setattr(epoch_batches, 'get_dist_info', lambda: (rank, world_size))
    sampler = TrainBatches(range(100), 4, seed, repeats=repeats)
    for epoch in (0, 5):
        sampler.start_at(epoch)
        order = permutation(100, seed, epoch)
        for batch, samples in enumerate(sampler):
            places = [(batch * 4 + i) * world_size + rank for i in range(4)]
            one_by_one = [(order[place // repeats], mixed(AUGMENTATION, seed, epoch, place)) for place in places]
            assert [tuple(sample) for sample in samples] == one_by_one


def test_a_share_is_the_samples_one_by_one():
    sampler = SubsetBatches(range(50), 5, 3, fraction=0.5, repeats=2)
    drawn = torch.randperm(50, generator=torch.Generator().manual_seed(mixed(SUBSET, 3))).tolist()[:25]
    chosen, order = sorted(drawn), permutation(25, 3, 4)
    expected = [(chosen[order[place // 2]], mixed(AUGMENTATION, 3, 4, place)) for place in range(10, 15)]
    assert [tuple(sample) for sample in sampler.batch(4, 2)] == expected


def test_batches_of_streams_are_the_samples_one_by_one(monkeypatch):
    monkeypatch.setattr(stream_batches, 'get_dist_info', lambda: (1, 2))
    digits = {'type': 'Digits', 'split': 'train', 'size': 8}
    dataset = Streams(dataset=digits, count=40, labelled_views=[[CROP]], unlabelled_views=[[CROP], [CROP]], ratio=3)
    samples = stream_batches.StreamBatches(dataset, 7, seed=5).batch(3)
    for stream, images, size, drawn in ((1, 40, 7, samples.labelled), (2, 1437, 21, samples.unlabelled)):
        places = range((3 * 2 + 1) * size, (3 * 2 + 2) * size)
        one_by_one = [
            (permutation(images, 5, stream, place // images)[place % images], mixed(AUGMENTATION, 5, stream, place))
            for place in places
        ]
        assert [tuple(sample) for sample in drawn] == one_by_one
    whole = dataset.__getitems__(samples)
    listed = dataset.__getitems__(stream_batches.StreamSamples(list(samples.labelled), list(samples.unlabelled)))
    assert all(map(torch.equal, whole['unlabelled']['inputs'], listed['unlabelled']['inputs']))
    view = Digits(split='train', size=8, transforms=[CROP])
    rows = [SampleIndex(int(dataset._unlabelled[sample.image]), mixed(sample.key, 1)) for sample in samples.unlabelled]
    assert torch.equal(whole['unlabelled']['inputs'][1], view.__getitems__(rows)['inputs'])


def test_it_is_a_sequence_of_samples():
    listed = [SampleIndex(3 * i, 2**62 + i) for i in range(5)]
    batch = SampleBatch.of(listed)
    assert SampleBatch.of(batch) is batch
    assert len(batch) == 5
    assert list(batch) == listed
    assert batch == listed
    assert listed == batch
    assert batch != listed[:4]
    assert batch != 5
    assert batch[1:3] == listed[1:3]
    assert (batch[0], batch[-1]) == (listed[0], listed[-1])
    assert listed[2] in batch
    assert list(reversed(batch)) == listed[::-1]
    assert {type(value) for sample in (batch[2], *batch) for value in sample} == {int}  # as random.seed and JSON want
    with pytest.raises(IndexError):
        batch[5]
    assert not SampleBatch.of([])
    assert 'SampleIndex(image=3' in repr(batch)


def test_it_travels_to_a_worker_as_two_arrays():
    batch = TrainBatches(range(10**6), 256, 0).batch(0, 0)
    sent = pickle.dumps(batch)
    assert pickle.loads(sent) == batch
    assert len(sent) < 2 * 8 * 256 + 500 < len(pickle.dumps(list(batch)))


def test_images_in_memory_are_the_same_by_arrays_and_by_samples():
    digits = Digits('train', size=8, transforms=[CROP])
    batch = TrainBatches(digits, 32, 0).batch(2, 1)
    one, other = digits.__getitems__(batch), digits.__getitems__(list(batch))
    assert torch.equal(one['inputs'], other['inputs'])
    assert torch.equal(one['labels'], other['labels'])
    alone = digits[batch[3]]
    assert torch.equal(alone['labels'], one['labels'][3])


def test_the_draws_of_a_batch_follow_its_first_key():
    keys = np.array([11, 2**62, 5])
    draws = BatchDraws(keys)
    assert draws.keys.tolist() == keys.tolist()
    assert torch.equal(torch.rand(3, generator=draws), torch.rand(3, generator=torch.Generator().manual_seed(11)))
