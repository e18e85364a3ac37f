"""Pillow's changes of colour on whole batches (K, 3, H, W) of bytes: look-up tables, and what looks at more of a pixel.

The pixels are Pillow's, so that its rounding is followed: blends are float32 and cut off, grey is a sum of integers.
"""

from collections.abc import Callable

import numpy as np
import torch

VALUES = np.arange(256)
FLOATS = VALUES.astype(np.float32)[None, None]
GREY = np.array([[19595, 38470, 7471]], dtype=np.float32)


def blend(without: np.ndarray, image: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Go from one to the other, both float32, by a factor for each image, and beyond if it is above 1."""
    mixed = factor.astype(np.float32).reshape(-1, *[1] * (image.ndim - 1)) * (image - without)
    mixed += without
    return np.clip(mixed, 0, 255, out=mixed).astype(np.uint8)


def grey(image: np.ndarray) -> np.ndarray:
    """Return the brightness (K, 1, H, W) of float32 images by ITU-R 601-2, in whole numbers.

    Pillow adds integers with 16 bits behind the point; they are below 2^24, which float32 holds exactly.
    """
    flat = GREY @ image.reshape(len(image), 3, -1)
    flat += 1 << 15
    flat *= 1 / (1 << 16)
    return np.floor(flat, out=flat).reshape(len(image), 1, *image.shape[2:])


# Each makes the look-up tables of its images, (K, 3 or 1, 256), from (K, 3, H, W) and one argument for each image.


def autocontrast(pixels: np.ndarray, unused: np.ndarray) -> np.ndarray:
    """Spread each channel from black to white; one of a single value stays."""
    channels = pixels.reshape(*pixels.shape[:2], -1)
    low, high = (end(channels, axis=2, keepdims=True).astype(np.float64) for end in (np.min, np.max))
    scale = 255 / np.maximum(high - low, 1)
    spread = np.clip(VALUES * scale - low * scale, 0, 255)
    return np.where(high > low, spread, VALUES).astype(np.uint8)


def equalize(pixels: np.ndarray, unused: np.ndarray) -> np.ndarray:
    """Spread each channel so that all values are equally frequent; one of too few values stays."""
    count, channels = pixels.shape[:2]
    rows = np.arange(count * channels)[:, None]
    bins = (pixels.reshape(count * channels, -1) + 256 * rows).ravel()
    counts = np.bincount(bins, minlength=256 * count * channels).reshape(-1, 256)
    highest = 255 - (counts[:, ::-1] > 0).argmax(axis=1, keepdims=True)
    below = counts.cumsum(axis=1) - counts
    step = np.take_along_axis(below, highest, axis=1) // 255
    spread = np.minimum((step // 2 + below) / np.maximum(step, 1), 255)  # cut off below, where it becomes bytes
    return np.where(step > 0, spread, VALUES).astype(np.uint8).reshape(count, channels, 256)


def invert(pixels: np.ndarray, unused: np.ndarray) -> np.ndarray:
    """Turn black into white."""
    return np.broadcast_to((255 - VALUES).astype(np.uint8), (len(pixels), 1, 256))


def posterize(pixels: np.ndarray, bits: np.ndarray) -> np.ndarray:
    """Keep the highest bits; none makes the image black."""
    dropped = 8 - np.clip(bits, 0, 8).astype(np.int64)[:, None, None]
    return (VALUES >> dropped << dropped).astype(np.uint8)


def solarize(pixels: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    """Invert what is as bright as the threshold or brighter."""
    return np.where(threshold[:, None, None] > VALUES, VALUES, 255 - VALUES).astype(np.uint8)


def solarize_add(pixels: np.ndarray, amount: np.ndarray) -> np.ndarray:
    """Make the darker half brighter."""
    return np.where(VALUES < 128, np.minimum(VALUES + amount[:, None, None], 255), VALUES).astype(np.uint8)


def brightness(pixels: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Blend with black."""
    return blend(np.zeros(1, dtype=np.float32), FLOATS, factor)


def contrast(pixels: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Blend with the mean of grey."""
    mean = np.floor(grey(pixels.astype(np.float32)).mean(axis=(2, 3), dtype=np.float64, keepdims=True) + 0.5)
    return blend(mean[..., 0].astype(np.float32), FLOATS, factor)


TABLES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    'AutoContrast': autocontrast,
    'Equalize': equalize,
    'Invert': invert,
    'Posterize': posterize,
    'Solarize': solarize,
    'SolarizeAdd': solarize_add,
    'Brightness': brightness,
    'Contrast': contrast,
}


def look_up(pixels: np.ndarray, tables: np.ndarray) -> np.ndarray:
    """Replace each byte by the entry of its channel's table, (K, 3, 256)."""
    rows = pixels.shape[0] * pixels.shape[1]
    places = torch.from_numpy(pixels.reshape(rows, -1)).long()
    return torch.from_numpy(tables.reshape(rows, 256)).gather(1, places).numpy().reshape(pixels.shape)


# Each takes (K, 3, H, W) and one factor for each image.


def color(pixels: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Blend with grey."""
    image = pixels.astype(np.float32)
    return blend(grey(image), image, factor)


def sharpness(pixels: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Blend with the smoothed image, whose edge of one pixel is not smoothed."""
    wide = pixels.astype(np.uint16)
    across = wide[..., :-2] + wide[..., 1:-1] + wide[..., 2:]
    around = across[..., :-2, :] + across[..., 1:-1, :] + across[..., 2:, :]
    weighted = around + 4 * wide[..., 1:-1, 1:-1]
    wide[..., 1:-1, 1:-1] = (weighted + 6) // 13  # rounded: the weights are 1, and 5 in the middle
    return blend(wide.astype(np.float32), pixels.astype(np.float32), factor)


BLENDS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {'Color': color, 'Sharpness': sharpness}
