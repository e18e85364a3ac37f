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


def test_constants_are_not_part_of_checkpoints():
    assert not Normalise(mean=[0.0], std=[1.0]).state_dict()


def test_bad_constants_are_refused():
    for mean, std in (([1, 2], [1]), ([1], [0]), ([1], [-1])):
        with pytest.raises(ValueError, match='std'):
            Normalise(mean=mean, std=std)
