import random

import numpy as np
import pytest
from PIL import Image
from torchvision.transforms import v2

from openmix_dm.datasets import CenterCrop, RandomFlip, RandomResizedCrop, Resize, ResizeShortEdge
from openmix_dm.datasets.transforms.image import to_tensor

RNG = np.random.default_rng(0)


def picture(height, width):
    return RNG.integers(0, 256, (height, width, 3), dtype=np.uint8)


def test_random_resized_crop_draws_areas_and_aspects_uniformly():
    """Area uniform in its range and log-aspect uniform: means within four standard errors where every window fits."""
    random.seed(0)
    crop = RandomResizedCrop(size=8, scale=(0.1, 0.5))
    windows = np.array([crop.draw_window(400, 400) for _ in range(4000)], dtype=float)
    area = windows[:, 2] * windows[:, 3] / 400**2
    log_aspect = np.log(windows[:, 3] / windows[:, 2])
    assert abs(area.mean() - 0.3) < 4 * (0.4 / 12**0.5) / 4000**0.5
    assert abs(log_aspect.mean()) < 4 * (2 * np.log(4 / 3) / 12**0.5) / 4000**0.5
    assert (windows[:, 0] + windows[:, 2] <= 400).all()
    assert (windows[:, 1] + windows[:, 3] <= 400).all()
    assert crop(picture(50, 60)).shape == (8, 8, 3)


def test_a_long_image_falls_back_to_its_centre():
    random.seed(0)
    assert RandomResizedCrop(size=8, scale=(0.9, 1.0)).draw_window(10, 1000) == (0, 493, 10, 13)


@pytest.mark.parametrize('shape', [(40, 60), (61, 47), (32, 32), (20, 90)])
def test_test_crop_is_torchvisions(shape):
    image = picture(*shape)
    ours = CenterCrop(28)(ResizeShortEdge(32)(image))
    theirs = v2.CenterCrop(28)(v2.Resize(32)(Image.fromarray(image)))
    assert np.abs(ours.astype(int) - np.array(theirs)).max() <= 1


@pytest.mark.parametrize('interpolation', ['bilinear', 'bicubic', 'nearest'])
def test_resize_forgets_the_aspect(interpolation):
    image = picture(20, 47)
    theirs = v2.Resize((32, 32), v2.InterpolationMode(interpolation))(Image.fromarray(image))
    assert np.abs(Resize(32, interpolation)(image).astype(int) - np.array(theirs)).max() <= 1


def test_flip():
    image = picture(4, 5)
    assert (RandomFlip(prob=1)(image) == image[:, ::-1]).all()
    assert (RandomFlip(prob=0)(image) == image).all()


@pytest.mark.parametrize('view', ['whole', 'part', 'mirrored', 'crops'])
def test_tensors_have_channels_first(view):
    image = picture(9, 12)
    image = {'whole': image, 'part': image[2:7, 3:9], 'mirrored': image[:, ::-1], 'crops': np.stack([image] * 10)}[view]
    tensor = to_tensor(image)
    assert np.array_equal(tensor.numpy(), np.moveaxis(image, -1, -3))
    assert tensor.is_contiguous()


def test_unknown_interpolation_is_refused():
    with pytest.raises(ValueError, match='bicubic'):
        ResizeShortEdge(32, interpolation='lanczos9')


@pytest.mark.parametrize(
    ('build', 'said'),
    [
        (lambda: Resize(0), 'size'),
        (lambda: RandomResizedCrop(8, scale=(0.5, 0.1)), 'scale'),
        (lambda: RandomResizedCrop(8, ratio=(0, 1)), 'ratio'),
        (lambda: RandomFlip(prob=1.5), 'prob'),
    ],
)
def test_bad_settings_are_refused(build, said):
    with pytest.raises(ValueError, match=said):
        build()
