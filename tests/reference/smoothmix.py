"""SmoothMix, pixel by pixel."""

import math

import numpy as np


def mask(sigma, centre, height, width):
    """Weigh the own image by 1 - G; sigma and centre (y, x) are in units of the image's sides."""
    weights = np.ones((height, width))
    if sigma == 0:
        return weights
    for y in range(height):
        for x in range(width):
            squared = ((y + 0.5) / height - centre[0]) ** 2 + ((x + 0.5) / width - centre[1]) ** 2
            weights[y, x] = 1 - math.exp(-squared / (2 * sigma**2))
    return weights


def centred_share(sigma):
    """The mean of a blob in the middle of a large image: the product of two integrals of a bell curve."""
    return (sigma * math.sqrt(2 * math.pi) * math.erf(0.5 / (sigma * math.sqrt(2)))) ** 2


def mean_share(sigma):
    """The mean of a blob over all of its centres in a large image."""
    inner = sigma * math.sqrt(2 * math.pi) * math.erf(1 / (sigma * math.sqrt(2)))
    return (inner - 2 * sigma**2 * (1 - math.exp(-0.5 / sigma**2))) ** 2
