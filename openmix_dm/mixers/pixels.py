"""The images as they were before normalisation, for mixers that look at what they show."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

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


def full_precision(device: torch.device) -> AbstractContextManager:
    """Leave autocast: what is shown of an image must not depend on the precision that it is trained in."""
    if torch.amp.is_autocast_available(device.type):
        return torch.autocast(device.type, enabled=False)
    return nullcontext()
