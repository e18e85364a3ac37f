"""RandAugment of FixMatch and of timm on whole batches of small images, each image with operations of its own.

The pixels are Pillow's, as those of `FixMatchRandAugment` and `RandAugment`. A round makes few calls, and is therefore
fast: one look-up for all images whose operation is a table, whichever it is, one gather for all that are moved.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from openmix_dm.datasets.transforms.augment_levels import (
    FIXMATCH,
    FIXMATCH_EITHER_WAY,
    TIMM,
    TIMM_INCREASING,
    Argument,
)
from openmix_dm.datasets.transforms.batch_affine import MATRICES, move, paint
from openmix_dm.datasets.transforms.batch_colours import BLENDS, TABLES, look_up
from openmix_dm.datasets.transforms.rand_augment import (
    CUT_COLOUR,
    CUT_SHARE,
    IMAGENET_MEAN,
    LEVELS,
    RESAMPLING,
    check_fill,
    check_levels,
)
from openmix_dm.datasets.transforms.timm_policy import read_policy
from openmix_dm.registry import TRANSFORMS
from openmix_dm.utils.checks import one_of

LEFT_OUT = -1  # in the place of an operation
UNIFORM = 100  # a deviation above is timm's word for a magnitude that is uniform up to its value
FIXMATCHS = 'fixmatch'  # the word for FixMatch's operations
TIMM_OPERATIONS = tuple(name for name in TIMM if name != 'Identity')


@dataclass(frozen=True)
class Rounds:
    """What is drawn for each round and image, all (n, N)."""

    operation: np.ndarray  # its place among the names, or LEFT_OUT
    level: np.ndarray  # 0 to 1 of the range, or above
    sign: np.ndarray  # -1 or 1


@TRANSFORMS.register_module()
class BatchFixMatchRandAugment:
    """Apply the RandAugment of FixMatch (https://arxiv.org/abs/2001.07685) as TorchSSL has it to a whole batch.

    It does to (N, 3, H, W) bytes what FixMatchRandAugment does to an image, several times as fast. It stands before
    flip and crop. The operations are drawn with replacement, each at any level up to m, then a grey square of up to
    half the width covers a part of the image. Each image has its own draws.

    Args:
        n: number of operations. Default: 3.
        m: highest level in tenths of the range of each operation, 2 to 10; 10, the whole range, is TorchSSL's.
            Default: 10.
        interpolation: of rotations, shears and shifts: 'nearest', 'bilinear' or 'bicubic'. Default: 'nearest'.

    Example:
        transforms = [dict(type='BatchFixMatchRandAugment', n=3, m=10)]
    """

    needs_draws = True
    takes_batches = True

    def __init__(self, n: int = 3, m: int = 10, interpolation: str = 'nearest') -> None:
        self.n, self.m = check_levels(n, m)
        self.interpolation = one_of('interpolation', interpolation, RESAMPLING)

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Return the augmented images."""
        pixels = pixels_of(images)
        augment(pixels, self.draw(len(pixels), generator), FIXMATCH, self.interpolation, (0, 0, 0))
        cover_squares(pixels, torch.rand(3, len(pixels), generator=generator, dtype=torch.float64).numpy())
        return torch.from_numpy(pixels)

    def draw(self, count: int, generator: torch.Generator) -> Rounds:
        """Draw what is done to each image."""
        shape = (self.n, count)
        operation = torch.randint(len(FIXMATCH), shape, generator=generator)
        level, sign = torch.rand(2, *shape, generator=generator, dtype=torch.float64).numpy()
        return Rounds(operation.numpy(), level * (self.m / LEVELS), np.where(sign < 0.5, -1, 1))


@TRANSFORMS.register_module()
class BatchRandAugment:
    """Apply RandAugment (https://arxiv.org/abs/1909.13719), timm's version, to a whole batch.

    It does to (N, 3, H, W) bytes what RandAugment does to an image, several times as fast. Each image has its own
    draws.

    Args:
        policy: 'rand' and sections joined by '-': `m<magnitude of 10>`, `n<operations>` (2), `p<probability of each>`
            (0.5), `mstd<deviation of the magnitude>`, `mmax<its bound>`, `inc1` (all operations get stronger with the
            magnitude). Default: 'rand-m9-mstd0.5-inc1'.
        operations: names of those to draw from, as 'Rotate'; None for timm's: AutoContrast, Equalize, Invert,
            Posterize, Solarize, SolarizeAdd, Brightness, Color, Contrast, Sharpness, Rotate, ShearX, ShearY, TranslateX
            and TranslateY. There is 'Identity', too. 'fixmatch' for FixMatch's 14, without Invert and SolarizeAdd and
            with Identity, in FixMatch's ranges; brightness, colour, contrast and sharpness go either way.
            Default: None.
        interpolation: of rotations, shears and shifts: 'nearest', 'bilinear' or 'bicubic'. Default: 'bicubic'.
        fill: colour (red, green, blue) that they uncover, ImageNet's mean. Default: (124, 116, 104).

    Example:
        transforms = [dict(type='BatchRandAugment', policy='rand-m7-n2-mstd0.5')]
    """

    needs_draws = True
    takes_batches = True

    def __init__(
        self,
        policy: str = 'rand-m9-mstd0.5-inc1',
        operations: Sequence[str] | str | None = None,
        interpolation: str = 'bicubic',
        fill: Sequence[int] = IMAGENET_MEAN,
    ) -> None:
        self.policy = read_policy(policy)
        self.fixmatch = operations == FIXMATCHS
        if self.fixmatch and self.policy.increasing:
            raise ValueError(f"operations='fixmatch' has ranges of its own: leave inc1 out of policy, got {policy!r}")
        self.operations = tuple(FIXMATCH_EITHER_WAY) if self.fixmatch else check_operations(operations)
        self.interpolation, self.fill = one_of('interpolation', interpolation, RESAMPLING), check_fill(fill)

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Return the augmented images."""
        pixels = pixels_of(images)
        levels = FIXMATCH_EITHER_WAY if self.fixmatch else TIMM_INCREASING if self.policy.increasing else TIMM
        arguments = {name: levels[name] for name in self.operations}
        augment(pixels, self.draw(len(pixels), generator), arguments, self.interpolation, self.fill)
        return torch.from_numpy(pixels)

    def draw(self, count: int, generator: torch.Generator) -> Rounds:
        """Draw what is done to each image."""
        policy, shape = self.policy, (self.policy.count, count)
        operation = torch.randint(len(self.operations), shape, generator=generator).numpy()
        applied, sign, share = torch.rand(3, *shape, generator=generator, dtype=torch.float64).numpy()
        normal = torch.randn(shape, generator=generator, dtype=torch.float64).numpy()
        uniform = policy.deviation > UNIFORM
        magnitude = policy.magnitude * share if uniform else policy.magnitude + policy.deviation * normal
        return Rounds(
            np.where(applied < policy.prob, operation, LEFT_OUT),
            np.clip(magnitude, 0, policy.bound) / LEVELS,
            np.where(sign < 0.5, -1, 1),
        )


def check_operations(names: Sequence[str] | str | None) -> tuple[str, ...]:
    """Return the names of operations if there are such, each once."""
    if names is None:
        return TIMM_OPERATIONS
    if isinstance(names, str) or not names or len(set(names)) < len(names):
        raise ValueError(f"operations must be 'fixmatch' or a list of different names, at least one, got {names!r}")
    return tuple(one_of('operations', name, TIMM) for name in names)


def pixels_of(images: Tensor) -> np.ndarray:
    """Return a copy of the images as an array."""
    if images.dtype != torch.uint8 or images.dim() != 4 or images.shape[1] != 3:
        raise ValueError(f'images must be uint8 (N, 3, H, W), got {images.dtype} {tuple(images.shape)}')
    return images.numpy().copy()


def augment(
    pixels: np.ndarray,
    rounds: Rounds,
    arguments: Mapping[str, Argument],
    interpolation: str,
    fill: Sequence[int],
) -> None:
    """Change images (N, 3, H, W) in place, round by round, each by its own operation."""
    for operation, level, sign in zip(rounds.operation, rounds.level, rounds.sign, strict=True):
        chosen = _choose(arguments, operation, level, sign)
        _look_up(pixels, {name: chosen[name] for name in TABLES if name in chosen})
        _move(pixels, {name: chosen[name] for name in MATRICES if name in chosen}, interpolation, fill)
        for name in BLENDS:
            if name in chosen:
                places, factors = chosen[name]
                pixels[places] = BLENDS[name](pixels[places], factors)


Chosen = dict[str, tuple[np.ndarray, np.ndarray]]  # operation: the images that it changes, and its argument for each


def _choose(arguments: Mapping[str, Argument], operation: np.ndarray, level: np.ndarray, sign: np.ndarray) -> Chosen:
    """Group the images of a round by their operations."""
    order = np.argsort(operation)
    operation, level, sign = operation[order], level[order], sign[order]
    ends = np.searchsorted(operation, np.arange(len(arguments) + 1)).tolist()
    return {
        name: (order[start:end], argument(level[start:end], sign[start:end]))
        for (name, argument), start, end in zip(arguments.items(), ends[:-1], ends[1:], strict=True)
        if end > start
    }


def _look_up(pixels: np.ndarray, chosen: Chosen) -> None:
    """Make the tables of each operation, and use all of them at once."""
    if not chosen:
        return
    places = np.concatenate([own for own, _ in chosen.values()])
    before = pixels[places]
    tables, start = np.empty((len(places), 3, 256), dtype=np.uint8), 0
    for name, (own, argument) in chosen.items():
        rows = slice(start, start + len(own))
        tables[rows] = TABLES[name](before[rows], argument)
        start += len(own)
    pixels[places] = look_up(before, tables)


def _move(pixels: np.ndarray, chosen: Chosen, interpolation: str, fill: Sequence[int]) -> None:
    """Make the matrices of each operation, and use all of them at once."""
    if not chosen:
        return
    height, width = pixels.shape[2:]
    places = np.concatenate([own for own, _ in chosen.values()])
    matrices = np.concatenate([MATRICES[name](argument, height, width) for name, (_, argument) in chosen.items()])
    pixels[places] = move(pixels[places], matrices, interpolation, fill)


def cover_squares(pixels: np.ndarray, draws: np.ndarray) -> None:
    """Paint a square of each image in place, by numbers (3, N) in [0, 1): its side and its centre (y, x)."""
    height, width = pixels.shape[2:]
    half = draws[0] * CUT_SHARE * width / 2
    rows, columns = _within(draws[1] * height, half, height), _within(draws[2] * width, half, width)
    paint(pixels, rows[:, :, None] & columns[:, None], CUT_COLOUR)


def _within(centre: np.ndarray, half: np.ndarray, length: int) -> np.ndarray:
    """Say which of the places of a side are less than half a square from its centre, rounded to whole pixels."""
    places = np.arange(length)
    return (places >= np.rint(centre - half)[:, None]) & (places < np.rint(centre + half)[:, None])
