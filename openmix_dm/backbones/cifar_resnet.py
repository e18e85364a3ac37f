"""ResNet and ResNeXt for small images: the ImageNet networks without the early loss of resolution."""

from torch import nn

from openmix_dm.backbones.base import ConvBackbone
from openmix_dm.backbones.residual import BOTTLENECK_EXPANSION, basic_block, bottleneck_of, conv_norm_relu, stack_blocks
from openmix_dm.registry import BACKBONES

STEM_CHANNELS = 64
BASIC_DEPTHS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3)}
BOTTLENECK_DEPTHS = {50: (3, 4, 6, 3)}


@BACKBONES.register_module()
class CifarResNet(ConvBackbone):
    """Build a ResNet-18, -34 or -50 for small images (https://arxiv.org/abs/1512.03385).

    The stem is a 3x3 convolution of stride 1 without max-pool: 32 px give maps of 32, 16, 8, 4. The stages are 'stem'
    and 'stage1' to 'stage4'. Features are (N, 512), or (N, 2048) for depth 50. ResNeXt-50 32x4d
    (https://arxiv.org/abs/1611.05431) is `CifarResNet(50, groups=32, width_per_group=4)`.

    Args:
        depth: number of layers: 18 or 34 (basic blocks), or 50 (bottlenecks).
        groups: groups of the 3x3 convolutions, for bottlenecks only. Default: 1.
        width_per_group: channels of each group in the first stage's bottlenecks; doubles with each stage. Default: 64.
        pretrained: file with weights (.safetensors, .pth, .pt or .bin), a checkpoint of ours included. `init_weights`
            loads it, the constructor only remembers it. None keeps random weights. Default: None.

    Example:
        backbone = dict(type='CifarResNet', depth=18)
    """

    def __init__(self, depth: int, groups: int = 1, width_per_group: int = 64, pretrained: str | None = None) -> None:
        _check_arguments(depth, groups, width_per_group)
        bottleneck = depth in BOTTLENECK_DEPTHS
        expansion = BOTTLENECK_EXPANSION if bottleneck else 1
        stages: dict[str, nn.Module] = {'stem': conv_norm_relu(3, STEM_CHANNELS, 3)}
        channels = STEM_CHANNELS
        for index, blocks in enumerate((BOTTLENECK_DEPTHS | BASIC_DEPTHS)[depth]):
            # Width 64 per group in one group is the plain ResNet: 64, 128, 256, 512 inside the blocks.
            width = width_per_group * groups * 2**index
            block = bottleneck_of(width, groups) if bottleneck else basic_block
            out_channels = STEM_CHANNELS * 2**index * expansion
            stages[f'stage{index + 1}'] = stack_blocks(block, channels, out_channels, 1 if index == 0 else 2, blocks)
            channels = out_channels
        super().__init__(stages, channels, pretrained)


def _check_arguments(depth: int, groups: int, width_per_group: int) -> None:
    known = sorted(BASIC_DEPTHS | BOTTLENECK_DEPTHS)
    if depth not in known:
        raise ValueError(f'depth of CifarResNet: expected one of {known}, got {depth}')
    if groups < 1 or width_per_group < 1:
        raise ValueError(f'groups and width_per_group: expected at least 1, got {groups} and {width_per_group}')
    if depth in BASIC_DEPTHS and (groups, width_per_group) != (1, 64):
        raise ValueError(
            f'depth {depth} has basic blocks, which know no groups: expected groups=1 and width_per_group=64, '
            f'got {groups} and {width_per_group}'
        )
