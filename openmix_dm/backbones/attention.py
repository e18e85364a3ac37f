"""Where the tokens of a Vision Transformer look: read from the last block while it runs."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from torch import Tensor, nn

AttentionKind = Literal['class', 'received']


@dataclass
class CapturedAttention:
    """Collect one map per forward: (N, h, w) float32, detached, heads averaged, over the grid of patches.

    A map sums to less than 1: what is given to the class token and to other prefix tokens is left out.
    """

    maps: list[Tensor] = field(default_factory=list)

    @property
    def map(self) -> Tensor:
        """Return the map of the latest forward."""
        if not self.maps:
            raise ValueError('attention map: expected a forward pass inside the capturing context, got none')
        return self.maps[-1]


def capture_vit_attention(
    model: nn.Module, name: str, kind: AttentionKind = 'class'
) -> AbstractContextManager[CapturedAttention]:
    """Record the attention of a timm model that is called `name` in errors, which come before the context opens.

    'class' is what the class token gives to each patch; 'received' what all patches give to it, on average.
    """
    vit: Any = model  # timm's attributes are not those that nn.Module declares
    if getattr(vit, 'cls_token', None) is None or not _shows_attention(vit):
        raise ValueError(
            f'{name} has no class-token attention: expected a Vision Transformer with a class token, '
            'such as deit_small_patch16_224'
        )
    return _capture(vit, _class_row if kind == 'class' else _mean_row)


def _shows_attention(vit: Any) -> bool:
    """Tell whether the last block attends from class token to patches and can do so unfused."""
    if not getattr(vit, 'num_prefix_tokens', 0) or not hasattr(vit, 'blocks'):
        return False
    attention = getattr(vit.blocks[-1], 'attn', None)
    return hasattr(attention, 'fused_attn') and hasattr(attention, 'attn_drop')


@contextmanager
def _capture(vit: Any, reduce: Callable[[Tensor, int], Tensor]) -> Iterator[CapturedAttention]:
    captured = CapturedAttention()
    grids: list[tuple[int, int]] = []
    attention = vit.blocks[-1].attn

    def remember_grid(patch_embed: Any, args: tuple[Tensor, ...]) -> None:
        grids[:] = [patch_embed.dynamic_feat_size(args[0].shape[-2:])]

    def record(_: nn.Module, args: tuple[Tensor, ...]) -> None:
        captured.maps.append(_on_grid(reduce(args[0].detach(), vit.num_prefix_tokens), grids[0]))

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


def _class_row(weights: Tensor, prefix: int) -> Tensor:
    """Cut the class token's row out of (N, heads, T, T)."""
    return weights[:, :, 0, prefix:].float().mean(1)


def _mean_row(weights: Tensor, prefix: int) -> Tensor:
    """Average the rows of all patches of (N, heads, T, T)."""
    return weights[:, :, prefix:, prefix:].float().mean((1, 2))


def _on_grid(row: Tensor, grid: tuple[int, int]) -> Tensor:
    """Lay one number for each patch on the grid."""
    if row.shape[1] != grid[0] * grid[1]:
        raise ValueError(
            f'attention map: expected one token for each of the {grid[0]}x{grid[1]} patches, got {row.shape[1]} '
            '(is patch dropout on?)'
        )
    return row.reshape(-1, *grid)
