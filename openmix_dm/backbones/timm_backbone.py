"""Every network of timm as a backbone."""

import difflib
import inspect
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from openmix_dm.backbones.attention import AttentionKind, CapturedAttention, capture_vit_attention
from openmix_dm.backbones.base import Backbone
from openmix_dm.backbones.pretrained import PUBLISHED, Weights, load_weights
from openmix_dm.backbones.timm_weights import published_weights
from openmix_dm.registry import BACKBONES


@BACKBONES.register_module()
class TimmBackbone(Backbone):
    """Wrap a network of timm (https://github.com/huggingface/pytorch-image-models) without its classifier.

    Features are what timm's network hands to its classifier. The stages are 'stem' and 'stage1', ... (ResNet, Swin,
    ConvNeXt) or 'block1', ... (ViT), in timm's own layouts; see `find_stages`. Residual branches do not start at zero,
    unless `options` say so.

    Args:
        name: name of timm's model, such as 'resnet50'; a tag, as in 'resnet50.tv_in1k', says which weights
            pretrained='timm' takes.
        drop_path_rate: rate of stochastic depth; networks that have none take 0 only. Default: 0.0.
        img_size: pixels a side, or (height, width), for models that have one (ViT, Swin). It means nothing to the
            others. None takes timm's. Default: None.
        stem: 'cifar' keeps the resolution of small images (ResNet, ConvNeXt); None leaves timm's stem. Default: None.
        pretrained: file with weights (.safetensors, .pth, .pt or .bin), a checkpoint of ours included, or 'timm' for
            the weights that timm publishes under `name`. `init_weights` loads them, the constructor only remembers
            them. None keeps random weights. Default: None.
        options: further arguments of timm's model. Default: None.

    Example:
        backbone = dict(type='TimmBackbone', name='deit_small_patch16_224', drop_path_rate=0.1)
    """

    def __init__(
        self,
        name: str,
        drop_path_rate: float = 0.0,
        img_size: int | tuple[int, int] | None = None,
        stem: str | None = None,
        pretrained: str | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        if stem not in (None, 'cifar'):
            raise ValueError(f"stem: expected None or 'cifar', got {stem!r}")
        _check_name(name)
        model = _create(name, drop_path_rate, img_size, options or {})
        super().__init__(getattr(model, 'head_hidden_size', model.num_features), pretrained)
        self.name = name
        self.model: Any = model  # timm's methods are not those that nn.Module declares
        if stem == 'cifar':
            use_cifar_stem(self.model, name)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return timm's pre-logits, (N, num_features)."""
        return self.model(inputs)

    @property
    def stages(self) -> dict[str, nn.Module]:
        """Name the stem and the stages or blocks; layouts as in `find_stages`."""
        return find_stages(self.model, self.name)

    @property
    def example_size(self) -> tuple[int, int]:
        """The image size that the network was made for, if it was made for one."""
        size = getattr(getattr(self.model, 'patch_embed', None), 'img_size', None)
        return tuple(size) if size is not None else super().example_size

    def as_map(self, output: Tensor, stage: str, size: tuple[int, int]) -> Tensor:
        """Return the output of a stage or block as a map, (N, C, h, w): tokens on their grid, without prefix tokens."""
        if output.ndim == 3:
            return tokens_on_grid(self.model, output, size)
        return output.permute(0, 3, 1, 2) if getattr(self.model, 'output_fmt', 'NCHW') == 'NHWC' else output

    def tokens(self, inputs: Tensor) -> Tensor:
        """Return the final tokens before pooling, (N, T, C): prefix tokens first, or the positions of a map."""
        features = self.model.forward_features(inputs)
        if features.ndim == 3:
            return features
        if features.ndim != 4:
            raise ValueError(f'tokens of {self.name}: expected a map or tokens, got shape {tuple(features.shape)}')
        if getattr(self.model, 'output_fmt', 'NCHW') == 'NHWC':
            return features.flatten(1, 2)
        return features.flatten(2).transpose(1, 2)

    def capture_attention(self, kind: AttentionKind = 'class') -> AbstractContextManager[CapturedAttention]:
        """Record the last block's attention from class token to patches; features and gradients stay as they are.

        `with backbone.capture_attention() as captured: features = backbone(inputs)`, then `captured.map`.
        """
        return capture_vit_attention(self.model, self.name, kind)

    @property
    def token_norm(self) -> tuple[nn.Module, int]:
        """The module after which the tokens of a Vision Transformer are final, and how many prefix tokens there are."""
        if not hasattr(self.model, 'num_prefix_tokens') or not hasattr(self.model, 'norm'):
            return super().token_norm
        return self.model.norm, self.model.num_prefix_tokens

    def init_weights(self) -> None:
        """Load the `pretrained` file or timm's weights, if asked for."""
        if self.pretrained is None:
            return
        source = f'published weights of {self.name}' if self.pretrained == PUBLISHED else self.pretrained
        load_weights(self.model, self.pretrained_weights(), source, self._timm_layout)

    def pretrained_weights(self) -> Weights:
        """Read the `pretrained` file, or what timm publishes, with all that it holds."""
        return published_weights(self.name) if self.pretrained == PUBLISHED else super().pretrained_weights()

    def _timm_layout(self, weights: Weights) -> Weights:
        """Rename the keys of the authors' files and resample positions to this image size, as timm does."""
        convert: Callable[[Weights, nn.Module], Weights] | None
        convert = getattr(sys.modules[type(self.model).__module__], 'checkpoint_filter_fn', None)
        try:
            return convert(weights, self.model) if convert else weights
        except (AttributeError, KeyError, RuntimeError):
            return weights  # weights of another network: the check that follows says what is wrong


def _check_name(name: str) -> None:
    import timm

    architecture, _, tag = name.partition('.')
    if not timm.is_model(architecture):
        near = difflib.get_close_matches(architecture, timm.list_models(), n=5, cutoff=0.5)
        raise ValueError(f'unknown timm model: expected a name such as {", ".join(near) or "resnet50"}, got {name!r}')
    tagged = timm.list_models(f'{architecture}.*', pretrained=True)
    if tag and name not in tagged:
        raise ValueError(f'unknown weights of {architecture}: expected {", ".join(tagged) or "no tag"}, got {name!r}')


@cache
def accepted_options(name: str) -> frozenset[str]:
    """Read from its class what a model takes; on the meta device this costs neither memory nor random numbers."""
    import timm

    with torch.device('meta'):
        model = timm.create_model(name, num_classes=0)
    constructors = (vars(cls)['__init__'] for cls in type(model).__mro__ if '__init__' in vars(cls))
    return frozenset(name for constructor in constructors for name in inspect.signature(constructor).parameters)


def _create(name: str, drop_path_rate: float, img_size: int | tuple[int, int] | None, options: dict[str, Any]) -> Any:
    import timm

    accepted = accepted_options(name)
    if drop_path_rate and 'drop_path_rate' not in accepted:
        raise ValueError(f'drop_path_rate: expected 0 for {name}, which has no stochastic depth, got {drop_path_rate}')
    wanted = {'drop_path_rate': drop_path_rate, 'img_size': img_size, 'zero_init_last': False}
    chosen = {key: value for key, value in wanted.items() if key in accepted and value is not None}
    return timm.create_model(name, num_classes=0, **(chosen | options))


def find_stages(model: nn.Module, name: str) -> dict[str, nn.Module]:
    """Name stem and stages (hierarchical nets) or stem and blocks (ViTs) of the model called `name` in errors.

    Layouts are timm's: ResNet and ConvNeXt (N, C, h, w), Swin (N, h, w, C), ViT (N, T, C) with the prefix tokens first.
    """
    parts = dict(model.named_children())
    if {'maxpool', 'layer1', 'layer4'} <= set(parts):  # ResNet, ResNeXt: the pool closes the stem
        return _named(parts['maxpool'], [parts[f'layer{index}'] for index in range(1, 5)], 'stage')
    if {'patch_embed', 'pos_drop', 'blocks'} <= set(parts):  # ViT: the stem ends after positions and class token
        return _named(parts.get('norm_pre', parts['pos_drop']), list(parts['blocks'].children()), 'block')
    if {'patch_embed', 'layers'} <= set(parts):  # Swin
        return _named(parts['patch_embed'], list(parts['layers'].children()), 'stage')
    if {'stem', 'stages'} <= set(parts):  # ConvNeXt
        return _named(parts['stem'], list(parts['stages'].children()), 'stage')
    raise ValueError(
        f'stages of {name}: expected a network built like ResNet, ViT, Swin or ConvNeXt, got parts {", ".join(parts)}'
    )


def tokens_on_grid(model: Any, tokens: Tensor, size: tuple[int, int]) -> Tensor:
    """Lay the tokens (N, T, C) of a ViT for an image of a size on the grid of patches, (N, C, h, w)."""
    rows, columns = model.patch_embed.dynamic_feat_size(size)
    patches = tokens[:, model.num_prefix_tokens :]
    if patches.shape[1] != rows * columns:
        raise ValueError(f'expected a token for each of {rows} x {columns} patches, got {patches.shape[1]} (dropped?)')
    return patches.mT.reshape(len(tokens), -1, rows, columns)


def _named(stem: nn.Module, modules: list[nn.Module], word: str) -> dict[str, nn.Module]:
    return {'stem': stem} | {f'{word}{index}': module for index, module in enumerate(modules, 1)}


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
