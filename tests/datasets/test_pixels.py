"""The images of every recipe are those of torchvision's pipeline on Pillow, within one level of 255.

One pixel in some hundred thousand is two levels off: torch's weights have 16 bits. Pillow 13 takes the rows of some
windows before the columns; so that the test holds with it too, columns and rows are resized in two calls here.
"""

import random

import numpy as np
import PIL
import pytest
from conftest import ROOT
from mmengine.config import Config
from PIL import Image
from torchvision.transforms import InterpolationMode
from torchvision.transforms import functional as tv

from openmix_dm.datasets.transforms.image import resize
from openmix_dm.registry import TRANSFORMS
from openmix_dm.visualization.sample_images import sample_photographs

PILLOW = tuple(map(int, PIL.__version__.split('.')[:2]))
FILES = ('ImageNet', 'CUB200', 'Aircraft', 'Cars')  # data sets that are read from image files
BY_PILLOW = ('RandAugment', 'SelfTuningRandAugment')  # they work on Pillow's images themselves


def pipelines():
    """Return all lists of transforms of the recipes of photographs, by the place where they stand."""
    found = {}
    for path in sorted((ROOT / 'configs' / '_base_').glob('*.py')):
        config = Config.fromfile(path)
        for loader in ('train_dataloader', 'val_dataloader'):
            dataset = config.get(loader, {}).get('dataset', {})
            views = [
                *dataset.get('labelled_views', ()),
                *dataset.get('unlabelled_views', ()),
                dataset.get('study_view'),
            ]
            kind = dataset.get('dataset', dataset).get('type')
            for number, steps in enumerate(filter(None, [dataset.get('transforms'), *views])):
                if kind in FILES and steps not in found.values():
                    found[f'{path.stem} {loader} {number}'] = steps
    return found


PIPELINES = pipelines()


def test_all_recipes_of_photographs_are_here():
    assert {name.split()[0] for name in PIPELINES} >= {'imagenet', 'imagenet_rsb', 'imagenet_rsb160', 'imagenet_deit'}
    steps = [step['type'] for pipeline in PIPELINES.values() for step in pipeline]
    assert {'TenCrop', 'SelfTuningRandAugment', 'Resize', 'CenterCrop'} <= {*steps}


@pytest.mark.parametrize('photograph', [0, 1])
@pytest.mark.parametrize('name', PIPELINES)
def test_pixels_are_torchvisions(name, photograph):
    image = sample_photographs()[photograph]
    steps = [TRANSFORMS.build(step) for step in PIPELINES[name] if step['type'] not in BY_PILLOW]
    for seed in range(4):
        random.seed(seed)
        ours = image
        for step in steps:
            ours = step(ours)
        random.seed(seed)
        theirs = [Image.fromarray(image)]
        for step in steps:
            theirs = [after for before in theirs for after in by_torchvision(step, before)]
        expected = np.stack([np.array(picture) for picture in theirs])
        check_near(ours.reshape(expected.shape), expected)


def check_near(ours, theirs):
    difference = np.abs(ours.astype(int) - theirs)
    assert difference.max() <= 2
    assert (difference > 1).mean() < 2e-5


def columns_first(picture, size, mode):
    """Resize to (height, width) as every Pillow before 13 does in one call."""
    return tv.resize(tv.resize(picture, [picture.height, size[1]], mode), size, mode)


def by_torchvision(step, picture):
    """Do what a transform does with Pillow's image; draws come in the same order."""
    kind = type(step).__name__
    mode = InterpolationMode(getattr(step, 'interpolation', 'bilinear'))
    if kind == 'RandomResizedCrop':
        part = tv.crop(picture, *step.draw_window(picture.height, picture.width))
        return [columns_first(part, [step.size] * 2, mode)]
    if kind == 'RandomFlip':
        return [tv.hflip(picture) if random.random() < step.prob else picture]
    if kind == 'ResizeShortEdge':
        whole = tv.resize(picture, step.size, mode)  # says which size it has
        return [columns_first(picture, [whole.height, whole.width], mode)]
    if kind == 'Resize':
        return [columns_first(picture, [step.size] * 2, mode)]
    if kind == 'CenterCrop':
        return [tv.center_crop(picture, step.size)]
    if kind == 'TenCrop':
        return tv.ten_crop(picture, step.size)
    raise AssertionError(f'{kind} is in a recipe, but not in this test')


@pytest.mark.parametrize('interpolation', ['bilinear', 'bicubic', 'nearest'])
@pytest.mark.parametrize('size', [(33, 57), (224, 224), (640, 100), (900, 900)])
def test_any_size_is_pillows(interpolation, size):
    for image in sample_photographs():
        for part in (image, image[20:300, 400:101:-1]):  # a mirrored view, too
            picture = Image.fromarray(np.ascontiguousarray(part))
            expected = np.array(columns_first(picture, size[::-1], InterpolationMode(interpolation)))
            check_near(resize(part, size, interpolation), expected)
            if interpolation == 'nearest':
                assert np.array_equal(resize(part, size, interpolation), expected)


@pytest.mark.skipif(PILLOW >= (13,), reason='Pillow 13 has another order')
def test_columns_first_is_what_pillow_does():
    picture = Image.fromarray(sample_photographs()[0])
    for size in ([100, 224], [300, 40]):
        assert columns_first(picture, size, InterpolationMode.BICUBIC) == tv.resize(
            picture, size, InterpolationMode.BICUBIC
        )
