import pytest
import torch

from openmix_dm.datasets import Digits, SampleIndex
from openmix_dm.datasets.digits import read_digits
from openmix_dm.datasets.splits.draw import apportion, stratified_split


def test_are_scikit_learns():
    from sklearn.datasets import load_digits

    images, labels = read_digits()
    expected = load_digits()
    assert images.tolist() == expected.images.tolist()
    assert labels.tolist() == expected.target.tolist()


def test_the_split_is_stratified_disjoint_and_stable():
    _, labels = read_digits()
    train, test = stratified_split(labels, test_fraction=0.2, seed=0)
    assert (len(train), len(test)) == (1437, 360)
    assert sorted([*train.tolist(), *test.tolist()]) == list(range(1797))
    share = labels[test].bincount() / labels.bincount()
    assert (share - 0.2).abs().max() < 0.006
    assert torch.equal(stratified_split(labels, 0.2, 0)[1], test)
    assert not torch.equal(stratified_split(labels, 0.2, 1)[1], test)


def test_apportion_keeps_the_total():
    assert apportion([1.5, 1.4, 1.1], 4) == [2, 1, 1]
    assert apportion([0.5, 0.5], 1) == [1, 0]


def test_images_are_rgb_bytes_of_16_pixels():
    digits = Digits('test')
    assert digits.images.shape == (360, 3, 16, 16)
    assert digits.images.dtype == torch.uint8
    assert torch.equal(digits.images[:, 0], digits.images[:, 2])
    assert digits.images.max() == 255
    assert digits.num_classes == 10


def test_augmentation_follows_the_key_of_the_pick():
    digits = Digits('train', transforms=[{'type': 'BatchRandomCrop', 'padding': 1, 'mode': 'constant'}])
    samples = [SampleIndex(i, 100 + i) for i in range(32)]
    first, again = (digits.__getitems__(samples)['inputs'] for _ in range(2))
    other = digits.__getitems__([SampleIndex(i, 500 + i) for i in range(32)])['inputs']
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    plain = digits.__getitems__(list(range(32)))
    assert torch.equal(plain['inputs'], digits.images[:32])
    assert torch.equal(plain['labels'], digits.labels[:32])
    assert torch.equal(digits[3]['inputs'], digits.images[3])


def test_bad_split_is_refused():
    with pytest.raises(ValueError, match='split'):
        Digits('validation')


def test_some_digits_become_classes_in_the_order_given():
    everything, some = Digits('train'), Digits('train', digits=(9, 5))
    assert (some.num_classes, some.classes) == (2, ('9', '5'))
    for place, digit in enumerate((9, 5)):
        assert torch.equal(some.images[some.labels == place], everything.images[everything.labels == digit])
    for wrong in ((), (3, 3), (10,)):
        with pytest.raises(ValueError, match='different numbers of 0 to 9'):
            Digits('train', digits=wrong)
