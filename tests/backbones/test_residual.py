import pytest
import torch
from torch import nn

from openmix_dm.backbones.residual import basic_block, bottleneck_block, bottleneck_of, stack_blocks


def convolutions(module):
    return [layer for layer in module.modules() if isinstance(layer, nn.Conv2d)]


def silence(block):
    """Make a block's branch return zero, so that only the shortcut is left."""
    nn.init.zeros_(block.branch[-1][1].weight)
    nn.init.zeros_(block.branch[-1][1].bias)


@pytest.mark.parametrize('block', [basic_block(8, 8, 1), bottleneck_block(8, 8, 1, width=4)])
def test_same_shape_has_an_identity_shortcut(block):
    silence(block)
    inputs = torch.randn(2, 8, 5, 5)
    assert torch.equal(block(inputs), inputs.relu())


@pytest.mark.parametrize(('channels', 'stride'), [(4, 1), (8, 2), (4, 2)])
def test_changed_shape_has_a_normalised_projection(channels, stride):
    block = basic_block(channels, 8, stride).eval()
    silence(block)
    conv, norm = block.shortcut
    inputs = torch.randn(2, channels, 7, 7)
    assert conv.kernel_size == (1, 1)
    torch.testing.assert_close(block(inputs), norm(conv(inputs)).relu())


def test_input_is_left_alone():
    inputs = torch.randn(2, 8, 5, 5)
    before = inputs.clone()
    basic_block(8, 8, 1)(inputs)
    assert torch.equal(inputs, before)


def test_bottleneck_strides_in_its_3x3_convolution():
    reduce, spatial, expand = convolutions(bottleneck_block(16, 32, 2, width=8, groups=4).branch)
    assert [reduce.stride, spatial.stride, expand.stride] == [(1, 1), (2, 2), (1, 1)]
    assert [reduce.kernel_size, spatial.kernel_size, expand.kernel_size] == [(1, 1), (3, 3), (1, 1)]
    assert [reduce.groups, spatial.groups, expand.groups] == [1, 4, 1]
    assert spatial.in_channels == spatial.out_channels == 8


def test_only_the_first_block_of_a_stack_changes_the_shape():
    stage = stack_blocks(bottleneck_of(4, 2), 8, 16, 2, depth=3)
    shapes = [tuple(stage[: index + 1](torch.randn(1, 8, 8, 8)).shape) for index in range(3)]
    assert shapes == [(1, 16, 4, 4)] * 3
    assert [isinstance(block.shortcut, nn.Identity) for block in stage] == [False, True, True]
