"""Post-activation residual blocks (arXiv:1512.03385, grouped: arXiv:1611.05431) and stacks of them."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

BOTTLENECK_EXPANSION = 4


def conv_norm(channels: int, out_channels: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """Build a convolution that keeps the size at stride 1, and its batch norm."""
    conv = nn.Conv2d(channels, out_channels, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(out_channels))


def conv_norm_relu(channels: int, out_channels: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """Build a convolution with batch norm and ReLU."""
    return conv_norm(channels, out_channels, kernel, stride, groups).append(nn.ReLU(inplace=True))


class ResidualBlock(nn.Module):
    """Add a branch to its input, then apply ReLU; a 1x1 projection fits the input where the shape changes."""

    def __init__(self, branch: nn.Sequential, channels: int, out_channels: int, stride: int) -> None:
        super().__init__()
        self.branch = branch
        same = channels == out_channels and stride == 1
        self.shortcut = nn.Identity() if same else conv_norm(channels, out_channels, 1, stride)

    def forward(self, inputs: Tensor) -> Tensor:
        """Keep the batch and map (C, H, W) to (out_channels, H / stride, W / stride), rounded up."""
        return torch.relu(self.branch(inputs) + self.shortcut(inputs))


def basic_block(channels: int, out_channels: int, stride: int) -> ResidualBlock:
    """Build a block of two 3x3 convolutions."""
    branch = nn.Sequential(
        conv_norm_relu(channels, out_channels, 3, stride),
        conv_norm(out_channels, out_channels, 3),
    )
    return ResidualBlock(branch, channels, out_channels, stride)


def bottleneck_block(channels: int, out_channels: int, stride: int, width: int, groups: int = 1) -> ResidualBlock:
    """Build a 1x1, 3x3, 1x1 block, `width` channels inside; the 3x3 convolution carries the stride."""
    branch = nn.Sequential(
        conv_norm_relu(channels, width, 1),
        conv_norm_relu(width, width, 3, stride, groups),
        conv_norm(width, out_channels, 1),
    )
    return ResidualBlock(branch, channels, out_channels, stride)


Block = Callable[[int, int, int], nn.Module]  # channels, out_channels, stride


def stack_blocks(block: Block, channels: int, out_channels: int, stride: int, depth: int) -> nn.Sequential:
    """Chain `depth` blocks; the first one changes channels and size."""
    first = block(channels, out_channels, stride)
    return nn.Sequential(first, *(block(out_channels, out_channels, 1) for _ in range(depth - 1)))


def bottleneck_of(width: int, groups: int) -> Block:
    """Fix the inner width and the groups of a stage's bottleneck blocks."""
    return partial(bottleneck_block, width=width, groups=groups)


def initialise_he(module: nn.Module, negative_slope: float = 0.0) -> None:
    """Draw convolutions as He et al. (arXiv:1502.01852) by fan-out; batch norms start as identity, biases at 0.

    `negative_slope` is that of the network's LeakyReLU, 0 for ReLU. The last norm of a residual branch is not zeroed.
    """
    for layer in module.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, a=negative_slope, mode='fan_out', nonlinearity='leaky_relu')
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
        elif isinstance(layer, nn.BatchNorm2d):
            nn.init.ones_(layer.weight)
            nn.init.zeros_(layer.bias)
