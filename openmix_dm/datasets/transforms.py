"""Transforms of one RGB image, a uint8 array (H, W, 3). Random ones draw from `random`, seeded by the data set."""

import math
import random

import numpy as np

from openmix_dm.registry import TRANSFORMS

INTERPOLATIONS = ('bilinear', 'bicubic', 'area', 'nearest')


@TRANSFORMS.register_module()
class RandomResizedCrop:
    """Cut out a window of random area and aspect and resize it (https://arxiv.org/abs/1409.4842).

    scale: range of the window's share of the image; ratio: range of width to height, drawn on a log scale.
    """

    def __init__(
        self,
        size: int,
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3 / 4, 4 / 3),
        interpolation: str = 'bilinear',
    ) -> None:
        self.size, self.scale, self.ratio = size, scale, ratio
        self.interpolation = interpolation_flag(interpolation)

    def __call__(self, image: np.ndarray) -> np.ndarray:
        """Return the resized window."""
        top, left, height, width = self.draw_window(*image.shape[:2])
        return resize(image[top : top + height, left : left + width], (self.size, self.size), self.interpolation)

    def draw_window(self, height: int, width: int) -> tuple[int, int, int, int]:
        """Draw a window that fits, in at most ten tries; else take the largest central one of an allowed aspect."""
        for _ in range(10):
            area = height * width * random.uniform(*self.scale)
            aspect = math.exp(random.uniform(math.log(self.ratio[0]), math.log(self.ratio[1])))
            w, h = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if 0 < w <= width and 0 < h <= height:
                return random.randint(0, height - h), random.randint(0, width - w), h, w
        w = min(width, round(height * self.ratio[1]))
        h = min(height, round(width / self.ratio[0]))
        return (height - h) // 2, (width - w) // 2, h, w


@TRANSFORMS.register_module()
class RandomFlip:
    """Mirror the image left to right with a probability."""

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = prob

    def __call__(self, image: np.ndarray) -> np.ndarray:
        """Return the image or its mirror image."""
        return image[:, ::-1] if random.random() < self.prob else image


@TRANSFORMS.register_module()
class ResizeShortEdge:
    """Resize so that the shorter edge has a length, keeping the aspect."""

    def __init__(self, size: int, interpolation: str = 'bilinear') -> None:
        self.size, self.interpolation = size, interpolation_flag(interpolation)

    def __call__(self, image: np.ndarray) -> np.ndarray:
        """Return the resized image."""
        height, width = image.shape[:2]
        scale = self.size / min(height, width)
        # int(), not round(): as torchvision does, so that test images have its sizes
        new = (max(self.size, int(width * scale)), max(self.size, int(height * scale)))
        return resize(image, new, self.interpolation)


@TRANSFORMS.register_module()
class CenterCrop:
    """Cut out a central square; a smaller image is padded with black."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __call__(self, image: np.ndarray) -> np.ndarray:
        """Return the square."""
        height, width = image.shape[:2]
        short_y, short_x = max(self.size - height, 0), max(self.size - width, 0)
        if short_y or short_x:
            before = (short_y // 2, short_x // 2)
            image = np.pad(image, ((before[0], short_y - before[0]), (before[1], short_x - before[1]), (0, 0)))
            height, width = image.shape[:2]
        top, left = round((height - self.size) / 2), round((width - self.size) / 2)
        return image[top : top + self.size, left : left + self.size]


def interpolation_flag(name: str) -> int:
    """Return OpenCV's number for an interpolation."""
    import cv2  # only where images are decoded: the import takes a while

    flags = {
        'bilinear': cv2.INTER_LINEAR,
        'bicubic': cv2.INTER_CUBIC,
        'area': cv2.INTER_AREA,
        'nearest': cv2.INTER_NEAREST,
    }
    if name not in flags:
        raise ValueError(f'interpolation must be one of {sorted(flags)}, got {name!r}')
    return flags[name]


def resize(image: np.ndarray, size: tuple[int, int], interpolation: int) -> np.ndarray:
    """Resize an image to (width, height)."""
    import cv2

    return cv2.resize(image, size, interpolation=interpolation)
