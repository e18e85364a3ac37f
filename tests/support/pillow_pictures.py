"""Small images of many kinds, for what has to give Pillow's pixels."""

import numpy as np
import torch
from PIL import Image

from openmix_dm.datasets import Digits
from openmix_dm.visualization.sample_images import sample_photographs

SIZES = [(32, 32), (8, 8), (64, 64), (20, 33)]


def pictures(height: int, width: int) -> np.ndarray:
    """Noise, digits, photographs, grey, few colours, one colour, two pixels that differ: uint8 (N, 3, H, W)."""
    draw = np.random.default_rng(0)
    noise = draw.integers(0, 256, (4, 3, height, width), dtype=np.uint8)
    narrow = draw.integers(90, 130, (2, 3, height, width), dtype=np.uint8)
    grey = np.repeat(noise[:2, :1], 3, axis=1)
    one_colour = np.empty((3, 3, height, width), dtype=np.uint8)
    one_colour[:] = np.array([[0, 0, 0], [255, 255, 255], [7, 130, 201]])[:, :, None, None]
    dot = np.full((1, 3, height, width), 77, dtype=np.uint8)
    dot[:, 1, height // 2, width // 3] = 78
    digits = Digits('test').images[:4].numpy().transpose(0, 2, 3, 1)
    real = np.stack([resized(image, height, width) for image in [*digits, *sample_photographs()]])
    return np.concatenate([noise, narrow, grey, noise[:2] // 64 * 64, one_colour, dot, real])


def resized(image: np.ndarray, height: int, width: int) -> np.ndarray:
    picture = Image.fromarray(np.ascontiguousarray(image)).resize((width, height), Image.Resampling.BICUBIC)
    return np.array(picture).transpose(2, 0, 1)


def by_pillow(change, images: np.ndarray, arguments: np.ndarray) -> np.ndarray:
    """Apply change(picture, argument) to one image after another."""
    changed = [
        np.array(change(Image.fromarray(image.transpose(1, 2, 0)), argument)).transpose(2, 0, 1)
        for image, argument in zip(images, arguments.tolist(), strict=True)
    ]
    return np.stack(changed)


def tensors(height: int = 32, width: int = 32) -> torch.Tensor:
    return torch.from_numpy(pictures(height, width))
