"""Mixed samples as small pictures inside the page."""

import base64
import io
from typing import Any

import numpy as np
import torch
from torch import Tensor

from openmix_dm.config.check_built import refusing
from openmix_dm.errors import Failure
from openmix_dm.mixers import Mixer
from openmix_dm.registry import DATASETS, LOSSES, MIXERS
from openmix_dm.structures import MixedBatch
from openmix_dm.visualization import mix_panels as browse
from openmix_dm.visualization.lone_mixers import PixelProbe

COUNT, LARGEST = 6, 96  # pictures of a config, and the longest side of one in pixels


class Album:
    """Show what the mixers of several configs make of the same images; data sets are opened once."""

    def __init__(self) -> None:
        self._images: dict[str, tuple[Tensor, Tensor, list[str] | None] | str] = {}

    def pictures(self, model: Any, dataset: Any) -> list[tuple[str, str]] | str:
        """Return pictures as (data URI, caption), or why there are none.

        Args:
            model: what a config says of the model: its mixer and its loss.
            dataset: what a config says of the data set that images are taken from.
        """
        found = self.images(dataset)
        if isinstance(found, str):
            return found
        images, labels, names = found
        try:
            torch.manual_seed(0)
            mixer = MIXERS.build(model['mixer'])
            mixer.init_weights()
            with torch.no_grad():
                batch = halves(mixer, images, labels)
            panels = browse.panels(images, batch, LOSSES.build(model['head']['loss']), names)
        except Exception as error:  # a mixer may need a trained network: the page is worth having without its pictures
            return f'no pictures: {type(error).__name__}: {error}'
        return [(data_uri(panel.mixed), shortened(panel.caption)) for panel in panels]

    def images(self, dataset: Any) -> tuple[Tensor, Tensor, list[str] | None] | str:
        """Return a few test images in [0, 1] with labels and names of classes, or why there are none."""
        if dataset is None:
            return 'no pictures: the config has no val_dataloader'
        if str(dataset) not in self._images:
            try:
                with refusing('val_dataloader.dataset'):
                    self._images[str(dataset)] = first_images(DATASETS.build(dataset))
            except Failure as failure:
                self._images[str(dataset)] = f'no pictures: {failure}'
        return self._images[str(dataset)]


def halves(mixer: Mixer, images: Tensor, labels: Tensor) -> MixedBatch:
    """Mix half and half, as far as the mixer does what it is asked for."""
    try:
        return mixer(images, labels, PixelProbe(), 0.5)
    except ValueError:  # it shows images whole
        return mixer(images, labels, PixelProbe())


def shortened(caption: str) -> str:
    """Leave out of a caption what has no part in the sample."""
    return '\n'.join(line for line in caption.splitlines() if not line.startswith('0.00 '))


def first_images(dataset: Any) -> tuple[Tensor, Tensor, list[str] | None]:
    """Return images spread over a data set."""
    samples = [dataset[(2 * place + 1) * len(dataset) // (2 * COUNT)] for place in range(COUNT)]
    images = torch.stack([sample['inputs'] for sample in samples]).float() / 255
    return images, torch.stack([sample['labels'] for sample in samples]), getattr(dataset, 'classes', None)


def data_uri(picture: np.ndarray) -> str:
    """Return (H, W, 3) in [0, 1] as a small PNG inside a data URI."""
    from PIL import Image

    image = Image.fromarray((picture * 255).round().astype(np.uint8))
    image.thumbnail((LARGEST, LARGEST))
    file = io.BytesIO()
    image.save(file, format='PNG', optimize=True)
    return f'data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}'
