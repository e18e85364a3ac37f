"""Wide ResNet as the semi-supervised literature trains it."""

from torch import Tensor, nn

from openmix_dm.backbones.base import ConvBackbone
from openmix_dm.registry import BACKBONES

STEM_CHANNELS = 16
SLOPE = 0.1
NORM_EPS = 1e-3
NORM_MOMENTUM = 1e-3  # in PyTorch's sense: a batch weighs 0.001 in the running statistics


def _norm_act(channels: int) -> nn.Sequential:
    norm = nn.BatchNorm2d(channels, eps=NORM_EPS, momentum=NORM_MOMENTUM)
    return nn.Sequential(norm, nn.LeakyReLU(SLOPE, inplace=True))


class PreActivationBlock(nn.Module):
    """Normalise and activate before each of two 3x3 convolutions (arXiv:1603.05027).

    The shortcut takes the raw input, or the activated one if `activate_shortcut`; a 1x1 convolution fits it where the
    shape changes.
    """

    def __init__(self, channels: int, out_channels: int, stride: int, activate_shortcut: bool = False) -> None:
        super().__init__()
        self.activate_shortcut = activate_shortcut
        self.norm_act = _norm_act(channels)
        self.branch = nn.Sequential(
            nn.Conv2d(channels, out_channels, 3, stride, 1),
            _norm_act(out_channels),
            nn.Conv2d(out_channels, out_channels, 3, 1, 1),
        )
        same = channels == out_channels and stride == 1
        self.shortcut = nn.Identity() if same else nn.Conv2d(channels, out_channels, 1, stride)

    def forward(self, inputs: Tensor) -> Tensor:
        """Keep the batch and map (C, H, W) to (out_channels, H / stride, W / stride), rounded up."""
        activated = self.norm_act(inputs)
        return self.branch(activated) + self.shortcut(activated if self.activate_shortcut else inputs)


@BACKBONES.register_module()
class WideResNet(ConvBackbone):
    """Build a Wide ResNet (https://arxiv.org/abs/1605.07146) as FixMatch does (https://arxiv.org/abs/2001.07685).

    WRN-d-k, such as WRN-28-2, WRN-28-8 or WRN-16-k, with the constants of FixMatch: LeakyReLU 0.1, batch norm eps 1e-3
    and momentum 1e-3, convolutions with bias, no dropout. Every block activates the input of its first convolution.

    32 px give maps of 32, 16, 8. The stages are 'stem' and 'stage1' to 'stage3'; features are (N, 64 k). `stage3` ends
    with the network's final norm and activation, so that here too the features are the average of what the last stage
    returns.

    Args:
        depth: number of layers d, 6n + 4 with n >= 1: 10, 16, 22, 28, ...
        widen_factor: k, by which the 16, 32 and 64 channels of the stages are multiplied.
        pretrained: file with weights (.safetensors, .pth, .pt or .bin), a checkpoint of ours included. `init_weights`
            loads it, the constructor only remembers it. None keeps random weights. Default: None.

    Example:
        backbone = dict(type='WideResNet', depth=28, widen_factor=2)
    """

    def __init__(self, depth: int, widen_factor: int, pretrained: str | None = None) -> None:
        _check_arguments(depth, widen_factor)
        stages: dict[str, nn.Module] = {'stem': nn.Conv2d(3, STEM_CHANNELS, 3, padding=1)}
        channels = STEM_CHANNELS
        for index in range(3):
            out_channels = STEM_CHANNELS * widen_factor * 2**index
            stages[f'stage{index + 1}'] = _build_stage(channels, out_channels, index, (depth - 4) // 6)
            channels = out_channels
        super().__init__(stages, channels, pretrained, negative_slope=SLOPE)


def _build_stage(channels: int, out_channels: int, index: int, depth: int) -> nn.Sequential:
    # As in FixMatch's code, only the very first block of the network feeds its shortcut with the activated input.
    first = PreActivationBlock(channels, out_channels, 1 if index == 0 else 2, activate_shortcut=index == 0)
    rest = (PreActivationBlock(out_channels, out_channels, 1) for _ in range(depth - 1))
    last = [_norm_act(out_channels)] if index == 2 else []
    return nn.Sequential(first, *rest, *last)


def _check_arguments(depth: int, widen_factor: int) -> None:
    if depth < 10 or depth % 6 != 4:
        raise ValueError(f'depth of WideResNet: expected 6n + 4 with n >= 1 (10, 16, 22, 28, ...), got {depth}')
    if widen_factor < 1:
        raise ValueError(f'widen_factor: expected at least 1, got {widen_factor}')
