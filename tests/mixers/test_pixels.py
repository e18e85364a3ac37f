import torch

from openmix_dm.mixers.teacher import pixels_of
from openmix_dm.utils.modules import full_precision


class Shifted:
    def denormalise(self, inputs):
        return inputs + 1


def test_pixels_by_the_models_normalisation_or_stretched():
    inputs = torch.tensor([[[[-1.0, 0.0, 1.0]]], [[[0.0, 5.0, 10.0]]], [[[3.0, 3.0, 3.0]]]])
    assert torch.equal(pixels_of(inputs, Shifted()), inputs + 1)
    assert pixels_of(inputs, None).flatten(1).tolist() == [[0, 0.5, 1], [0, 0.5, 1], [0, 0, 0]]
    assert pixels_of(inputs.half(), None).dtype == torch.float32


def test_full_precision_leaves_autocast():
    with torch.autocast('cpu', dtype=torch.bfloat16):
        with full_precision(torch.device('cpu')):
            assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.bfloat16
    with full_precision(torch.device('meta')):
        pass
