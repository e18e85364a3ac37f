"""FMix by direct sums over frequencies and by sorting pixels one by one."""

import cmath
import math

import numpy as np


def frequency(k, size):
    """The signed frequency of bin k, in cycles per pixel."""
    return (k if k <= size // 2 else k - size) / size


def isotropic_field(noise, height, width, decay_power):
    """Sum the waves of a spectrum given as real and imaginary parts (H, W // 2 + 1, 2) at each pixel.

    Its right half is the mirror image of the left one. Columns that mirror onto themselves count once instead of
    twice, and have a real part only: sqrt(2) gives them the energy of the others.
    """
    field = np.zeros((height, width))
    for y in range(height):
        for x in range(width):
            for ky in range(height):
                for kx in range(width // 2 + 1):
                    f = max(math.hypot(frequency(ky, height), frequency(kx, width)), 1 / max(height, width))
                    mirrored = kx in (0, width / 2)
                    amplitude = f**-decay_power * (math.sqrt(2) if mirrored else 2)
                    wave = cmath.exp(2j * math.pi * (ky * y / height + kx * x / width))
                    field[y, x] += amplitude * (complex(*noise[ky, kx].tolist()) * wave).real
    return field


def released_columns(width):
    """How many horizontal frequencies the released code keeps: one more than needed where the width is odd."""
    return width // 2 + 2 if width % 2 else width // 2 + 1


def released_field(spectrum, height, width, decay_power):
    """Do with real numbers (H, K, 2) what the released code does: rows 0 and 1 become the real and imaginary part."""
    columns = np.fft.fftfreq(width)[: spectrum.shape[1]]
    rows = np.fft.fftfreq(height)[:, None]
    scale = np.maximum(np.sqrt(rows**2 + columns**2), 1 / max(height, width)) ** -decay_power
    scaled = scale[..., None] * spectrum
    return np.fft.irfftn(scaled[0] + 1j * scaled[1], (height, width))


def mask(field, own, soft):
    """Give pixels their weight in the order of their values, the largest first."""
    order = sorted(range(field.size), key=lambda pixel: -field.flat[pixel])
    weights = np.zeros(field.size)
    for rank, pixel in enumerate(order):
        if rank < own - soft:
            weights[pixel] = 1
        elif rank < own + soft:
            weights[pixel] = np.linspace(1, 0, 2 * soft)[rank - (own - soft)]
    return weights.reshape(field.shape)
