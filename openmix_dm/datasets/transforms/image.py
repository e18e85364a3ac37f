"""Transforms of one RGB image, a uint8 array (H, W, 3).

Random ones draw from `random` and numpy, seeded by the data set with the key of the sample; they say so by
`needs_draws`.
"""

import math
import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from openmix_dm.registry import TRANSFORMS
from openmix_dm.utils.checks import in_range, one_of, positive_range

INTERPOLATIONS = ('bilinear', 'bicubic', 'nearest')


@TRANSFORMS.register_module()
class RandomResizedCrop:
    """Cut out a window of random area and aspect and resize it (GoogLeNet, https://arxiv.org/abs/1409.4842).

    A window that does not fit is drawn again, ten times at most; then the largest central one of an allowed aspect is
    taken.

    Args:
        size: side, in pixels, of the square that it is resized to.
        scale: range of the share of the image's area that the window has. Default: (0.08, 1.0).
        ratio: range of width to height, drawn on a log scale. Default: (0.75, 1.3333333333333333).
        interpolation: 'bilinear', 'bicubic', or 'nearest', which does not smooth. Default: 'bilinear'.

    Example:
        transforms = [dict(type='RandomResizedCrop', size=224, scale=(0.08, 1.0))]
    """

    needs_draws = True

    def __init__(
        self,
        size: int,
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3 / 4, 4 / 3),
        interpolation: str = 'bilinear',
    ) -> None:
        self.size = check_size(size)
        self.scale, self.ratio = positive_range('scale', scale), positive_range('ratio', ratio)
        self.interpolation = check_interpolation(interpolation)

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
    """Mirror the image left to right with a probability.

    Args:
        prob: probability of the image to be mirrored. Default: 0.5.

    Example:
        transforms = [dict(type='RandomFlip', prob=0.5)]
    """

    needs_draws = True

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = in_range('prob', prob, 0, 1)

    def __call__(self, image: np.ndarray) -> np.ndarray:
        """Return the image or its mirror image."""
        import cv2

        return cv2.flip(image, 1) if random.random() < self.prob else image


@TRANSFORMS.register_module()
class Resize:
    """Resize the image to a square, whatever the aspect was.

    Args:
        size: side of the square in pixels.
        interpolation: 'bilinear', 'bicubic', or 'nearest', which does not smooth. Default: 'bilinear'.

    Example:
        transforms = [dict(type='Resize', size=224)]
    """

    needs_draws = False

    def __init__(self, size: int, interpolation: str = 'bilinear') -> None:
        self.size, self.interpolation = check_size(size), check_interpolation(interpolation)

    def __call__(self, image: np.ndarray) -> np.ndarray:
        """Return the resized image."""
        return resize(image, (self.size, self.size), self.interpolation)


@TRANSFORMS.register_module()
class ResizeShortEdge:
    """Resize the image so that its shorter edge has a length, keeping the aspect.

    The longer edge is rounded down, as torchvision does, so that test images have its sizes.

    Args:
        size: length of the shorter edge in pixels.
        interpolation: 'bilinear', 'bicubic', or 'nearest', which does not smooth. Default: 'bilinear'.

    Example:
        transforms = [dict(type='ResizeShortEdge', size=256), dict(type='CenterCrop', size=224)]
    """

    needs_draws = False

    def __init__(self, size: int, interpolation: str = 'bilinear') -> None:
        self.size, self.interpolation = check_size(size), check_interpolation(interpolation)

    def __call__(self, image: np.ndarray) -> np.ndarray:
        """Return the resized image."""
        height, width = image.shape[:2]
        scale = self.size / min(height, width)
        # int(), not round(): as torchvision does, so that test images have its sizes
        new = (max(self.size, int(width * scale)), max(self.size, int(height * scale)))
        return resize(image, new, self.interpolation)


def check_size(size: int) -> int:
    """Return a number of pixels if it is one."""
    if not isinstance(size, int) or size < 1:
        raise ValueError(f'size must be a number of pixels, 1 or more, got {size!r}')
    return size


def check_interpolation(name: str) -> str:
    """Return the name of an interpolation if it is one of ours."""
    return one_of('interpolation', name, INTERPOLATIONS)


def resize(image: np.ndarray, size: tuple[int, int], interpolation: str) -> np.ndarray:
    """Resize an image to (width, height), smoothing where it gets smaller, as Pillow does.

    Results are within one level of Pillow's, columns first. Pillow 13 takes the rows of some windows first, which moves
    single pixels beside sharp edges by up to ten levels where bicubic interpolation overshoots.
    """
    if interpolation == 'nearest':
        rows, columns = (nearest(old, new) for old, new in zip(image.shape, size[::-1], strict=False))
        return image[rows[:, None], columns]
    if min(image.strides) < 0 or not image.flags.writeable:  # a mirrored view, or Pillow's pixels: torch takes neither
        image = image.copy()
    # This order of the dimensions has the fastest kernel, four times as fast as Pillow's.
    pixels = torch.from_numpy(image)[None].permute(0, 3, 1, 2)
    resized = F.interpolate(pixels, size[::-1], mode=interpolation, antialias=True)
    return resized[0].permute(1, 2, 0).numpy()


def nearest(old: int, new: int) -> np.ndarray:
    """Return the place that each place of a resized edge comes from; the sums are Pillow's, to the last bit."""
    steps = np.full(new, old / new)
    steps[0] /= 2
    return steps.cumsum().astype(np.int64).clip(max=old - 1)


def to_tensor(image: np.ndarray) -> Tensor:
    """Return an image (H, W, 3), or crops of one (crops, H, W, 3), as a tensor with channels before height."""
    import cv2

    if image.ndim != 3:
        return torch.from_numpy(np.ascontiguousarray(np.moveaxis(image, -1, -3)))
    planes = np.empty((3, *image.shape[:2]), dtype=np.uint8)
    cv2.split(image, mv=[planes[0], planes[1], planes[2]])  # several times as fast as a transposition
    return torch.from_numpy(planes)


BORDERS = {'reflect': 'reflect', 'constant': 'constant', 'replicate': 'edge'}  # ours to numpy's


@TRANSFORMS.register_module()
class CenterCrop:
    """Cut out a central square; a smaller image is padded with black.

    Args:
        size: side of the square in pixels.

    Example:
        transforms = [dict(type='CenterCrop', size=224)]
    """

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
    """Pad each edge of the image and cut out a square at a random place.

    Args:
        size: side of the square in pixels; the padded image must not be smaller.
        padding: pixels added to each edge. Default: 0.
        mode: what is added: 'reflect' (the image mirrored, its edge not repeated), 'constant' (black) or 'replicate'
            (the edge). Default: 'reflect'.

    Example:
        transforms = [dict(type='RandomCrop', size=32, padding=4)]
    """

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

    It is the last transform of a test set; the model averages the logits of an image's crops.

    Args:
        size: side of each square in pixels; the image must not be smaller.

    Example:
        transforms = [dict(type='Resize', size=256), dict(type='TenCrop', size=224)]
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
