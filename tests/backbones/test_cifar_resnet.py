import pytest
import torch
from torch import nn

from openmix_dm.backbones import CifarResNet
from openmix_dm.registry import BACKBONES


def meta(**arguments):
    with torch.device('meta'):
        return BACKBONES.build({'type': 'CifarResNet', **arguments})


def stage_shapes(net, inputs):
    shapes = {}
    for name, stage in net.stages.items():
        stage.register_forward_hook(lambda module, args, output, name=name: shapes.update({name: tuple(output.shape)}))
    net(inputs)
    return shapes


@pytest.mark.parametrize(
    ('arguments', 'parameters', 'num_features'),
    [
        ({'depth': 18}, 11_168_832, 512),
        ({'depth': 34}, 21_276_992, 512),
        ({'depth': 50}, 23_500_352, 2048),
        ({'depth': 50, 'groups': 32, 'width_per_group': 4}, 22_972_224, 2048),
    ],
)
def test_parameters(arguments, parameters, num_features):
    net = meta(**arguments)
    # torchvision's network without its classifier, whose 7x7 stem has 64 * 3 * 40 weights more
    assert sum(parameter.numel() for parameter in net.parameters()) == parameters
    assert net.num_features == num_features


@pytest.mark.parametrize(('arguments', 'expansion'), [({'depth': 18}, 1), ({'depth': 50, 'groups': 32}, 4)])
def test_sizes_of_stages(arguments, expansion):
    shapes = stage_shapes(meta(**arguments), torch.empty(2, 3, 32, 32, device='meta'))
    assert shapes == {
        'stem': (2, 64, 32, 32),
        'stage1': (2, 64 * expansion, 32, 32),
        'stage2': (2, 128 * expansion, 16, 16),
        'stage3': (2, 256 * expansion, 8, 8),
        'stage4': (2, 512 * expansion, 4, 4),
    }


def test_resnext_splits_128_channels_into_32_groups():
    spatial = [layer for layer in meta(depth=50, groups=32, width_per_group=4).modules() if _is_3x3(layer)]
    assert [layer.groups for layer in spatial] == [1] + [32] * 16
    assert spatial[1].out_channels == 128
    assert spatial[-1].out_channels == 1024


def _is_3x3(layer):
    return isinstance(layer, nn.Conv2d) and layer.kernel_size == (3, 3)


def test_odd_sizes_train():
    net = CifarResNet(18)
    features = net(torch.randn(3, 3, 17, 13))
    features.square().mean().backward()
    assert features.shape == (3, 512)
    assert all(parameter.grad is not None and parameter.grad.abs().sum() > 0 for parameter in net.parameters())


def test_no_residual_branch_starts_at_zero():
    norms = [layer for layer in CifarResNet(18).modules() if isinstance(layer, nn.BatchNorm2d)]
    assert len(norms) == 20
    assert all(torch.equal(norm.weight, torch.ones_like(norm.weight)) for norm in norms)


def test_seed_decides_the_weights():
    def draw(seed):
        torch.manual_seed(seed)
        return CifarResNet(18).stage4[1].branch[1][0].weight

    assert torch.equal(draw(1), draw(1))
    assert not torch.equal(draw(1), draw(2))


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ({'depth': 19}, r'expected one of \[18, 34, 50\], got 19'),
        ({'depth': 18, 'groups': 32}, 'expected groups=1 and width_per_group=64, got 32 and 64'),
        ({'depth': 50, 'groups': 0}, 'expected at least 1, got 0 and 64'),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        CifarResNet(**arguments)
