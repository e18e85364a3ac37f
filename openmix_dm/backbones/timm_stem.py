"""Stems for small images, put in place of timm's."""

from typing import Any

from torch import nn


def use_cifar_stem(model: nn.Module, name: str) -> None:
    """Make the stem of a timm ResNet or ConvNeXt keep the input's resolution; `name` is for errors."""
    from timm.models import ConvNeXt, ResNet

    if isinstance(model, ResNet):
        _shrink_resnet_stem(model)
    elif isinstance(model, ConvNeXt):
        _shrink_convnext_stem(model)
    else:
        raise ValueError(f"stem='cifar': expected a ResNet or a ConvNeXt, got {name}")


def _first_conv(stem: nn.Module) -> nn.Conv2d:
    return next(layer for layer in stem.modules() if isinstance(layer, nn.Conv2d))


def _small_conv(stem: nn.Module, channels: int) -> nn.Conv2d:
    """Build a 3x3 stride-1 convolution that reads and stores what the stem's first one does."""
    old = _first_conv(stem)
    bias, weight = old.bias is not None, old.weight
    return nn.Conv2d(old.in_channels, channels, 3, padding=1, bias=bias, device=weight.device, dtype=weight.dtype)


def _shrink_resnet_stem(model: Any) -> None:
    model.conv1 = _small_conv(model.conv1, model.bn1.num_features)
    nn.init.kaiming_normal_(model.conv1.weight, mode='fan_out', nonlinearity='relu')
    model.maxpool = nn.Identity()


def _shrink_convnext_stem(model: Any) -> None:
    norm = model.stem[-1]
    conv = _small_conv(model.stem, norm.weight.shape[0])
    nn.init.trunc_normal_(conv.weight, std=0.02)  # as the paper's own code and timm draw all convolutions
    if conv.bias is not None:
        nn.init.zeros_(conv.bias)
    model.stem = nn.Sequential(conv, norm)
