"""Ranges of the operations: timm's by timm's own functions, FixMatch's by the numbers of its paper."""

import random

import numpy as np
import pytest
from timm.data.auto_augment import LEVEL_TO_ARG, rand_augment_choices

from openmix_dm.datasets.transforms.augment_levels import FIXMATCH, TIMM, TIMM_INCREASING
from openmix_dm.datasets.transforms.batch_affine import MATRICES
from openmix_dm.datasets.transforms.batch_colours import BLENDS, TABLES
from openmix_dm.datasets.transforms.batch_rand_augment import TIMM_OPERATIONS

MAGNITUDES = np.linspace(0, 12, 241)  # mmax12 goes beyond the range
RANGES = {  # at no and at full level
    'Posterize': (4, 8),
    'Solarize': (256, 0),
    'Rotate': (0, 30),
    **dict.fromkeys(('Brightness', 'Color', 'Contrast', 'Sharpness'), (0.05, 0.95)),
    **dict.fromkeys(('ShearX', 'ShearY', 'TranslateX', 'TranslateY'), (0, 0.3)),
}


def name_of(timms):
    return timms.removesuffix('Increasing').removesuffix('Rel')


@pytest.mark.parametrize('increasing', [False, True])
@pytest.mark.parametrize('sign', [-1, 1])
def test_arguments_are_timms(increasing, sign, monkeypatch):
    monkeypatch.setattr(random, 'random', lambda: 0.9 if sign < 0 else 0.1)  # timm negates above 1/2
    compared = 0
    for name in rand_augment_choices('', increasing):
        if LEVEL_TO_ARG[name] is not None:
            ours = (TIMM_INCREASING if increasing else TIMM)[name_of(name)](MAGNITUDES / 10, np.full(241, sign))
            theirs = [LEVEL_TO_ARG[name](magnitude, {})[0] for magnitude in MAGNITUDES.tolist()]
            assert np.array_equal(ours, theirs), name
            compared += 1
    assert compared == 12


def test_there_are_timms_operations_and_all_can_be_done():
    for increasing in (False, True):
        assert {name_of(name) for name in rand_augment_choices('', increasing)} == set(TIMM_OPERATIONS)
    assert {'Identity', *TABLES, *MATRICES, *BLENDS} == set(TIMM) == set(TIMM_INCREASING)
    assert len(TABLES) + len(MATRICES) + len(BLENDS) == 15


def test_fixmatchs_ranges():
    assert len(FIXMATCH) == 14
    for name, (none, full) in RANGES.items():
        assert FIXMATCH[name](0.0, 1) == pytest.approx(none)
        assert FIXMATCH[name](1.0, 1) == pytest.approx(full)
        middle = FIXMATCH[name](np.array([0.5, 0.5]), np.array([-1, 1]))
        expected = np.full(2, (none + full) / 2) * ([-1, 1] if none == 0 else [1, 1])
        np.testing.assert_allclose(middle, expected)
    assert set(FIXMATCH) - set(RANGES) == {'Identity', 'AutoContrast', 'Equalize'}
