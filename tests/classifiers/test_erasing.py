"""Random erasing against timm's loop over images."""

import random

import pytest
import torch
from scipy.stats import ks_2samp, kstest
from timm.data.random_erasing import RandomErasing as Slow

from openmix_dm.classifiers.erasing import RandomErasing

SHAPE = (4000, 1, 24, 36)


def rectangles(erased):
    """Return rows, columns, top and left of what is not zero, for the images that have it."""
    inside = erased[:, 0] != 0
    inside = inside[inside.flatten(1).any(dim=1)]
    rows, columns = inside.any(dim=2), inside.any(dim=1)
    assert torch.equal(inside, rows[:, :, None] & columns[:, None, :])
    return rows.sum(1), columns.sum(1), rows.byte().argmax(1), columns.byte().argmax(1)


@pytest.mark.parametrize(('area', 'aspect'), [((0.02, 1 / 3), (0.3, 1 / 0.3)), ((0.5, 0.9), (0.2, 4.0))])
def test_rectangles_are_distributed_as_timms(area, aspect):
    torch.manual_seed(0)
    ours = rectangles(RandomErasing(prob=0.7, area=area, aspect=aspect)(torch.zeros(SHAPE)))
    random.seed(0)
    slow = Slow(0.7, *area, *aspect, mode='pixel', device='cpu')
    theirs = rectangles(slow(torch.zeros(SHAPE)))
    assert abs(len(ours[0]) - len(theirs[0])) < 4.5 * (2 * 4000 * 0.7 * 0.3) ** 0.5
    for own, other in (*zip(ours, theirs, strict=True), (ours[0] * ours[1], theirs[0] * theirs[1])):
        assert ks_2samp(own.numpy(), other.numpy()).pvalue > 1e-3


def test_noise_is_normal_and_the_rest_is_kept():
    torch.manual_seed(0)
    images = torch.full((64, 3, 32, 32), 7.0)
    erased = RandomErasing(prob=0.5)(images)
    changed = erased != 7
    assert abs(changed.flatten(1).any(dim=1).sum() - 32) < 4.5 * 4
    assert kstest(erased[changed].numpy()[:5000], 'norm').pvalue > 1e-3
    assert (images == 7).all()


@pytest.mark.parametrize(('prob', 'erased'), [(0.0, 0), (1.0, 50)])
def test_probabilities_at_the_ends(prob, erased):
    done = RandomErasing(prob=prob)(torch.zeros(50, 3, 16, 16))
    assert (done.flatten(1) != 0).any(dim=1).sum() == erased


def test_follows_the_seed_and_never_waits_for_the_device():
    images, erase = torch.zeros(16, 3, 8, 8), RandomErasing(prob=1.0)
    torch.manual_seed(5)
    first = erase(images)
    assert not torch.equal(first, erase(images))
    torch.manual_seed(5)
    assert torch.equal(first, erase(images))
    assert erase(torch.empty(4, 3, 8, 8, device='meta')).shape == (4, 3, 8, 8)
    laid_out = images.to(memory_format=torch.channels_last)
    assert erase(laid_out).is_contiguous(memory_format=torch.channels_last)


def test_where_no_rectangle_fits_nothing_is_erased():
    assert not RandomErasing(prob=1.0, area=(1.0, 1.0), aspect=(1.0, 1.0))(torch.zeros(4, 1, 8, 8)).any()


@pytest.mark.parametrize('settings', [{'prob': 1.5}, {'area': (0.5, 0.1)}, {'area': (0.5, 2)}, {'aspect': (0, 1)}])
def test_bad_settings_are_refused(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        RandomErasing(**settings)
