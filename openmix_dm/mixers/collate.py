"""Mixing in anybody's data loader: in the processes that read the images, while the model trains."""

from collections.abc import Callable, Sequence
from typing import Any

from torch.utils.data import default_collate

from openmix_dm.mixers.base import Mixer
from openmix_dm.structures import MixedBatch


class MixCollate:
    """Make a mixed batch of samples: `DataLoader(data, batch_size=64, collate_fn=MixCollate(CutMix(1.0)))`.

    A sample is (image, label) with a float image (C, H, W), normalised, and a class number. The batches are
    `MixedBatch`es: `loss = criterion(model(batch.inputs), batch.target)` after `batch = batch.to(device)`; the loader
    pins them with pin_memory=True. With several workers each draws for itself, from the seed that torch gives it.

    For mixers that need neither a network nor the batch before: one that asks the model, or mixes inside of it, is
    refused. A CPU mixes here; a GPU is mostly faster at it, so that `mixer(images, labels)` in the training step, after
    the images have been moved there, is what the runner of this package does.

    Args:
        mixer: the mixer, such as Mixup(alpha=0.2).
        collate: makes (images, labels) of a list of samples. Default: torch's default_collate.

    Example:
        loader = DataLoader(data, batch_size=64, shuffle=True, collate_fn=MixCollate(Mixup(alpha=0.2)))
    """

    def __init__(self, mixer: Mixer, collate: Callable[[Any], Any] = default_collate) -> None:
        if mixer.needs_model:
            raise ValueError(_refusal(mixer, 'it needs parts of the model that it mixes for'))
        self.mixer, self.collate = mixer, collate

    def __call__(self, samples: Sequence[Any]) -> MixedBatch:
        """Return the samples, mixed."""
        images, labels = self.collate(samples)
        batch = self.mixer(images, labels)
        if batch.left_to_do:
            raise ValueError(_refusal(self.mixer, batch.left_to_do))
        return batch


def _refusal(mixer: Mixer, reason: str) -> str:
    return (
        f'{type(mixer).__name__} cannot mix in a data loader: {reason}; call the mixer in the training step, with a '
        'probe of the model'
    )
