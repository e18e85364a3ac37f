"""Rotations, shears and shifts as Pillow does them, on whole batches (K, 3, H, W) of bytes.

A matrix (a, b, c, d, e, f) says where the pixel at (x, y) of the result comes from: (a x + b y + c, d x + e y + f),
pixels being centred at halves. Each step is rounded as in Pillow, and the bytes are therefore the same.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch

# Each makes the matrices (K, 6) from an argument for each image, height and width.


def rotate(degrees: np.ndarray, height: int, width: int) -> np.ndarray:
    """Turn around the centre, counter-clockwise."""
    return np.array([_rotation(-math.radians(angle % 360), height / 2, width / 2) for angle in degrees.tolist()])


def _rotation(angle: float, y: float, x: float) -> tuple[float, ...]:
    """Return one matrix, by Python's functions and rounded as Pillow does: numpy's may differ in the last bit."""
    cos, sin = round(math.cos(angle), 15), round(math.sin(angle), 15)
    return cos, sin, cos * -x + sin * -y + x, -sin, cos, -sin * -x + cos * -y + y


def _identities(place: int, values: np.ndarray) -> np.ndarray:
    """Return identities with other values at one place."""
    rows = np.zeros((len(values), 6))
    rows[:, 0] = rows[:, 4] = 1
    rows[:, place] = values
    return rows


MATRICES: dict[str, Callable[[np.ndarray, int, int], np.ndarray]] = {
    'Rotate': rotate,
    'ShearX': lambda factor, height, width: _identities(1, factor),
    'ShearY': lambda factor, height, width: _identities(3, factor),
    'TranslateX': lambda share, height, width: _identities(2, share * width),
    'TranslateY': lambda share, height, width: _identities(5, share * height),
}


def move(pixels: np.ndarray, matrices: np.ndarray, interpolation: str, fill: Sequence[int]) -> np.ndarray:
    """Move each image by its matrix; what comes from outside has the colour `fill`."""
    if interpolation == 'nearest':
        return _nearest(pixels, matrices, fill)
    moved = np.empty_like(pixels)
    along_x = (matrices[:, [0, 3, 4, 5]] == (1, 0, 1, 0)).all(axis=1)
    along_y = (matrices[:, [0, 1, 2, 4]] == (1, 0, 0, 1)).all(axis=1) & ~along_x
    if along_x.any():
        moved[along_x] = _slide(pixels[along_x], matrices[along_x, 1:3], interpolation, fill)
    if along_y.any():
        columns = pixels[along_y].swapaxes(2, 3)
        moved[along_y] = _slide(columns, matrices[along_y, 3::2], interpolation, fill).swapaxes(2, 3)
    others = ~(along_x | along_y)
    if others.any():
        moved[others] = _one_by_one(pixels[others], matrices[others], interpolation, fill)
    return moved


def _nearest(pixels: np.ndarray, matrices: np.ndarray, fill: Sequence[int]) -> np.ndarray:
    """Take the nearest pixel by Pillow's numbers of 16 bits behind the point."""
    height, width = pixels.shape[2:]
    a, b, c, d, e, f = matrices.T
    fixed = np.floor(np.stack([a, b, c + a * 0.5 + b * 0.5, d, e, f + d * 0.5 + e * 0.5]) * 65536 + 0.5)
    shifted = (b == 0) & (d == 0)  # whole pixels, without these numbers
    fixed[2, shifted] = np.floor(c + a * 0.5)[shifted] * 65536
    fixed[5, shifted] = np.floor(f + e * 0.5)[shifted] * 65536
    a, b, c, d, e, f = fixed.astype(np.int32)[..., None, None]
    x, y = np.arange(width, dtype=np.int32), np.arange(height, dtype=np.int32)[:, None]
    column, row = (a * x + (b * y + c)) >> 16, (d * x + (e * y + f)) >> 16
    inside = (column.view(np.uint32) < width) & (row.view(np.uint32) < height)  # below 0 is very large
    row *= width
    row += column
    row *= inside
    return paint(_gather(pixels, row.astype(np.int64)), ~inside, fill)


def _gather(pixels: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Take the pixels at places (K, H, W) of each image, all channels alike."""
    count, channels = pixels.shape[:2]
    index = torch.from_numpy(places.reshape(count, 1, -1)).expand(-1, channels, -1)
    return torch.from_numpy(pixels).view(count, channels, -1).gather(2, index).numpy().reshape(pixels.shape)


def _slide(pixels: np.ndarray, moves: np.ndarray, interpolation: str, fill: Sequence[int]) -> np.ndarray:
    """Take each pixel from (x + slope y + shift, y), moves being (slope, shift): whole rows move, which is faster."""
    height, width = pixels.shape[2:]
    slope, shift = moves.T[..., None]
    x, y = np.arange(width), np.arange(height) + 0.5
    place = (x + 0.5) + (slope * y)[..., None] + shift[..., None]
    inside = (place >= 0) & (place < width)
    place -= 0.5
    whole = np.floor(place[..., 0]).astype(np.int64)
    place -= whole[..., None] + x
    reach, kernel = KERNELS[interpolation]
    margin = width + 1  # as far as anything inside looks, or beyond
    rows = _cut_rows(_framed(pixels.astype(np.int16), margin), whole + margin + reach[0], width + len(reach) - 1)
    moved = kernel([rows[..., step : step + width] for step in range(len(reach))], place[:, None])
    return paint(np.clip(moved, 0, 255, out=moved).astype(np.uint8), ~inside, fill)


def _framed(pixels: np.ndarray, margin: int) -> np.ndarray:
    """Repeat the first and the last pixel of each row."""
    framed = np.empty((*pixels.shape[:3], pixels.shape[3] + 2 * margin), dtype=pixels.dtype)
    framed[..., margin:-margin] = pixels
    framed[..., :margin] = pixels[..., :1]
    framed[..., -margin:] = pixels[..., -1:]
    return framed


def _cut_rows(pixels: np.ndarray, start: np.ndarray, length: int) -> np.ndarray:
    """Cut a part out of each row: (K, 3, H, length) from start (K, H) on, or as near to it as there is room."""
    count, channels, height, width = pixels.shape
    first = np.arange(count * channels * height).reshape(count, channels, height) * width
    first += np.clip(start, 0, width - length)[:, None]
    parts = torch.from_numpy(pixels.reshape(-1)).unfold(0, length, 1)  # a view: a part from every pixel on
    return parts.index_select(0, torch.from_numpy(first.reshape(-1))).numpy().reshape(count, channels, height, length)


def _one_by_one(pixels: np.ndarray, matrices: np.ndarray, interpolation: str, fill: Sequence[int]) -> np.ndarray:
    """Leave to Pillow what looks at 4 or 16 pixels for each: that is its own loop, and arrays are half as fast."""
    from PIL import Image

    resample = Image.Resampling[interpolation.upper()]
    moved = np.empty_like(pixels)
    for before, after, matrix in zip(pixels, moved, matrices.tolist(), strict=True):
        image = Image.fromarray(before.transpose(1, 2, 0).copy())
        image = image.transform(image.size, Image.Transform.AFFINE, matrix, resample, fillcolor=tuple(fill))
        after[:] = np.asarray(image).transpose(2, 0, 1)
    return moved


def paint(pixels: np.ndarray, where: np.ndarray, colour: Sequence[int]) -> np.ndarray:
    """Paint places (K, H, W) of images, in place; the bytes overflow on the way, which is faster than a mask."""
    change = np.array(colour, dtype=np.uint8)[:, None, None] - pixels
    change *= where[:, None].view(np.uint8)
    pixels += change
    return pixels


Kernel = Callable[[Sequence[np.ndarray], np.ndarray], np.ndarray]


def _linear(values: Sequence[np.ndarray], share: np.ndarray) -> np.ndarray:
    result = (values[1] - values[0]) * share
    result += values[0]
    return result


def _cubic(values: Sequence[np.ndarray], share: np.ndarray) -> np.ndarray:
    first, second, third, fourth = values
    result = share * (second - first - third + fourth)
    result += 2 * (first - second) + third - fourth
    result *= share
    result += third - first
    result *= share
    result += second
    return result


# Which pixels they look at, counted from the one before the place, and the curve from that one to the next.
KERNELS: dict[str, tuple[tuple[int, ...], Kernel]] = {
    'bilinear': ((0, 1), _linear),
    'bicubic': ((-1, 0, 1, 2), _cubic),
}
