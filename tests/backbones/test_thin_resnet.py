import pytest
import torch

from openmix_dm.backbones import ThinResNet
from openmix_dm.registry import BACKBONES


@pytest.mark.parametrize(('depth', 'parameters'), [(8, 77_392), (20, 271_824)])
def test_parameters(depth, parameters):
    net = BACKBONES.build({'type': 'ThinResNet', 'depth': depth})
    assert sum(parameter.numel() for parameter in net.parameters()) == parameters
    assert net.num_features == 64


def test_depth_counts_convolutions_on_the_main_path():
    net = ThinResNet(20)
    main_path = [name for name, value in net.named_parameters() if value.ndim == 4 and 'shortcut' not in name]
    assert len(main_path) + 1 == 20  # and one linear layer


def test_sizes_of_stages():
    net, features, sizes = ThinResNet(8), torch.randn(2, 3, 32, 32), {}
    for name, stage in net.stages.items():
        features = stage(features)
        sizes[name] = tuple(features.shape[1:])
    assert sizes == {'stem': (16, 32, 32), 'stage1': (16, 32, 32), 'stage2': (32, 16, 16), 'stage3': (64, 8, 8)}


@pytest.mark.parametrize('size', [(8, 8), (7, 11), (1, 1)])
def test_small_and_odd_sizes_train(size):
    net = ThinResNet(8)
    features = net(torch.randn(4, 3, *size))
    features.sum().backward()
    assert features.shape == (4, 64)
    assert all(parameter.grad is not None for parameter in net.parameters())


@pytest.mark.parametrize('depth', [2, 7, 18])
def test_bad_depth(depth):
    with pytest.raises(ValueError, match=rf'expected 6n \+ 2 .*, got {depth}'):
        ThinResNet(depth)
