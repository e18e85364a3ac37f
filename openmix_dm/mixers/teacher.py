"""What mixers with a frozen network of their own share."""

from typing import Any

from torch import nn

IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of pixels in [0, 1]


def leave_out_teacher(module: nn.Module, state: dict[str, Any], prefix: str, metadata: Any) -> None:
    """Save no copy of a mixer's `teacher`: it never changes and has a file of its own. A state dict hook."""
    for key in [key for key in state if key.startswith(f'{prefix}teacher.')]:
        del state[key]
