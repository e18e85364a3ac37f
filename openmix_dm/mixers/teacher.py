"""What mixers that look at images or maps share: pixels before normalisation, last maps, frozen teachers."""

from typing import Any

import torch
from torch import Tensor, nn

from openmix_dm.structures import Probe
from openmix_dm.utils.modules import evaluating, full_precision


def pixels_of(inputs: Tensor, probe: Probe | None) -> Tensor:
    """Return images in [0, 1] as float32 in new memory, by the model's own normalisation.

    Without a model to ask (a mixer used alone), each image is stretched to fill the range: its structure is the same.
    """
    images = inputs.detach().float()
    if probe is not None:
        pixels = probe.denormalise(images)
        return pixels.clone() if pixels is images else pixels
    low, high = images.amin(dim=(1, 2, 3), keepdim=True), images.amax(dim=(1, 2, 3), keepdim=True)
    return (images - low) / (high - low).clamp(min=1e-6)


def last_map(backbone: Any, wish: str, instead: str) -> tuple[str, int]:
    """Return the name and the channels of a network's last stage; refuse one that gives no map (N, C, h, w)."""
    *_, stage = backbone.stages
    device = next(backbone.parameters()).device
    with evaluating(backbone), torch.no_grad(), full_precision(device):
        output = backbone.features(torch.zeros(1, 3, *backbone.example_size, device=device), stage)
    if output.dim() != 4 or backbone.as_map(output, stage, backbone.example_size).shape != output.shape:
        raise ValueError(
            f'{wish} maps (N, C, h, w), but {stage!r} of {type(backbone).__name__} gives {tuple(output.shape)}; '
            f'take a convolutional network, or {instead}'
        )
    return stage, output.shape[1]


IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of pixels in [0, 1]


def leave_out_teacher(module: nn.Module, state: dict[str, Any], prefix: str, metadata: Any) -> None:
    """Save no copy of a mixer's `teacher`: it never changes and has a file of its own. A state dict hook."""
    for key in [key for key in state if key.startswith(f'{prefix}teacher.')]:
        del state[key]
