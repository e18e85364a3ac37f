import random

import numpy as np
import pytest
import torch
from PIL import Image

from openmix_dm.datasets import BatchEach, BatchResize, RandomFlip, SampleIndex, TensorImages
from openmix_dm.datasets.samplers.sample_index import seed_draws

STRONG = [
    {'type': 'FixMatchRandAugment'},
    {'type': 'RandAugment'},
    {'type': 'SelfTuningRandAugment'},
    {'type': 'RandomCrop', 'size': 40, 'padding': 2},
    {'type': 'RandomFlip'},
]


def dataset(*transforms, count=12, size=8):
    images = torch.randint(256, (count, 3, size, size), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    return TensorImages(images, torch.arange(count), transforms=transforms)


def test_a_pick_looks_alike_in_any_batch():
    data = dataset({'type': 'BatchEach', 'transforms': STRONG}, size=40)
    samples = [SampleIndex(i, 900 + 7 * i) for i in range(12)]
    whole = data.__getitems__(samples)['inputs']
    turned = data.__getitems__(samples[::-1])['inputs'].flip(0)
    alone = torch.stack([data[sample]['inputs'] for sample in samples])
    assert torch.equal(whole, turned)
    assert torch.equal(whole, alone)
    again = data.__getitems__([SampleIndex(i, 5 + i) for i in range(12)])['inputs']
    assert not torch.equal(whole, again)
    twice = data.__getitems__([SampleIndex(3, 1), SampleIndex(3, 2)])['inputs']
    assert not torch.equal(*twice)


def test_each_image_gets_what_the_transform_alone_does():
    data = dataset({'type': 'BatchEach', 'transforms': [{'type': 'RandomFlip'}]})
    flipped = data.__getitems__([SampleIndex(i, 40 + i) for i in range(12)])['inputs']
    for i in range(12):
        seed_draws(40 + i)
        expected = RandomFlip()(data.images[i].permute(1, 2, 0).numpy())
        assert np.array_equal(flipped[i].permute(1, 2, 0).numpy(), expected)
    assert flipped.is_contiguous()


def test_evaluation_leaves_out_what_draws():
    resized = dataset({'type': 'BatchResize', 'size': 5}, {'type': 'BatchRandomFlip', 'prob': 1})
    assert torch.equal(resized[0]['inputs'], BatchResize(5)(resized.images[:1], None)[0])
    steps = [{'type': 'RandomFlip', 'prob': 1}, {'type': 'CenterCrop', 'size': 6}]
    each = dataset({'type': 'BatchEach', 'transforms': steps})
    state = random.getstate()
    assert torch.equal(each[0]['inputs'], each.images[0, :, 1:7, 1:7])
    assert random.getstate() == state


def test_ten_crops_of_tensors():
    data = dataset({'type': 'BatchEach', 'transforms': [{'type': 'TenCrop', 'size': 6}]})
    assert data.__getitems__([0, 1])['inputs'].shape == (2, 10, 3, 6, 6)


def test_a_plain_generator_draws_the_keys():
    each, images = BatchEach([{'type': 'RandomFlip'}]), dataset().images
    one, same = (each(images, torch.Generator().manual_seed(3)) for _ in range(2))
    assert torch.equal(one, same)
    assert not torch.equal(one, each(images, torch.Generator().manual_seed(4)))


@pytest.mark.parametrize('interpolation', ['bilinear', 'bicubic', 'nearest'])
@pytest.mark.parametrize('size', [5, 8, 24])
def test_batch_resize_is_pillows(interpolation, size):
    images = dataset().images[:3]
    ours = BatchResize(size, interpolation)(images, None)
    mode = getattr(Image.Resampling, interpolation.upper())
    for image, resized in zip(images, ours, strict=True):
        theirs = np.array(Image.fromarray(image.permute(1, 2, 0).numpy()).resize((size, size), mode))
        assert np.abs(resized.permute(1, 2, 0).numpy().astype(int) - theirs).max() <= 1


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match='interpolation'):
        BatchResize(8, 'area')
    with pytest.raises(ValueError, match='size'):
        BatchResize(0)
