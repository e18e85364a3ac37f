import random
from contextlib import suppress

import numpy as np
import pytest
from PIL import Image
from timm.data.auto_augment import rand_augment_transform

from openmix_dm.datasets import RandAugment

RNG = np.random.default_rng(0)
PICTURE = RNG.integers(0, 256, (12, 14, 3), dtype=np.uint8)


def seed(number):
    random.seed(number)
    np.random.seed(number)


def timms(policy):
    settings = {'img_mean': (124, 116, 104), 'interpolation': Image.Resampling.BICUBIC}
    return np.array(rand_augment_transform(policy, settings)(Image.fromarray(PICTURE)))


@pytest.mark.parametrize('policy', ['rand-m9-mstd0.5-inc1', 'rand-m6-mstd0.5-inc1', 'rand-m9-n4-p1-mstd0.5-inc1'])
def test_is_timms_and_survives_what_timm_does_not(policy):
    """Timm's pixels for the same draws; where Pillow refuses to keep 0 bits, ours goes on."""
    ours, compared = RandAugment(policy), 0
    for number in range(300):
        seed(number)
        done = ours(PICTURE)
        assert (done.shape, done.dtype) == (PICTURE.shape, np.uint8)
        assert done.flags.writeable
        seed(number)
        with suppress(ValueError):
            compared += 1 if np.array_equal(done, timms(policy)) else 1000
    assert 200 < compared <= 300


def test_no_bit_left_is_black():
    """Magnitude 10 keeps none; timm's own raises there under Pillow 13."""
    black = RandAugment('rand-m10-n1-p1-inc1')
    (operation,) = [op for op in black._augment.ops if op.name == 'PosterizeIncreasing']
    assert not np.array(operation(Image.fromarray(PICTURE))).any()


def test_interpolation_and_fill_reach_timm():
    turned = RandAugment('rand-m9-n1-p1', interpolation='nearest', fill=(1, 2, 3))
    (operation,) = [op for op in turned._augment.ops if op.name == 'Rotate']
    assert operation.kwargs == {'fillcolor': (1, 2, 3), 'resample': Image.Resampling.NEAREST}
    drawn = RandAugment(interpolation='random')._augment.ops[0].kwargs['resample']
    assert drawn == (Image.Resampling.BILINEAR, Image.Resampling.BICUBIC)


@pytest.mark.parametrize('policy', ['m9-mstd0.5', 'rand-m9-mst0.5', 'rand-m9-inc', 'rand-m9-tbest', 'rand-9', ''])
def test_unknown_policies_are_refused(policy):
    with pytest.raises(ValueError, match='policy must be'):
        RandAugment(policy)


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match='interpolation'):
        RandAugment(interpolation='area')
    with pytest.raises(ValueError, match='fill'):
        RandAugment(fill=(1, 2))
