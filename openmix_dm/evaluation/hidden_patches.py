"""Hide random patches of images (https://arxiv.org/abs/2105.10497): accuracy against the share that is hidden.

Where we differ from the released code: each image has its own patches instead of one choice for a whole batch.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from openmix_dm.utils.checks import in_range
from openmix_dm.utils.keys import key

PATCH = 16
SMALL = 112  # images below this have 8 x 8 patches instead of patches of 16 pixels


def usual_patch(height: int, width: int) -> int:
    """Return the side of a patch: 16 pixels as in the paper (14 x 14 patches of 224), an eighth of a small image."""
    short = min(height, width)
    return PATCH if short >= SMALL else max(1, short // 8)


def patch_grid(height: int, width: int, patch: int) -> tuple[int, int]:
    """Return how many patches there are down and across; those at the far borders may be cut off."""
    if not 1 <= patch <= min(height, width):
        raise ValueError(f'patch must be from 1 to the {min(height, width)} pixels of the images, got {patch}')
    return -(-height // patch), -(-width // patch)


def hiding_order(images: Sequence[int], patches: int, seed: int = 0) -> Tensor:
    """Return for each image the rank of each patch, (N, patches): which is hidden first, second, ...

    A function of seed and image alone: all models and all batch sizes see the same patches, and what is hidden at one
    ratio stays hidden at every higher one.
    """
    generator = torch.Generator()
    rows = [torch.randperm(patches, generator=generator.manual_seed(key(seed, image))) for image in images]
    return torch.stack(rows)


def hidden_mask(order: Tensor, ratio: float, height: int, width: int, patch: int) -> Tensor:
    """Return (N, 1, H, W), True in the `round(ratio * patches)` patches of each image that come first in its order."""
    in_range('ratio', ratio, 0, 1)
    rows, columns = patch_grid(height, width, patch)
    if order.shape[1] != rows * columns:
        raise ValueError(f'order must rank {rows} x {columns} patches, got {order.shape[1]}')
    hidden = order < round(ratio * order.shape[1])
    grid = hidden.view(-1, 1, rows, columns)
    full = grid.repeat_interleave(patch, dim=2).repeat_interleave(patch, dim=3)
    return full[:, :, :height, :width]


def occlude(inputs: Tensor, mask: Tensor, fill: float | Tensor = 0.0) -> Tensor:
    """Return inputs with `fill` where the mask is True; 0 in normalised inputs is the mean colour."""
    return torch.where(mask.to(inputs.device), torch.as_tensor(fill, dtype=inputs.dtype, device=inputs.device), inputs)
