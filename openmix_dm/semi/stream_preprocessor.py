"""A preprocessor for batches of streams out of one for images."""

from typing import Any

import torch
from mmengine.model import BaseDataPreprocessor
from torch import Tensor


class StreamPreprocessor(BaseDataPreprocessor):
    """Prepare each view of each stream as the images of a plain batch are."""

    def __init__(self, images: Any) -> None:
        # labels, indices and bytes cross as the images of a plain batch do: without a wait, unless these say otherwise
        super().__init__(non_blocking=getattr(images, '_non_blocking', True))
        self.images = images

    def forward(self, data: dict[str, Any], training: bool = False) -> dict[str, Any]:
        """Return the batch on the device with normalised images; a plain batch as the images' preprocessor does it."""
        if 'labelled' not in data:
            return self.images(data, training)
        moved: dict[str, Any] = self.cast_data(data)  # type: ignore[assignment]
        for name in ('labelled', 'unlabelled'):
            if name in moved:
                views = tuple(self._prepare(view, training) for view in moved[name]['inputs'])
                moved[name] = {**moved[name], 'inputs': views}
        return moved

    def denormalise(self, inputs: Tensor) -> Tensor:
        """Return images in [0, 1], as they were before normalisation."""
        return self.images.denormalise(inputs)

    @property
    def memory_format(self) -> torch.memory_format:
        """The layout of the images."""
        return self.images.memory_format

    @memory_format.setter
    def memory_format(self, layout: torch.memory_format) -> None:
        self.images.memory_format = layout

    def _prepare(self, view: Tensor, training: bool) -> Tensor:
        return self.images({'inputs': view}, training)['inputs']
