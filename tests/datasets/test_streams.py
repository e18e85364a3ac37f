"""Two streams of one data set: who is drawn when, who has a label, and what is refused."""

import numpy as np
import pytest
import torch

from openmix_dm.datasets.samplers import stream_batches as module
from openmix_dm.datasets.samplers.sample_index import SampleIndex
from openmix_dm.datasets.samplers.stream_batches import EndlessOrder, StreamBatches
from openmix_dm.datasets.streams import Streams
from openmix_dm.engine.loader import build_dataloader
from openmix_dm.errors import ConfigError, DataError
from openmix_dm.utils.keys import key

CROP = {'type': 'BatchRandomCrop', 'padding': 1, 'mode': 'constant'}
DIGITS = {'type': 'Digits', 'split': 'train', 'size': 8}


def streams(**options):
    settings = {'labelled_views': [[]], 'unlabelled_views': [[CROP], []], 'count': 40, **options}
    return Streams(dataset=DIGITS, **settings)


def batches(dataset, size=8, seed=0):
    made = StreamBatches(dataset, size, seed)
    made.in_rounds(5, 12)
    return made


# ---- the order ----


def test_every_image_comes_once_before_any_comes_again():
    order = EndlessOrder(7, seed=0, stream=1)
    drawn = order.take(0, 70).tolist()
    for number in range(10):
        assert sorted(drawn[7 * number : 7 * number + 7]) == list(range(7))
    assert drawn[:7] != drawn[7:14]


@pytest.mark.parametrize(('start', 'count'), [(0, 3), (5, 4), (13, 20), (699, 2), (10**12, 5)])
def test_any_place_can_be_the_first(start, count):
    again, drawn = (EndlessOrder(7, seed=3, stream=2).take(start, count).tolist() for _ in range(2))
    assert again == drawn
    if start < 10**6:
        assert drawn == EndlessOrder(7, seed=3, stream=2).take(0, start + count).tolist()[start:]


def test_streams_and_seeds_have_orders_of_their_own():
    drawn = {tuple(EndlessOrder(20, seed, stream).take(0, 20)) for seed in range(3) for stream in (1, 2)}
    assert len(drawn) == 6


# ---- batches ----


def test_a_batch_is_a_function_of_its_iteration():
    dataset = streams(ratio=3)
    whole, late = list(batches(dataset)), batches(dataset)
    late.start_at(7)
    assert list(late) == whole[7:]
    assert len(whole) == 12
    assert {(len(samples.labelled), len(samples.unlabelled)) for samples in whole} == {(8, 24)}


def test_two_ranks_share_the_batch_of_one(monkeypatch):
    dataset = streams(ratio=3)
    one = batches(dataset, size=8)
    halves = []
    for rank in (0, 1):
        monkeypatch.setattr(module, 'get_dist_info', lambda rank=rank: (rank, 2))
        halves.append(batches(dataset, size=4))
    for iteration in (0, 11, 1000):
        for name in ('labelled', 'unlabelled'):
            together = [sample for half in halves for sample in getattr(half.batch(iteration), name)]
            assert together == getattr(one.batch(iteration), name)


@pytest.mark.parametrize(('ratio', 'size'), [(1.5, 5), (0.1, 4)])
def test_a_ratio_that_does_not_divide_is_refused(ratio, size):
    with pytest.raises(ConfigError, match=f'ratio={ratio} .*whole number'):
        batches(streams(ratio=ratio), size)


def test_half_a_ratio_may_divide():
    assert len(batches(streams(ratio=1.5), 4).batch(0).unlabelled) == 6


def test_other_data_sets_have_no_streams():
    with pytest.raises(ConfigError, match='type Streams, got list'):
        StreamBatches([], 4, 0)


# ---- the data set ----


def test_a_batch_of_the_loader():
    loader = build_dataloader(
        dataset={'type': 'Streams', 'dataset': DIGITS, 'labelled_views': [[CROP]], 'unlabelled_views': [[CROP], []],
                 'count': 40, 'ratio': 2},
        sampler={'type': 'StreamBatches'}, batch_size=4, seed=0,
    )  # fmt: skip
    loader.batch_sampler.in_rounds(1, 3)
    batch = next(iter(loader))
    assert set(batch) == {'labelled', 'unlabelled', 'truth'}
    assert set(batch['labelled']) == {'inputs', 'labels'}
    assert set(batch['unlabelled']) == {'inputs', 'index'}  # no label can be seen here
    weak, plain = batch['unlabelled']['inputs']
    source = loader.dataset.source
    index = batch['unlabelled']['index']
    assert torch.equal(plain, source.images[index])  # 'all': the place in the stream is that in the data set
    assert torch.equal(batch['truth'], source.labels[index])
    assert not torch.equal(weak, plain)
    assert weak.dtype == torch.uint8


def test_labels_belong_to_the_labelled_images():
    dataset = streams()
    samples = batches(dataset).batch(3).labelled
    batch = dataset.__getitems__(batches(dataset).batch(3))
    for row, sample in enumerate(samples):
        image = dataset._labelled[sample.image]
        assert torch.equal(batch['labelled']['inputs'][0][row], dataset.source.images[image])
        assert batch['labelled']['labels'][row] == dataset.source.labels[image]


def test_the_same_pick_is_augmented_alike_and_views_are_not():
    dataset = streams(unlabelled_views=[[CROP], [CROP]])
    samples = batches(dataset).batch(0)
    one, two = (dataset.__getitems__(samples)['unlabelled']['inputs'] for _ in range(2))
    assert all(map(torch.equal, one, two))
    assert not torch.equal(one[0], one[1])


def test_counts_are_balanced_and_follow_the_seed():
    one, two = streams(split_seed=1), streams(split_seed=2)
    assert one.facts.class_counts.tolist() == [4] * 10
    assert len(np.intersect1d(one._labelled, two._labelled)) < 20
    assert np.array_equal(one._labelled, streams(split_seed=1)._labelled)


def test_who_is_unlabelled():
    assert streams(unlabelled='all').sizes == (40, 1437)
    assert streams(unlabelled='rest').sizes == (40, 1397)
    assert streams(unlabelled=None).sizes == (40, 0)
    rest = streams(unlabelled='rest')
    assert not np.intersect1d(rest._labelled, rest._unlabelled).size
    assert 'unlabelled' not in streams(unlabelled=None).__getitems__(batches(streams(unlabelled=None)).batch(0))


def test_a_fraction_of_each_class():
    counts = streams(count=None, fraction=0.15).facts.class_counts
    assert counts.min() >= 20
    assert counts.sum() == pytest.approx(0.15 * 1437, abs=6)


# ---- what is refused ----


@pytest.mark.parametrize(
    ('options', 'words'),
    [
        ({'count': 5000}, 'expected 1 to 1437, the images that there are'),
        ({'count': 1430}, r'143 labelled images of class \d are asked for, but it has'),
        ({'count': 45}, 'cannot be divided'),
        ({'count': None}, 'exactly one of count, fraction and labelled_file'),
        ({'fraction': 0.5}, 'exactly one of'),
        ({'unlabelled_views': []}, 'unlabelled_views must name'),
        ({'labelled_views': []}, 'labelled_views must name'),
        ({'count': None, 'fraction': 1.0, 'unlabelled': 'rest'}, 'leaves no image'),
    ],
)
def test_impossible_streams_are_refused(options, words):
    with pytest.raises(ConfigError, match=words):
        streams(**options)


def test_transforms_belong_to_views():
    with pytest.raises(ConfigError, match='belong into labelled_views'):
        Streams(dataset={**DIGITS, 'transforms': [CROP]}, labelled_views=[[]], unlabelled_views=[[]], count=40)


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


def test_streams_of_files(write):
    made = streams(count=None, labelled_file=write('l', '3\n1\n\n'), unlabelled_file=write('u', '7\n5\n9\n'))
    assert made.sizes == (2, 3)
    assert made._labelled.tolist() == [1, 3]
    assert torch.equal(made._truth, made.source.labels[[5, 7, 9]])


@pytest.mark.parametrize(
    ('labelled', 'unlabelled', 'words'),
    [
        ('1\n2', '2\n3', r'splits overlap: 1 images .*\[2\]'),
        ('1', '2 0\n3 4', 'line 1.*labels in the unlabelled stream are refused'),
        ('1', '2\nx', "line 2: expected an image number below 1437, got 'x'"),
        ('1', '1437', 'below 1437'),
        ('1\n1', '2', 'image 1 more than once'),
        ('', '2', 'names no image for the labelled stream'),
    ],
)
def test_bad_files_are_refused(write, labelled, unlabelled, words):
    with pytest.raises(DataError, match=words):
        streams(count=None, labelled_file=write('l', labelled), unlabelled_file=write('u', unlabelled))


def test_a_file_that_is_not_there():
    with pytest.raises(DataError, match=r'no file nowhere\.txt for the labelled stream'):
        streams(count=None, labelled_file='nowhere.txt')


@pytest.fixture
def files(tmp_path):
    """Ten images of two classes in files."""
    import cv2

    for label in ('a', 'b'):
        (tmp_path / 'train' / label).mkdir(parents=True)
        for number in range(5):
            pixels = np.random.default_rng(number).integers(0, 256, (12, 10, 3), dtype=np.uint8)
            cv2.imwrite(str(tmp_path / 'train' / label / f'{number}.png'), pixels)
    return {'type': 'ImageFolder', 'root': str(tmp_path), 'split': 'train'}


def test_files_are_decoded_once_for_all_views(files, monkeypatch):
    crop = [{'type': 'RandomCrop', 'size': 6}]
    dataset = Streams(dataset=files, labelled_views=[crop], unlabelled_views=[crop, crop], count=4, ratio=2)
    decoded, decode = [], type(dataset.source).decode
    monkeypatch.setattr(
        type(dataset.source), 'decode', lambda self, place: decoded.append(place) or decode(self, place)
    )
    samples = batches(dataset, size=2).batch(0)
    batch = dataset.__getitems__(samples)
    assert len(decoded) == 2 + 4
    one, two = batch['unlabelled']['inputs']
    assert one.shape == two.shape == (4, 3, 6, 6)
    assert not torch.equal(one, two)
    alone = dataset._unlabelled_views[1]
    for row, sample in enumerate(samples.unlabelled):  # as the data set serves the same sample by itself
        own = SampleIndex(int(dataset._unlabelled[sample.image]), key(sample.key, 1))
        assert torch.equal(two[row], alone[own]['inputs'])


def test_no_other_image_may_take_the_place_of_a_labelled_one(files):
    with pytest.raises(ConfigError, match='under a label'):
        Streams(dataset={**files, 'on_error': 'skip'}, labelled_views=[[]], unlabelled_views=[[]], count=4)
