"""The narrow three-stage ResNets that their paper trained on CIFAR-10; small enough for a CPU."""

from torch import nn

from openmix_dm.backbones.base import ConvBackbone
from openmix_dm.backbones.residual import basic_block, conv_norm_relu, stack_blocks
from openmix_dm.registry import BACKBONES

CHANNELS = (16, 32, 64)


@BACKBONES.register_module()
class ThinResNet(ConvBackbone):
    """Build a narrow ResNet-8, -20, ... of three stages (https://arxiv.org/abs/1512.03385, section 4.2).

    Each stage has n basic blocks; the depth is 6n + 2. 32 px give maps of 32, 16, 8. The stages are 'stem' and 'stage1'
    to 'stage3'; features are (N, 64). Shapes change by a 1x1 projection with batch norm, where the paper pads with
    zeros.

    Args:
        depth: number of layers, 6n + 2 with n >= 1: 8, 14, 20, ...
        pretrained: file with weights (.safetensors, .pth, .pt or .bin), a checkpoint of ours included. `init_weights`
            loads it, the constructor only remembers it. None keeps random weights. Default: None.

    Example:
        backbone = dict(type='ThinResNet', depth=8)
    """

    def __init__(self, depth: int, pretrained: str | None = None) -> None:
        if depth < 8 or depth % 6 != 2:
            raise ValueError(f'depth of ThinResNet: expected 6n + 2 with n >= 1 (8, 14, 20, ...), got {depth}')
        stages: dict[str, nn.Module] = {'stem': conv_norm_relu(3, CHANNELS[0], 3)}
        channels = CHANNELS[0]
        for index, out_channels in enumerate(CHANNELS):
            stride = 1 if index == 0 else 2
            stages[f'stage{index + 1}'] = stack_blocks(basic_block, channels, out_channels, stride, (depth - 2) // 6)
            channels = out_channels
        super().__init__(stages, channels, pretrained)
