"""Pillow's images and ours."""

from typing import Any

import numpy as np

RESAMPLING = {'nearest': 0, 'bilinear': 2, 'bicubic': 3}  # Pillow's numbers; it takes a while to import


def to_pillow(image: np.ndarray) -> Any:
    """Return an RGB array as Pillow's image."""
    from PIL import Image

    return Image.fromarray(np.ascontiguousarray(image))


def from_pillow(image: Any) -> np.ndarray:
    """Return Pillow's image as an array that may be written to."""
    return np.array(image)
