import math

import pytest
import torch
from torch import nn

from openmix_dm.backbones.residual import initialise_he


@pytest.mark.parametrize(('slope', 'gain'), [(0.0, math.sqrt(2)), (0.5, math.sqrt(2 / 1.25))])
def test_convolutions_are_he_normal_by_fan_out(slope, gain):
    torch.manual_seed(0)
    conv = nn.Conv2d(16, 256, 3)
    initialise_he(conv, slope)
    deviation = gain / math.sqrt(256 * 9)  # by fan-in it would be four times as large
    assert conv.weight.std().item() == pytest.approx(deviation, rel=0.02)
    assert conv.weight.mean().abs().item() < deviation / 50
    assert torch.equal(conv.bias, torch.zeros(256))


def test_norms_start_as_identity():
    norm = nn.BatchNorm2d(4)
    nn.init.uniform_(norm.weight)
    nn.init.uniform_(norm.bias)
    initialise_he(nn.Sequential(norm, nn.Conv2d(4, 4, 1, bias=False)))
    assert torch.equal(norm.weight, torch.ones(4))
    assert torch.equal(norm.bias, torch.zeros(4))
