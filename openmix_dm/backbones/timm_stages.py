"""Which modules of a timm model stand for its stages, told by the attributes that timm gives to each family."""

from typing import Any

from torch import Tensor, nn


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
