import random

import numpy as np
import pytest
import torch
from torchvision.transforms import v2

from openmix_dm.datasets import CenterCrop, ImageFolder, RandomCrop, TenCrop

RNG = np.random.default_rng(0)


def picture(height, width):
    return RNG.integers(0, 256, (height, width, 3), dtype=np.uint8)


def test_centre_crop_of_a_smaller_image_pads():
    assert CenterCrop(10)(picture(4, 20)).shape == (10, 10, 3)


@pytest.mark.parametrize(('mode', 'theirs'), [('reflect', 'reflect'), ('constant', 'constant'), ('replicate', 'edge')])
def test_random_crop_shows_every_window_of_the_padded_image(mode, theirs):
    image = picture(5, 6)
    padded = v2.Pad(2, padding_mode=theirs)(torch.from_numpy(image.transpose(2, 0, 1))).permute(1, 2, 0).numpy()
    windows = {padded[y : y + 5, x : x + 5].tobytes() for y in range(5) for x in range(6)}
    random.seed(0)
    assert {RandomCrop(5, padding=2, mode=mode)(image).tobytes() for _ in range(600)} == windows


@pytest.mark.parametrize('shape', [(20, 33), (16, 16), (17, 40)])
def test_ten_crops_are_torchvisions(shape):
    image = picture(*shape)
    ours = TenCrop(16)(image)
    theirs = v2.TenCrop(16)(torch.from_numpy(image.transpose(2, 0, 1)))
    assert ours.shape == (10, 16, 16, 3)
    assert np.array_equal(ours, np.stack([crop.permute(1, 2, 0).numpy() for crop in theirs]))


def test_ten_crops_of_files_make_batches(tmp_path):
    import cv2

    (tmp_path / 'val' / 'a').mkdir(parents=True)
    cv2.imwrite(str(tmp_path / 'val' / 'a' / '0.png'), picture(20, 24))
    data = ImageFolder(str(tmp_path), 'val', transforms=[{'type': 'TenCrop', 'size': 16}])
    assert data[0]['inputs'].shape == (10, 3, 16, 16)
    plain = ImageFolder(str(tmp_path), 'val')[0]['inputs']
    assert torch.equal(data[0]['inputs'][0], plain[:, :16, :16])


@pytest.mark.parametrize('crop', [TenCrop(16), RandomCrop(16)])
def test_a_crop_larger_than_the_image_is_refused(crop):
    with pytest.raises(ValueError, match='16 pixels cannot be cut out of 15 x 20'):
        crop(picture(15, 20))


@pytest.mark.parametrize('settings', [{'size': 0}, {'size': 8, 'padding': -1}, {'size': 8, 'mode': 'mirror'}])
def test_bad_settings_are_refused(settings):
    with pytest.raises(ValueError, match=list(settings)[-1]):
        RandomCrop(**settings)
