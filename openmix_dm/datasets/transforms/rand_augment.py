"""RandAugment in the versions of timm, of FixMatch and of Self-Tuning, on images of Pillow."""

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from openmix_dm.datasets.transforms.augment_levels import ENHANCEMENTS, FIXMATCH
from openmix_dm.datasets.transforms.batch_affine import MATRICES
from openmix_dm.datasets.transforms.timm_policy import check_policy
from openmix_dm.registry import TRANSFORMS
from openmix_dm.utils.checks import one_of

RESAMPLING = {'nearest': 0, 'bilinear': 2, 'bicubic': 3}  # Pillow's numbers; it takes a while to import


def to_pillow(image: np.ndarray) -> Any:
    """Return an RGB array as Pillow's image."""
    from PIL import Image

    return Image.fromarray(np.ascontiguousarray(image))


def from_pillow(image: Any) -> np.ndarray:
    """Return Pillow's image as an array that may be written to."""
    return np.array(image)


INTERPOLATIONS = (*RESAMPLING, 'random')
IMAGENET_MEAN = (124, 116, 104)


@TRANSFORMS.register_module()
class RandAugment:
    """Apply RandAugment (https://arxiv.org/abs/1909.13719), timm's version.

    Args:
        policy: 'rand' and sections joined by '-': `m<magnitude of 10>`, `n<operations>` (2), `p<probability of each>`
            (0.5), `mstd<deviation of the magnitude>`, `mmax<its bound>`, `inc1` (all operations get stronger with the
            magnitude), `t<weights|3a|3aw>` (another set of operations). Default: 'rand-m9-mstd0.5-inc1'.
        interpolation: of rotations, shears and shifts: 'nearest', 'bilinear', 'bicubic', or 'random', which draws
            bilinear or bicubic. Default: 'bicubic'.
        fill: colour (red, green, blue) that they uncover, ImageNet's mean. Default: (124, 116, 104).

    Example:
        transforms = [dict(type='RandAugment', policy='rand-m9-mstd0.5-inc1')]
    """

    needs_draws = True

    def __init__(
        self,
        policy: str = 'rand-m9-mstd0.5-inc1',
        interpolation: str = 'bicubic',
        fill: Sequence[int] = IMAGENET_MEAN,
    ) -> None:
        self.policy, self.interpolation = check_policy(policy), one_of('interpolation', interpolation, INTERPOLATIONS)
        self.fill = check_fill(fill)
        self._augment = self._build()

    def __call__(self, image: np.ndarray) -> np.ndarray:
        """Return the augmented image."""
        return from_pillow(self._augment(to_pillow(image)))

    def _build(self) -> Any:
        from timm.data.auto_augment import rand_augment_transform  # takes a while to import

        from openmix_dm.compat import posterize

        settings: dict[str, Any] = {'img_mean': self.fill}
        if self.interpolation != 'random':
            settings['interpolation'] = RESAMPLING[self.interpolation]
        augment = rand_augment_transform(self.policy, settings)
        for operation in augment.ops:
            if operation.name.startswith('Posterize'):
                operation.aug_fn = posterize
        return augment


def check_fill(fill: Sequence[int]) -> tuple[int, ...]:
    """Return a colour of three bytes."""
    if len(fill) != 3 or not all(0 <= value <= 255 for value in fill):
        raise ValueError(f'fill must be three numbers of 0 to 255, got {list(fill)}')
    return tuple(fill)


LEVELS = 10  # m counts tenths of the range of each operation


def check_levels(n: int, m: int) -> tuple[int, int]:
    """Return the number of operations and their highest level."""
    if not isinstance(n, int) or n < 1:
        raise ValueError(f'n must be a number of operations, 1 or more, got {n!r}')
    if not isinstance(m, int) or not 2 <= m <= LEVELS:
        raise ValueError(f'm must be 2 to {LEVELS} tenths of the range of each operation, got {m!r}')
    return n, m


class _RandAugment(ABC):
    """Apply operations drawn with replacement from OPERATIONS, then cover a square."""

    needs_draws = True

    def __init__(self, n: int, m: int, interpolation: str) -> None:
        self.n, self.m = check_levels(n, m)
        self.interpolation = one_of('interpolation', interpolation, RESAMPLING)

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


CUT_COLOUR, CUT_SHARE = (125, 123, 114), 0.5  # FixMatch's square, and its largest side as a share of the width


@TRANSFORMS.register_module()
class FixMatchRandAugment(_RandAugment):
    """Apply the RandAugment of FixMatch (https://arxiv.org/abs/2001.07685) as TorchSSL has it.

    It stands before flip and crop. The operations are drawn with replacement, each at any level up to m, then a grey
    square of up to half the width covers a part of the image.

    Args:
        n: number of operations. Default: 3.
        m: highest level in tenths of the range of each operation, 2 to 10; 10, the whole range, is TorchSSL's.
            Default: 10.
        interpolation: of rotations, shears and shifts: 'nearest', 'bilinear' or 'bicubic'. Default: 'nearest'.

    Example:
        transforms = [dict(type='FixMatchRandAugment', n=3, m=10)]
    """

    def __init__(self, n: int = 3, m: int = 10, interpolation: str = 'nearest') -> None:
        super().__init__(n, m, interpolation)

    def draw_level(self) -> float:
        """Draw uniformly up to m."""
        return random.random() * self.m / LEVELS

    def cut(self, image: np.ndarray) -> np.ndarray:
        """Cut out a square of a random size."""
        return cut_square(image, random.uniform(0, CUT_SHARE) * image.shape[1], CUT_COLOUR)


@TRANSFORMS.register_module()
class SelfTuningRandAugment(_RandAugment):
    """Apply the RandAugment of Self-Tuning (https://arxiv.org/abs/2102.12903).

    It stands after crop and flip. The operations are drawn with replacement, each applied with probability 1/2 at a
    whole level of 1 to m - 1 tenths, then a grey square of 16 pixels covers a part of the image.

    Args:
        n: number of operations. Default: 2.
        m: bound of the level in tenths of the range of each operation, 2 to 10; levels are below it. Default: 10.
        interpolation: of rotations, shears and shifts: 'nearest', 'bilinear' or 'bicubic'. Default: 'nearest'.

    Example:
        transforms = [dict(type='SelfTuningRandAugment', n=2, m=10)]
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


def _point(name: str) -> Callable[[Any, float, int], Any]:
    def change(image: Any, level: float, resample: int) -> Any:
        from PIL import ImageOps

        return getattr(ImageOps, name.lower())(image, *([int(FIXMATCH[name](level, 1))] if name in COUNTED else []))

    return change


def _enhance(name: str) -> Callable[[Any, float, int], Any]:
    def enhance(image: Any, level: float, resample: int) -> Any:
        from PIL import ImageEnhance

        return getattr(ImageEnhance, name)(image).enhance(FIXMATCH[name](level, 1))

    return enhance


def _move(name: str) -> Callable[[Any, float, int], Any]:
    """Move either way; what comes from outside is black."""

    def move(image: Any, level: float, resample: int) -> Any:
        from PIL import Image

        value = FIXMATCH[name](level, -1 if random.random() < 0.5 else 1)
        (matrix,) = MATRICES[name](np.array([value]), image.height, image.width).tolist()
        return image.transform(image.size, Image.Transform.AFFINE, matrix, resample)

    return move


COUNTED = ('Posterize', 'Solarize')  # the others have no argument
# Each takes (image, level in [0, 1], resampling).
OPERATIONS: dict[str, Callable[[Any, float, int], Any]] = {
    'Identity': lambda image, level, resample: image,
    **{name: _point(name) for name in ('AutoContrast', 'Equalize', *COUNTED)},
    **{name: _enhance(name) for name in ENHANCEMENTS},
    **{name: _move(name) for name in MATRICES},
}
