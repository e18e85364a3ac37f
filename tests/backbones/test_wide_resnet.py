import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from openmix_dm.backbones import PreActivationBlock, WideResNet
from openmix_dm.registry import BACKBONES


@pytest.mark.parametrize(
    ('depth', 'widen_factor', 'parameters'), [(28, 2, 1_468_352), (28, 8, 23_357_792), (16, 1, 174_976)]
)
def test_parameters(depth, widen_factor, parameters):
    with torch.device('meta'):
        net = BACKBONES.build({'type': 'WideResNet', 'depth': depth, 'widen_factor': widen_factor})
    assert sum(parameter.numel() for parameter in net.parameters()) == parameters
    assert net.num_features == 64 * widen_factor


def test_constants():
    net = WideResNet(16, 2)
    norms = [layer for layer in net.modules() if isinstance(layer, nn.BatchNorm2d)]
    acts = [layer for layer in net.modules() if isinstance(layer, nn.LeakyReLU)]
    convs = [layer for layer in net.modules() if isinstance(layer, nn.Conv2d)]
    assert {(norm.eps, norm.momentum) for norm in norms} == {(1e-3, 1e-3)}
    assert {act.negative_slope for act in acts} == {0.1}
    assert len(norms) == len(acts) == 2 * 6 + 1
    assert all(conv.bias is not None and not conv.bias.any() for conv in convs)
    assert not any(isinstance(layer, nn.ReLU | nn.Dropout) for layer in net.modules())


def test_start_is_he_normal_for_its_slope():
    torch.manual_seed(0)
    weight = WideResNet(16, 4).stage3[1].branch[0].weight
    assert weight.std().item() == pytest.approx(math.sqrt(2 / 1.01 / (256 * 9)), rel=2e-3)


def test_sizes_of_stages():
    net, features, sizes = WideResNet(16, 2), torch.randn(2, 3, 32, 32), {}
    for name, stage in net.stages.items():
        features = stage(features)
        sizes[name] = tuple(features.shape[1:])
    assert sizes == {'stem': (16, 32, 32), 'stage1': (32, 32, 32), 'stage2': (64, 16, 16), 'stage3': (128, 8, 8)}


def test_stage3_ends_with_the_final_norm_and_activation():
    net, inputs = WideResNet(10, 1).eval(), torch.randn(2, 3, 8, 8)
    raw = net.stage3[:-1](net.stage2(net.stage1(net.stem(inputs))))
    norm = net.stage3[-1][0]
    expected = F.leaky_relu(norm(raw), 0.1)
    torch.testing.assert_close(net(inputs), expected.mean((2, 3)))


@pytest.mark.parametrize('activate_shortcut', [False, True])
@pytest.mark.parametrize(('channels', 'stride'), [(6, 1), (4, 2)])
def test_block_by_hand(channels, stride, activate_shortcut):
    block = PreActivationBlock(channels, 6, stride, activate_shortcut).eval()
    inputs = torch.randn(2, channels, 7, 7)
    first, (norm, _), second = block.branch
    activated = F.leaky_relu(block.norm_act[0](inputs), 0.1)
    branch = second(F.leaky_relu(norm(first(activated)), 0.1))
    shortcut = activated if activate_shortcut else inputs
    shortcut = shortcut if channels == 6 else F.conv2d(shortcut, block.shortcut.weight, block.shortcut.bias, stride)
    torch.testing.assert_close(block(inputs), branch + shortcut)


def test_only_the_first_block_of_stage1_activates_its_shortcut():
    blocks = {name: layer for name, layer in WideResNet(28, 1).named_modules() if isinstance(layer, PreActivationBlock)}
    assert len(blocks) == 12
    assert [name for name, block in blocks.items() if block.activate_shortcut] == ['stage1.0']


def test_every_parameter_gets_a_gradient_at_odd_sizes():
    net = WideResNet(16, 1)
    features = net(torch.randn(3, 3, 9, 15))
    features.square().mean().backward()
    assert features.shape == (3, 64)
    assert all(parameter.grad is not None for parameter in net.parameters())
    # released code leaves these two norms out of the graph
    assert net.stage2[0].norm_act[0].weight.grad.abs().sum() > 0
    assert net.stage3[0].norm_act[0].weight.grad.abs().sum() > 0


def test_seed_decides_the_weights():
    def draw(seed):
        torch.manual_seed(seed)
        return WideResNet(10, 1).stage3[0].branch[0].weight

    assert torch.equal(draw(1), draw(1))
    assert not torch.equal(draw(1), draw(2))


@pytest.mark.parametrize('depth', [4, 27, 30])
def test_bad_depth(depth):
    with pytest.raises(ValueError, match=rf'expected 6n \+ 4 .*, got {depth}'):
        WideResNet(depth, 2)


def test_bad_width():
    with pytest.raises(ValueError, match='widen_factor: expected at least 1, got 0'):
        WideResNet(16, 0)
