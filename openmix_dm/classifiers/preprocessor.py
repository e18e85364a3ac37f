"""From bytes on the host to normalised floats on the device, a batch at a time."""

from collections.abc import Sequence
from typing import Any

import torch
from mmengine.model import BaseDataPreprocessor
from torch import Tensor

from openmix_dm.classifiers.erasing import RandomErasing
from openmix_dm.registry import MODELS, Built


@MODELS.register_module()
class Normalise(BaseDataPreprocessor):
    """Move a batch to the device and normalise it there: (x - mean) / std, in units of 0..255.

    Bytes cross to the device, a quarter of the floats' traffic. No mixing here: that has a home of its own.

    Args:
        mean: what is subtracted from each channel, in units of 0..255.
        std: what each channel is divided by, in units of 0..255.
        non_blocking: do not wait for the copy to the device, which is possible from pinned memory. Default: True.
        erasing: arguments of `RandomErasing`, which is the last step in training; None for none. Default: None.

    Example:
        data_preprocessor = dict(type='Normalise', mean=[125.3, 123.0, 113.9], std=[63.0, 62.1, 66.7])
    """

    mean: Tensor
    std: Tensor
    memory_format = torch.preserve_format  # the runner sets the one of the model
    builds = {'erasing': Built(RandomErasing)}

    def __init__(
        self,
        mean: Sequence[float],
        std: Sequence[float],
        non_blocking: bool = True,
        erasing: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(non_blocking=non_blocking)
        self.erasing = RandomErasing(**erasing) if erasing is not None else None
        if len(mean) != len(std) or not all(value > 0 for value in std):
            raise ValueError(f'std must be positive and as long as mean, got mean {list(mean)} and std {list(std)}')
        self.register_buffer('mean', torch.tensor(mean, dtype=torch.float32).view(-1, 1, 1), persistent=False)
        self.register_buffer('std', torch.tensor(std, dtype=torch.float32).view(-1, 1, 1), persistent=False)

    def forward(self, data: dict[str, Any], training: bool = False) -> dict[str, Any]:
        """Return the batch with normalised inputs."""
        data = self.cast_data(data)  # type: ignore[assignment]
        pixels = data['inputs']
        # (N, crops, 3, H, W) is laid out by the model, which makes a batch of it
        layout = self.memory_format if pixels.dim() == 4 else torch.preserve_format
        pixels = pixels.to(torch.float32, memory_format=layout)
        inputs = (pixels - self.mean) / self.std
        if training and self.erasing is not None:
            inputs = self.erasing(inputs)
        return {**data, 'inputs': inputs}

    def denormalise(self, inputs: Tensor) -> Tensor:
        """Return images in [0, 1], as they were before normalisation."""
        return (inputs * self.std + self.mean) / 255
