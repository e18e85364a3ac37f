"""What mixers that look at images share: pixels before normalisation, and frozen teachers of their own."""

from typing import Any

from torch import Tensor, nn

from openmix_dm.structures import Probe


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


IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of pixels in [0, 1]


def leave_out_teacher(module: nn.Module, state: dict[str, Any], prefix: str, metadata: Any) -> None:
    """Save no copy of a mixer's `teacher`: it never changes and has a file of its own. A state dict hook."""
    for key in [key for key in state if key.startswith(f'{prefix}teacher.')]:
        del state[key]
