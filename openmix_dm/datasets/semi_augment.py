"""The strong augmentations of FixMatch and Self-Tuning: operations of Pillow, then a grey square."""

import random
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from openmix_dm.checks import one_of
from openmix_dm.datasets.pillow import RESAMPLING, from_pillow, to_pillow
from openmix_dm.registry import TRANSFORMS

LEVELS = 10  # m counts tenths of the range of each operation


class _RandAugment(ABC):
    """Apply operations drawn with replacement from OPERATIONS, then cut out a square."""

    needs_draws = True

    def __init__(self, n: int, m: int, interpolation: str) -> None:
        if not isinstance(n, int) or n < 1:
            raise ValueError(f'n must be a number of operations, 1 or more, got {n!r}')
        if not isinstance(m, int) or not 2 <= m <= LEVELS:
            raise ValueError(f'm must be 2 to {LEVELS} tenths of the range of each operation, got {m!r}')
        self.n, self.m, self.interpolation = n, m, one_of('interpolation', interpolation, RESAMPLING)

    def __call__(self, image: np.ndarray) -> np.ndarray:
        """Return the augmented image."""
        picture, resample = to_pillow(image), RESAMPLING[self.interpolation]
        for name in random.choices(list(OPERATIONS), k=self.n):
            level = self.draw_level()
            if level is not None:
                picture = OPERATIONS[name](picture, level, resample)
        return self.cut(from_pillow(picture))

    @abstractmethod
    def draw_level(self) -> float | None:
        """Draw how strong an operation is, in [0, 1]; None to leave it out."""

    @abstractmethod
    def cut(self, image: np.ndarray) -> np.ndarray:
        """Cut the square out."""


@TRANSFORMS.register_module()
class FixMatchRandAugment(_RandAugment):
    """Apply FixMatch's RandAugment as TorchSSL has it; stands before flip and crop.

    n operations, each at any level up to m (in tenths; 10, the whole range, is TorchSSL's), then a square of up to half
    the width.
    """

    def __init__(self, n: int = 3, m: int = 10, interpolation: str = 'nearest') -> None:
        super().__init__(n, m, interpolation)

    def draw_level(self) -> float:
        """Draw uniformly up to m."""
        return random.random() * self.m / LEVELS

    def cut(self, image: np.ndarray) -> np.ndarray:
        """Cut out a square of a random size."""
        return cut_square(image, random.uniform(0, 0.5) * image.shape[1], (125, 123, 114))


@TRANSFORMS.register_module()
class SelfTuningRandAugment(_RandAugment):
    """Apply Self-Tuning's RandAugment; stands after crop and flip.

    n operations, each with probability 1/2 at a whole level of 1 to m - 1 tenths, then a square of 16 pixels.
    """

    def __init__(self, n: int = 2, m: int = 10, interpolation: str = 'nearest') -> None:
        super().__init__(n, m, interpolation)

    def draw_level(self) -> float | None:
        """Draw one of the whole levels below m, or leave the operation out."""
        level = random.randint(1, self.m - 1)
        return level / LEVELS if random.random() < 0.5 else None

    def cut(self, image: np.ndarray) -> np.ndarray:
        """Cut out a square of 16 pixels."""
        return cut_square(image, 16, (127, 127, 127))


def cut_square(image: np.ndarray, side: float, colour: tuple[int, int, int]) -> np.ndarray:
    """Paint a square that is centred anywhere in the image, and clipped at its edges."""
    height, width = image.shape[:2]
    y, x = random.uniform(0, height), random.uniform(0, width)
    top, left = (max(0, round(centre - side / 2)) for centre in (y, x))
    bottom, right = max(0, round(y + side / 2)), max(0, round(x + side / 2))
    image = image.copy()
    image[top:bottom, left:right] = colour
    return image


def _either_sign(value: float) -> float:
    return -value if random.random() < 0.5 else value


def _enhance(kind: str) -> Callable[[Any, float, int], Any]:
    def enhance(image: Any, level: float, resample: int) -> Any:
        from PIL import ImageEnhance

        return getattr(ImageEnhance, kind)(image).enhance(0.9 * level + 0.05)

    return enhance


def _affine(make: Callable[[Any, float], tuple[float, ...]]) -> Callable[[Any, float, int], Any]:
    """Map each pixel from (a x + b y + c, d x + e y + f); what comes from outside is black."""

    def transform(image: Any, level: float, resample: int) -> Any:
        from PIL import Image

        return image.transform(image.size, Image.Transform.AFFINE, make(image, _either_sign(0.3 * level)), resample)

    return transform


def _point(name: str, argument: Callable[[float], tuple[int, ...]]) -> Callable[[Any, float, int], Any]:
    def change(image: Any, level: float, resample: int) -> Any:
        from PIL import ImageOps

        return getattr(ImageOps, name)(image, *argument(level))

    return change


# Each takes (image, level in [0, 1], resampling).
OPERATIONS: dict[str, Callable[[Any, float, int], Any]] = {
    'Identity': lambda image, level, resample: image,
    'AutoContrast': _point('autocontrast', lambda level: ()),
    'Equalize': _point('equalize', lambda level: ()),
    'Posterize': _point('posterize', lambda level: (int(4 * level) + 4,)),  # bits that are kept
    'Solarize': _point('solarize', lambda level: (256 - int(256 * level),)),  # from here on inverted
    'Brightness': _enhance('Brightness'),
    'Color': _enhance('Color'),
    'Contrast': _enhance('Contrast'),
    'Sharpness': _enhance('Sharpness'),
    'Rotate': lambda image, level, resample: image.rotate(_either_sign(30 * level), resample),
    'ShearX': _affine(lambda image, value: (1, value, 0, 0, 1, 0)),
    'ShearY': _affine(lambda image, value: (1, 0, 0, value, 1, 0)),
    'TranslateX': _affine(lambda image, value: (1, 0, value * image.size[0], 0, 1, 0)),
    'TranslateY': _affine(lambda image, value: (1, 0, 0, 0, 1, value * image.size[1])),
}
