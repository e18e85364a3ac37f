"""The saliency of a batch against OpenCV's stored results and against loops.

The stored file holds uint8 images, RGB or grey, and rint(255 * map) of what
`cv2.saliency.StaticSaliencyFineGrained_create().computeSaliency` of opencv-contrib-python-headless 5.0 makes of each
(of its BGR form): crops of scikit-learn's two photographs, credited there, drawings and noise.
"""

from pathlib import Path

import numpy as np
import pytest
import torch
from reference import saliency as reference

from openmix_dm.mixers.fine_grained_saliency import _levels, fine_grained_saliency

STORED = Path(__file__).parent.parent / 'data' / 'fine_grained_saliency.npz'
EXACT = ['photos_32', 'photos_64', 'photos_96x80', 'photo_224', 'synthetic_33x47', 'noise_8x9', 'grey_40x30']


def stored(name):
    with np.load(STORED) as file:
        return torch.from_numpy(file[name]), torch.from_numpy(file[f'{name}_saliency']).float()


def noise(*shape):
    return torch.randint(256, shape, dtype=torch.uint8)


@pytest.mark.parametrize('name', EXACT)
def test_equals_opencv(name):
    images, expected = stored(name)
    found = fine_grained_saliency(images)
    assert torch.equal(found, expected)
    assert found.flatten(1).argmax(1).tolist() == [int(one.argmax()) for one in expected.numpy()]


def test_keeps_the_peak_where_bytes_of_opencv_overflow():
    """Two pixels differ by one, where OpenCV's sums of corners pass 2^24; one is 259 and not 259 - 256."""
    images, expected = stored('overflow_224')
    found = fine_grained_saliency(images)
    difference = (found % 256 - expected).abs()
    assert difference.max() == 1
    assert (difference > 0).sum() == 2
    peak = found == found.max()
    assert found[peak].tolist() == [259]
    assert expected[peak].tolist() == [3]


@pytest.mark.parametrize('shape', [(2, 3, 3, 3), (2, 3, 9, 14), (2, 1, 8, 61), (1, 3, 40, 27)], ids=str)
def test_equals_the_loop(shape):
    images = noise(*shape)
    expected = np.stack([reference.fine_grained(image) for image in images.numpy()])
    assert torch.equal(fine_grained_saliency(images), torch.from_numpy(expected).float())


def test_images_do_not_see_each_other():
    images = noise(5, 3, 12, 17)
    images[2] //= 8
    alone = torch.cat([fine_grained_saliency(image[None]) for image in images])
    assert torch.equal(fine_grained_saliency(images), alone)


@pytest.mark.parametrize('dtype', [torch.float16, torch.float32, torch.float64], ids=str)
def test_any_dtype_any_layout_and_autocast(dtype):
    images = noise(3, 3, 20, 15)
    expected = fine_grained_saliency(images)
    given = images.to(dtype).contiguous(memory_format=torch.channels_last)
    kept = given.clone()
    with torch.autocast('cpu', dtype=torch.bfloat16):
        found = fine_grained_saliency(given)
    assert found.dtype == torch.float32
    assert torch.equal(found, expected)
    assert torch.equal(given, kept)


def test_values_are_rounded_to_bytes_and_cut_off():
    images = noise(2, 3, 10, 11).float()
    images[0, 0, 0, 0], images[1, 1, 2, 2] = 255, 0
    shaken = images + 0.4 * torch.sign(torch.randn_like(images))
    shaken[0, 0, 0, 0], shaken[1, 1, 2, 2] = 300, -50
    assert torch.equal(fine_grained_saliency(shaken), fine_grained_saliency(images))


def test_levels_in_float32_are_those_of_float64():
    """All whole numbers up to each possible peak: six reaches of 255."""
    peaks, values = torch.arange(1, 1531)[:, None], torch.arange(1531)
    sums = torch.minimum(values, peaks).float()
    expected = ((sums / peaks).double() * 255).floor()
    assert torch.equal(_levels(sums[:, None])[:, 0].double(), expected)


def test_without_contrast_nothing_is_salient():
    assert fine_grained_saliency(torch.full((2, 3, 9, 9), 200.0)).abs().max() == 0


def test_runs_without_values_and_without_a_graph():
    assert fine_grained_saliency(torch.empty(4, 3, 16, 9, device='meta')).shape == (4, 16, 9)
    assert not fine_grained_saliency(torch.rand(1, 3, 8, 8, requires_grad=True)).requires_grad


@pytest.mark.parametrize('shape', [(3, 8, 8), (2, 2, 8, 8), (2, 3, 2, 8), (2, 3, 8, 2)], ids=str)
def test_refuses_other_shapes(shape):
    with pytest.raises(ValueError, match='1 or 3'):
        fine_grained_saliency(torch.zeros(shape))
