"""Rotations, shears and shifts give Pillow's pixels, to the last bit, in all three interpolations."""

import numpy as np
import pytest
from PIL import Image
from support.pillow_pictures import SIZES, by_pillow, pictures

from openmix_dm.datasets.transforms.batch_affine import MATRICES, move

FILLS = [(0, 0, 0), (124, 116, 104)]


def affine(make):
    return lambda image, value, **how: image.transform(image.size, Image.Transform.AFFINE, make(image, value), **how)


PILLOWS = {  # what it does to a picture, and the largest argument
    'Rotate': (lambda image, degrees, **how: image.rotate(degrees, **how), 45),
    'ShearX': (affine(lambda image, value: (1, value, 0, 0, 1, 0)), 0.5),
    'ShearY': (affine(lambda image, value: (1, 0, 0, value, 1, 0)), 0.5),
    'TranslateX': (affine(lambda image, value: (1, 0, value * image.width, 0, 1, 0)), 1.1),
    'TranslateY': (affine(lambda image, value: (1, 0, 0, 0, 1, value * image.height)), 1.1),
}


@pytest.mark.parametrize('name', PILLOWS)
@pytest.mark.parametrize('interpolation', ['nearest', 'bilinear', 'bicubic'])
@pytest.mark.parametrize('size', [*SIZES, (1, 5), (2, 2)])
def test_is_pillows(name, interpolation, size):
    change, largest = PILLOWS[name]
    images = np.tile(pictures(*size), (4, 1, 1, 1))
    values = np.random.default_rng(0).uniform(-largest, largest, len(images))
    values[::5] = largest * np.linspace(-1, 1, len(values[::5]))
    values[1::5] = np.round(values[1::5] * 128) / 128  # halves of pixels and whole ones
    values[:2] = 0
    how = {'resample': Image.Resampling[interpolation.upper()]}
    for fill in FILLS:
        ours = move(images, MATRICES[name](values, *size), interpolation, fill)
        theirs = by_pillow(lambda image, value, fill=fill: change(image, value, fillcolor=fill, **how), images, values)
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize('degrees', [0, 90, 180, 270, 360, -90])
@pytest.mark.parametrize('interpolation', ['nearest', 'bicubic'])
def test_quarter_turns_are_exact(degrees, interpolation):
    images = pictures(9, 9)
    turned = move(images, MATRICES['Rotate'](np.full(len(images), float(degrees)), 9, 9), interpolation, (1, 2, 3))
    assert np.array_equal(turned, np.rot90(images, degrees // 90, axes=(2, 3)))


def test_all_moves_at_once_are_each_on_its_own():
    """Which images are in the batch does not matter to an image."""
    images = pictures(16, 20)
    matrices = np.concatenate([MATRICES[name](np.full(3, 0.21 * PILLOWS[name][1]), 16, 20) for name in PILLOWS])
    images = images[np.arange(len(matrices)) % len(images)]
    for interpolation in ('nearest', 'bilinear', 'bicubic'):
        together = move(images, matrices, interpolation, (9, 8, 7))
        alone = [move(images[i : i + 1], matrices[i : i + 1], interpolation, (9, 8, 7)) for i in range(len(images))]
        assert np.array_equal(together, np.concatenate(alone))
