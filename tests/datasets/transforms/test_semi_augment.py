"""Each operation against torchvision's tensors or a loop over pixels, and what is drawn for it."""

import random
from collections import Counter

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision.transforms.v2 import functional as TF

from openmix_dm.datasets import FixMatchRandAugment, SelfTuningRandAugment
from openmix_dm.datasets.transforms import rand_augment as semi_augment
from openmix_dm.datasets.transforms.rand_augment import OPERATIONS, cut_square

RNG = np.random.default_rng(0)
PICTURE = np.clip(RNG.normal(110, 50, (16, 20, 3)), 20, 230).astype(np.uint8)
LEVELS = [0.1, 0.35, 0.5, 0.9]
THEIRS = {
    'Identity': lambda image, level: image,
    'AutoContrast': lambda image, level: TF.autocontrast(image),
    'Equalize': lambda image, level: TF.equalize(image),
    'Brightness': lambda image, level: TF.adjust_brightness(image, 0.9 * level + 0.05),
    'Color': lambda image, level: TF.adjust_saturation(image, 0.9 * level + 0.05),
    'Contrast': lambda image, level: TF.adjust_contrast(image, 0.9 * level + 0.05),
    'Sharpness': lambda image, level: TF.adjust_sharpness(image, 0.9 * level + 0.05),
    'Posterize': lambda image, level: TF.posterize(image, {0.1: 4, 0.35: 5, 0.5: 6, 0.9: 7}[level]),
    'Solarize': lambda image, level: TF.solarize(image, {0.1: 231, 0.35: 167, 0.5: 128, 0.9: 26}[level]),
}
SOURCES = {  # where the pixel at (x, y) of the result comes from, pixels being centred at halves
    'ShearX': lambda x, y, value: (x + value * y, y),
    'ShearY': lambda x, y, value: (x, y + value * x),
    'TranslateX': lambda x, y, value: (x + value * 20, y),
    'TranslateY': lambda x, y, value: (x, y + value * 16),
}


def apply(name, level, resample=0):
    return np.array(OPERATIONS[name](Image.fromarray(PICTURE), level, resample))


@pytest.mark.parametrize('level', LEVELS)
@pytest.mark.parametrize('name', THEIRS)
def test_colours_are_torchvisions(name, level):
    theirs = THEIRS[name](torch.from_numpy(PICTURE.transpose(2, 0, 1)), level).permute(1, 2, 0).numpy()
    assert np.abs(apply(name, level).astype(int) - theirs).max() <= (2 if name == 'Sharpness' else 1)


def moved(name, value):
    result = np.zeros_like(PICTURE)
    for y in range(16):
        for x in range(20):
            source_x, source_y = SOURCES[name](x + 0.5, y + 0.5, value)
            if 0 <= source_x < 20 and 0 <= source_y < 16:
                result[y, x] = PICTURE[int(source_y), int(source_x)]
    return result


@pytest.mark.parametrize('level', LEVELS)
@pytest.mark.parametrize('name', SOURCES)
def test_shears_and_shifts_go_both_ways(name, level):
    random.seed(0)
    seen = {apply(name, level).tobytes() for _ in range(20)}
    assert seen == {moved(name, sign * 0.3 * level).tobytes() for sign in (-1, 1)}


def test_rotation_goes_both_ways_up_to_30_degrees():
    random.seed(0)
    image = Image.fromarray(PICTURE)
    assert {apply('Rotate', 0.5).tobytes() for _ in range(20)} == {image.rotate(a).tobytes() for a in (-15, 15)}
    assert apply('Rotate', 0.5, resample=3).tobytes() in {image.rotate(a, 3).tobytes() for a in (-15, 15)}


def test_there_are_the_fourteen_operations():
    assert set(OPERATIONS) == {*THEIRS, *SOURCES, 'Rotate'}


def record(transform, monkeypatch, times):
    """Return which operations a transform applies at which levels."""
    calls = []
    for name in OPERATIONS:
        monkeypatch.setitem(
            semi_augment.OPERATIONS, name, lambda image, level, _, name=name: calls.append((name, level)) or image
        )
    random.seed(0)
    for _ in range(times):
        transform(PICTURE)
    return calls


def test_fixmatch_applies_three_at_any_level(monkeypatch):
    calls = record(FixMatchRandAugment(), monkeypatch, 1400)
    assert len(calls) == 4200
    counts = Counter(name for name, _ in calls)
    assert len(counts) == 14
    assert max(abs(count - 300) for count in counts.values()) < 4.5 * 300**0.5
    levels = np.sort([level for _, level in calls])
    assert np.abs(levels - np.linspace(0, 1, 4200)).max() < 1.95 / 4200**0.5  # Kolmogorov-Smirnov, 0.1 %


def test_fixmatch_levels_stop_at_m(monkeypatch):
    levels = [level for _, level in record(FixMatchRandAugment(n=1, m=5), monkeypatch, 300)]
    assert 0.48 < max(levels) <= 0.5


def test_self_tuning_applies_about_half_at_whole_levels(monkeypatch):
    calls = record(SelfTuningRandAugment(), monkeypatch, 1800)
    assert abs(len(calls) - 1800) < 4.5 * 900**0.5
    counts = Counter(level for _, level in calls)
    assert sorted(counts) == [tenths / 10 for tenths in range(1, 10)]
    assert max(abs(count - 200) for count in counts.values()) < 4.5 * 200**0.5


def test_the_square_is_centred_anywhere_and_clipped():
    random.seed(0)
    white = np.full((30, 40, 3), 255, dtype=np.uint8)
    painted = np.stack([cut_square(white, 8, (1, 2, 3)) for _ in range(3000)]) != 255
    assert (white == 255).all()
    rows, columns = painted[..., 0].any(axis=2).sum(axis=1), painted[..., 0].any(axis=1).sum(axis=1)
    assert rows.max() == columns.max() == 8
    assert np.array_equal(painted[..., 0].sum(axis=(1, 2)), rows * columns)
    # a centre is uniform, so an edge is cut with probability 4 / length each, by 2 pixels on average
    assert abs(rows.mean() - (8 - 2 * (4 / 30) * 2)) < 0.1
    assert abs(columns.mean() - (8 - 2 * (4 / 40) * 2)) < 0.1


@pytest.mark.parametrize(
    ('transform', 'colour', 'largest'),
    [(FixMatchRandAugment, (125, 123, 114), 20), (SelfTuningRandAugment, (127,) * 3, 16)],
)
def test_each_has_its_square(transform, colour, largest, monkeypatch):
    for name in OPERATIONS:
        monkeypatch.setitem(semi_augment.OPERATIONS, name, lambda image, level, resample: image)
    random.seed(0)
    white = np.full((40, 40, 3), 255, dtype=np.uint8)
    cut = np.stack([transform()(white) for _ in range(400)])
    painted = (cut != 255).any(axis=3)
    assert (cut[painted] == colour).all()
    sides = painted.any(axis=2).sum(axis=1)
    assert sides.max() == largest
    assert (sides.min() == 0) == (transform is FixMatchRandAugment)


@pytest.mark.parametrize('transform', [FixMatchRandAugment, SelfTuningRandAugment])
@pytest.mark.parametrize('settings', [{'n': 0}, {'m': 1}, {'m': 11}, {'interpolation': 'area'}])
def test_bad_settings_are_refused(transform, settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        transform(**settings)
