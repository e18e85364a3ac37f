"""Crops of one RGB image, a uint8 array (H, W, 3), that do not resize."""

import random

import numpy as np

from openmix_dm.checks import one_of
from openmix_dm.datasets.transforms import check_size
from openmix_dm.registry import TRANSFORMS

BORDERS = {'reflect': 'reflect', 'constant': 'constant', 'replicate': 'edge'}  # ours to numpy's


@TRANSFORMS.register_module()
class CenterCrop:
    """Cut out a central square; a smaller image is padded with black."""

    needs_draws = False

    def __init__(self, size: int) -> None:
        self.size = check_size(size)

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


@TRANSFORMS.register_module()
class RandomCrop:
    """Pad each edge (by reflection, with black, or with the edge itself) and cut out a square at a random place."""

    needs_draws = True

    def __init__(self, size: int, padding: int = 0, mode: str = 'reflect') -> None:
        if not isinstance(padding, int) or padding < 0:
            raise ValueError(f'padding must be 0 or more pixels, got {padding!r}')
        self.size, self.padding, self.mode = check_size(size), padding, one_of('mode', mode, BORDERS)

    def __call__(self, image: np.ndarray) -> np.ndarray:
        """Return the square."""
        if self.padding:
            edges = ((self.padding, self.padding), (self.padding, self.padding), (0, 0))
            image = np.pad(image, edges, mode=BORDERS[self.mode])  # type: ignore[call-overload]
        check_fits(image, self.size)
        top, left = (random.randint(0, length - self.size) for length in image.shape[:2])
        return image[top : top + self.size, left : left + self.size]


@TRANSFORMS.register_module()
class TenCrop:
    """Cut out four corners and the centre, and mirror the five: (10, size, size, 3), in the order of torchvision.

    The last transform of a test set; the model averages the logits of an image's crops.
    """

    needs_draws = False

    def __init__(self, size: int) -> None:
        self.size = check_size(size)

    def __call__(self, image: np.ndarray) -> np.ndarray:
        """Return ten squares."""
        check_fits(image, self.size)
        bottom, right = (length - self.size for length in image.shape[:2])
        corners = [(0, 0), (0, right), (bottom, 0), (bottom, right), (round(bottom / 2), round(right / 2))]
        both = (image, image[:, ::-1])
        return np.stack([side[y : y + self.size, x : x + self.size] for side in both for y, x in corners])


def check_fits(image: np.ndarray, size: int) -> None:
    """Refuse to cut out more than there is."""
    if min(image.shape[:2]) < size:
        raise ValueError(
            f'a square of {size} pixels cannot be cut out of {image.shape[0]} x {image.shape[1]} pixels; '
            'put a Resize or ResizeShortEdge before it'
        )
