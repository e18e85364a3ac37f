import pytest
import torch

from openmix_dm.classifiers import Normalise


def test_normalises_bytes_and_keeps_the_rest():
    normalise = Normalise(mean=[10, 20, 30], std=[1, 2, 5])
    pixels = torch.tensor([10, 24, 0], dtype=torch.uint8).view(1, 3, 1, 1)
    data = normalise({'inputs': pixels, 'labels': torch.tensor([4])}, training=True)
    assert data['inputs'].flatten().tolist() == [0, 2, -6]
    assert data['labels'].tolist() == [4]
    assert pixels.dtype == torch.uint8


def test_erasing_is_for_training_and_leaves_the_rest():
    normalise = Normalise(mean=[10] * 3, std=[2] * 3, erasing={'prob': 1.0})
    data = {'inputs': torch.full((8, 3, 16, 16), 110, dtype=torch.uint8), 'labels': torch.arange(8)}
    assert (normalise(data)['inputs'] == 50).all()
    erased = normalise(data, training=True)['inputs'] != 50
    assert erased.flatten(1).any(dim=1).all()
    assert not erased.flatten(1).all(dim=1).any()
    assert torch.equal(erased[:, 0], erased[:, 2])


def test_constants_are_not_part_of_checkpoints():
    assert not Normalise(mean=[0.0], std=[1.0]).state_dict()


def test_bad_constants_are_refused():
    for mean, std in (([1, 2], [1]), ([1], [0]), ([1], [-1])):
        with pytest.raises(ValueError, match='std'):
            Normalise(mean=mean, std=std)
