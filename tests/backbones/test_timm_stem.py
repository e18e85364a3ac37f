import pytest
import torch
from torch import nn

from openmix_dm.backbones import TimmBackbone


def map_sizes(net, size):
    features, sizes = torch.empty(1, 3, size, size, device='meta'), []
    for stage in net.stages.values():
        stage.register_forward_hook(lambda module, args, output: sizes.append(output.shape[-1]))
    net(features)
    return sizes


@pytest.mark.parametrize('name', ['convnext_tiny', 'resnet18', 'resnext50_32x4d', 'resnet50d'])
def test_resolution_is_kept(name):
    with torch.device('meta'):
        net = TimmBackbone(name, stem='cifar')
    assert map_sizes(net, 32) == [32, 32, 16, 8, 4]


def test_convnext_keeps_the_norm_of_its_stem():
    small = {'depths': (1, 1, 1, 1), 'dims': (8, 8, 8, 8)}
    plain, net = (
        TimmBackbone('convnext_tiny', options=small),
        TimmBackbone('convnext_tiny', stem='cifar', options=small),
    )
    conv, norm = net.stage('stem')
    assert (conv.kernel_size, conv.stride, conv.padding, conv.out_channels) == ((3, 3), (1, 1), (1, 1), 8)
    assert type(norm) is type(plain.stage('stem')[1])
    assert norm.eps == plain.stage('stem')[1].eps
    assert torch.equal(conv.bias, torch.zeros(8))
    assert conv.weight.std().item() == pytest.approx(0.02, rel=0.2)


def test_resnet_loses_its_pool():
    net = TimmBackbone('resnet18', stem='cifar')
    conv = net.model.conv1
    assert (conv.kernel_size, conv.stride, conv.bias) == ((3, 3), (1, 1), None)
    assert isinstance(net.model.maxpool, nn.Identity)
    assert conv.weight.std().item() == pytest.approx((2 / (64 * 9)) ** 0.5, rel=0.05)


@pytest.mark.parametrize('name', ['convnext_tiny', 'resnet18'])
def test_odd_sizes_train(name):
    options = {'layers': (1, 1, 1, 1)} if name == 'resnet18' else {'depths': (1, 1, 1, 1), 'dims': (8, 8, 8, 8)}
    net = TimmBackbone(name, stem='cifar', options=options)
    net(torch.randn(2, 3, 27, 19)).square().sum().backward()
    assert next(net.parameters()).grad.abs().sum() > 0


@pytest.mark.parametrize('name', ['deit_small_patch16_224', 'swin_tiny_patch4_window7_224', 'resnetv2_50'])
def test_other_networks_are_refused(name):
    with torch.device('meta'), pytest.raises(ValueError, match=f'expected a ResNet or a ConvNeXt, got {name}'):
        TimmBackbone(name, stem='cifar')


def test_unknown_stem():
    with pytest.raises(ValueError, match=r"stem: expected None or 'cifar', got 'tiny'"):
        TimmBackbone('resnet18', stem='tiny')
