"""Each change of colour gives Pillow's pixels, to the last bit."""

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageOps
from support.pillow_pictures import SIZES, by_pillow, pictures

from openmix_dm.datasets.transforms.batch_colours import BLENDS, TABLES, look_up


def enhance(kind):
    factors = np.concatenate([np.linspace(0, 2, 41), [0.05, 0.95, 1 / 3, 3.5]])
    return lambda image, factor: getattr(ImageEnhance, kind)(image).enhance(factor), factors


def posterize(image, bits):
    if bits >= 8:
        return image
    return ImageOps.posterize(image, int(bits)) if bits > 0 else Image.new('RGB', image.size)  # Pillow refuses 0


def solarize_add(image, amount):
    return image.point([min(255, value + int(amount)) if value < 128 else value for value in range(256)] * 3)


PILLOWS = {  # what it does to a picture by an argument, and all arguments to try
    'AutoContrast': (lambda image, _: ImageOps.autocontrast(image), np.zeros(1)),
    'Equalize': (lambda image, _: ImageOps.equalize(image), np.zeros(1)),
    'Invert': (lambda image, _: ImageOps.invert(image), np.zeros(1)),
    'Posterize': (posterize, np.arange(-2, 10)),
    'Solarize': (lambda image, threshold: ImageOps.solarize(image, int(threshold)), np.arange(0, 257, 4)),
    'SolarizeAdd': (solarize_add, np.arange(0, 129, 4)),
    **{kind: enhance(kind) for kind in ('Brightness', 'Contrast', 'Color', 'Sharpness')},
}


def ours(name, images, arguments):
    if name in BLENDS:
        return BLENDS[name](images, arguments)
    return look_up(images, np.broadcast_to(TABLES[name](images, arguments), (len(images), 3, 256)).copy())


@pytest.mark.parametrize('name', PILLOWS)
@pytest.mark.parametrize('size', [*SIZES, (1, 5), (2, 2)])
def test_is_pillows(name, size):
    change, arguments = PILLOWS[name]
    images = pictures(*size)
    rows = np.arange(len(images) * len(arguments))  # every picture with every argument
    images, arguments = images[rows % len(images)], arguments[rows // len(images)].astype(float)
    before = images.copy()
    assert np.array_equal(ours(name, images, arguments), by_pillow(change, images, arguments))
    assert np.array_equal(images, before)


def test_every_change_of_colour_is_compared():
    assert set(PILLOWS) == {*TABLES, *BLENDS}


@pytest.mark.parametrize('name', ['AutoContrast', 'Equalize'])
def test_one_colour_stays(name):
    plain = np.full((2, 3, 8, 8), 99, dtype=np.uint8)
    assert np.array_equal(ours(name, plain, np.zeros(2)), plain)
