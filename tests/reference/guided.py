"""GuidedMixup by loops over images and pixels, in numpy's float64."""

import math

import numpy as np


def spectral_residual(image):
    """Return the saliency of one image (3, H, W), before the last blur."""
    grey = 0.2989 * image[0] + 0.587 * image[1] + 0.114 * image[2]
    spectrum = np.fft.fft2(grey)
    size = np.sqrt(spectrum.real**2 + spectrum.imag**2 + 1e-10)
    usual = windowed(np.log(size), np.full((3, 3), 1 / 9))
    return gaussian(np.abs(np.fft.ifft2(spectrum * np.exp(np.log(size) - usual) / size)))


def gaussian(values):
    weights = np.array([[math.exp(-(y * y + x * x) / 18) for x in range(-3, 4)] for y in range(-3, 4)])
    return windowed(values, weights / weights.sum())


def windowed(values, weights):
    """Return the weighted sum around each place; beyond the border the last value goes on."""
    height, width = values.shape
    half = len(weights) // 2
    result = np.zeros_like(values)
    for y in range(height):
        for x in range(width):
            for dy in range(-half, half + 1):
                for dx in range(-half, half + 1):
                    there = min(max(y + dy, 0), height - 1), min(max(x + dx, 0), width - 1)
                    result[y, x] += weights[dy + half, dx + half] * values[there]
    return result


def cycle(distances):
    """Return the partner of each row by the greedy walk, with a set of who is still free."""
    size = len(distances)
    pairs = [(i, j) for i in range(size) for j in range(size) if i != j]
    if not pairs:
        return [0]
    first, here = max(pairs, key=lambda pair: distances[pair[0]][pair[1]])
    partner, free = {first: here}, set(range(size)) - {first, here}
    while free:
        there = max(sorted(free), key=lambda row: distances[here][row])
        partner[here] = there
        free.remove(there)
        here = there
    partner[here] = first
    return [partner[row] for row in range(size)]
