"""Slow and obvious versions of the fine-grained saliency and of SaliencyMix: loops over images and pixels."""

import math

import numpy as np
import torch

NEIGHBOURHOODS = (12, 24, 28, 48, 56, 112)


def fine_grained(image):
    """The saliency of one image, a uint8 array (1 or 3, H, W), before any overflow of bytes."""
    grey = blurred(blurred(grey_of(image.astype(np.int64))))
    on, off = np.zeros(grey.shape, np.int64), np.zeros(grey.shape, np.int64)
    for y, x in np.ndindex(*grey.shape):
        for reach in NEIGHBOURHOODS:
            difference = np.float32(grey[y, x]) - surround(grey, y, x, reach)
            on[y, x] += int(max(difference, 0))
            off[y, x] += int(max(-difference, 0))
    return stretched(on) + stretched(off)


def grey_of(image):
    if len(image) == 1:
        return image[0]
    return (9798 * image[0] + 19235 * image[1] + 3735 * image[2] + 2**14) // 2**15


def blurred(grey):
    """Weights 1 2 1 down and across, halves rounded up, mirrored at the border without repeating it."""
    height, width = grey.shape
    result = np.empty_like(grey)
    for y, x in np.ndindex(height, width):
        total = 0
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                total += (2 - abs(dy)) * (2 - abs(dx)) * grey[mirrored(y + dy, height), mirrored(x + dx, width)]
        result[y, x] = (total + 8) // 16
    return result


def mirrored(position, size):
    return abs(position) if position < size else 2 * (size - 1) - position


def surround(grey, y, x, reach):
    """The mean of all other pixels from reach - 1 before to reach behind the centre, as float32."""
    window = grey[max(y - reach + 1, 0) : y + reach + 1, max(x - reach + 1, 0) : x + reach + 1]
    return np.float32(window.sum() - grey[y, x]) / np.float32(window.size - 1)


def stretched(values):
    share = values.astype(np.float32) / np.float32(max(values.max(), 1))
    return (255 * share.astype(np.float64)).astype(np.int64)


def saliencymix(inputs, others, pixels, lam):
    """Paste into inputs the boxes of others around the most salient place of their pixels, uint8 (N, C, H, W)."""
    mixed, shown = inputs.clone(), torch.empty(len(inputs))
    height, width = inputs.shape[-2:]
    for i in range(len(inputs)):
        centre_y, centre_x = divmod(int(fine_grained(pixels[i]).argmax()), width)
        side = math.sqrt(1 - lam[i])
        half_height, half_width = int(height * side) // 2, int(width * side) // 2
        own = 0
        for y in range(height):
            for x in range(width):
                pasted = -half_height <= y - centre_y < half_height and -half_width <= x - centre_x < half_width
                own += not pasted
                if pasted:
                    mixed[i, :, y, x] = others[i, :, y, x]
        shown[i] = own / (height * width)
    return mixed, shown
