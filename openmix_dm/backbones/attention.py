"""Where the class token of a Vision Transformer looks: read from the last block while it runs."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn


@dataclass
class CapturedAttention:
    """Collect one map per forward: (N, h, w) float32, detached, heads averaged, over the grid of patches.

    A row sums to less than 1: what the class token gives to itself and to other prefix tokens is left out.
    """

    maps: list[Tensor] = field(default_factory=list)

    @property
    def map(self) -> Tensor:
        """Return the map of the latest forward."""
        if not self.maps:
            raise ValueError('attention map: expected a forward pass inside the capturing context, got none')
        return self.maps[-1]


def capture_class_attention(model: nn.Module, name: str) -> AbstractContextManager[CapturedAttention]:
    """Record the attention of a timm model that is called `name` in errors, which come before the context opens."""
    vit: Any = model  # timm's attributes are not those that nn.Module declares
    if getattr(vit, 'cls_token', None) is None or not _shows_attention(vit):
        raise ValueError(
            f'{name} has no class-token attention: expected a Vision Transformer with a class token, '
            'such as deit_small_patch16_224'
        )
    return _capture(vit)


def _shows_attention(vit: Any) -> bool:
    """Tell whether the last block attends from class token to patches and can do so unfused."""
    if not getattr(vit, 'num_prefix_tokens', 0) or not hasattr(vit, 'blocks'):
        return False
    attention = getattr(vit.blocks[-1], 'attn', None)
    return hasattr(attention, 'fused_attn') and hasattr(attention, 'attn_drop')


@contextmanager
def _capture(vit: Any) -> Iterator[CapturedAttention]:
    captured = CapturedAttention()
    grids: list[tuple[int, int]] = []
    attention = vit.blocks[-1].attn

    def remember_grid(patch_embed: Any, args: tuple[Tensor, ...]) -> None:
        grids[:] = [patch_embed.dynamic_feat_size(args[0].shape[-2:])]

    def record(_: nn.Module, args: tuple[Tensor, ...]) -> None:
        captured.maps.append(_class_map(args[0], vit.num_prefix_tokens, grids[0]))

    fused = attention.fused_attn
    # The fused kernel never forms the matrix; the plain path hands it, softmaxed, to its dropout.
    attention.fused_attn = False
    try:
        with (
            vit.patch_embed.register_forward_pre_hook(remember_grid),
            attention.attn_drop.register_forward_pre_hook(record),
        ):
            yield captured
    finally:
        attention.fused_attn = fused


def _class_map(weights: Tensor, num_prefix_tokens: int, grid: tuple[int, int]) -> Tensor:
    """Cut the class token's row out of (N, heads, T, T) and lay it on the grid."""
    row = weights[:, :, 0, num_prefix_tokens:].detach().float().mean(1)
    if row.shape[1] != grid[0] * grid[1]:
        raise ValueError(
            f'attention map: expected one token for each of the {grid[0]}x{grid[1]} patches, got {row.shape[1]} '
            '(is patch dropout on?)'
        )
    return row.reshape(-1, *grid)
