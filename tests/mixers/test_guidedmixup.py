import numpy as np
import pytest
import torch
import torch.nn.functional as F
from reference import guided
from support.small_models import batch, classifier

from openmix_dm.analysis.benchmarks import launches
from openmix_dm.mixers import GuidedMixup, NoMix, RandomMixer
from openmix_dm.mixers.guidedmixup import GuidedPairs, blur, gradient_size, greedy_cycle, share_of, spectral_residual
from openmix_dm.semi.terms.mixing import image_mixer


def test_two_pixels():
    """Of maps (3, 1) / 4 and (1, 3) / 4: three quarters of the own image in the first pixel, one in the second."""
    maps = torch.tensor([[[0.75, 0.25]], [[0.25, 0.75]]])
    pair = GuidedMixup().mix(torch.ones(2, 3, 1, 2), GuidedPairs(torch.tensor([1, 0]), maps), 0.9)
    assert pair.mask[0].flatten().tolist() == [0.75, 0.25]
    assert pair.lam.tolist() == [0.5, 0.5]


def test_four_points():
    points = torch.tensor([0.0, 1.0, 2.0, 10.0])
    assert greedy_cycle((points[:, None] - points).abs()).tolist() == [3, 2, 0, 1]


@pytest.mark.parametrize('size', [1, 2, 3, 7, 40])
def test_the_cycle_is_that_of_slow_loops(size):
    for seed in range(5):
        points = torch.randn(size, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        distances = torch.cdist(points, points)
        found = greedy_cycle(distances).tolist()
        assert found == guided.cycle(distances.tolist())
        here, visited = 0, set()
        while here not in visited:
            visited.add(here)
            here = found[here]
        assert len(visited) == size  # one cycle through all: nobody meets itself


@pytest.mark.parametrize('value', [0.0, float('nan')])
def test_without_a_difference_there_is_still_a_cycle(value):
    assert sorted(greedy_cycle(torch.full((6, 6), value)).tolist()) == list(range(6))


@pytest.mark.parametrize('shape', [(3, 8, 8), (3, 9, 14), (3, 3, 2)])
def test_the_spectral_saliency_is_that_of_slow_loops(shape):
    torch.manual_seed(0)
    images = torch.randn(2, *shape)
    expected = [guided.spectral_residual(image.double().numpy()) for image in images]
    found = spectral_residual(images)
    torch.testing.assert_close(found, torch.tensor(np.stack(expected)).float(), rtol=1e-3, atol=1e-4)
    spread = GuidedMixup().measure(images, None, None)
    for each, slow in zip(spread, expected, strict=True):
        blurred = guided.gaussian(slow)
        torch.testing.assert_close(each, torch.tensor(blurred / blurred.sum()).float(), rtol=1e-3, atol=1e-5)


def test_large_images_are_measured_at_128_pixels():
    """By hand: resized, measured, and back; a side that is small enough stays."""
    images = torch.rand(2, 3, 200, 96)
    grey = 0.2989 * images[:, 0] + 0.587 * images[:, 1] + 0.114 * images[:, 2]
    small = F.interpolate(grey[:, None], (128, 96), mode='bilinear', align_corners=False)
    expected = spectral_residual(small.expand(-1, 3, -1, -1) / (0.2989 + 0.587 + 0.114))
    large = F.interpolate(expected[:, None], (200, 96), mode='bilinear', align_corners=False)[:, 0]
    torch.testing.assert_close(spectral_residual(images), large, rtol=1e-3, atol=1e-4)


def test_the_gradient_is_measured_by_its_size_over_channels():
    torch.manual_seed(0)
    model = classifier(GuidedMixup('gradient'))
    inputs, labels = batch()
    found = model.mixer.measure(inputs, labels, model.probe)
    gradient = model.probe.saliency(inputs, labels).double()
    for each, parts in zip(found, gradient, strict=True):
        blurred = guided.gaussian(np.sqrt((parts.numpy() ** 2).mean(axis=0)))
        torch.testing.assert_close(each, torch.tensor(blurred / blurred.sum()).float(), rtol=1e-3, atol=1e-6)


def test_tiny_gradients_are_not_lost():
    tiny = 1e-25 * torch.rand(1, 3, 4, 4)
    torch.testing.assert_close(gradient_size(tiny) * 1e25, (1e25 * tiny).square().sum(dim=1).sqrt())


def test_blurs_keep_what_is_constant():
    torch.testing.assert_close(blur(torch.full((1, 2, 9), 3.0)), torch.full((1, 2, 9), 3.0))


def test_where_nothing_is_salient_both_count_alike():
    nothing = torch.zeros(2)
    assert share_of(nothing, nothing).tolist() == [0.5, 0.5]
    mixed = GuidedMixup()(torch.zeros(4, 3, 8, 8), torch.arange(4))
    assert mixed.target.lam.tolist() == [0.5] * 4


@pytest.mark.parametrize('saliency', ['spectral', 'gradient'])
def test_pixels_are_mixed_by_the_shares_of_saliency(saliency):
    torch.manual_seed(0)
    model = classifier(GuidedMixup(saliency))
    inputs, labels = batch()
    mixed = model.mixer(inputs, labels, model.probe)
    maps = model.mixer.measure(inputs, labels, model.probe)
    assert mixed.index.tolist() == guided.cycle(torch.cdist(maps.flatten(1), maps.flatten(1)).tolist())
    for i, j in enumerate(mixed.index.tolist()):
        share = maps[i] / (maps[i] + maps[j])
        torch.testing.assert_close(mixed.inputs[i], share * inputs[i] + (1 - share) * inputs[j])
        torch.testing.assert_close(mixed.target.lam[i], share.mean())
        assert mixed.target.y_b[i] == labels[j]


def test_one_image_is_mixed_with_itself():
    image = torch.rand(1, 3, 8, 8)
    mixed = GuidedMixup()(image, torch.arange(1))
    torch.testing.assert_close(mixed.inputs, image)
    assert mixed.index.tolist() == [0]


def test_a_given_lam_is_ignored_and_nothing_is_drawn():
    inputs, labels = batch()
    state = torch.get_rng_state()
    plain = GuidedMixup()(inputs, labels)
    for lam in (0.0, 0.9, torch.rand(6)):
        assert torch.equal(GuidedMixup()(inputs, labels, lam=lam).inputs, plain.inputs)
    torch.set_rng_state(state)
    assert torch.equal(GuidedMixup()(inputs, labels).inputs, plain.inputs)
    with pytest.raises(ValueError, match='lam must be in'):
        GuidedMixup()(inputs, labels, lam=1.5)


def test_the_unmixed_images_may_count_too():
    torch.manual_seed(0)
    model = classifier(GuidedMixup('gradient', clean_weight=0.7))
    inputs, labels = batch()
    losses = model.loss(inputs, labels)
    plain = F.cross_entropy(model.head(model.backbone(inputs)), labels)
    torch.testing.assert_close(losses['loss_clean'], 0.7 * plain)
    assert 'loss_clean' not in classifier(GuidedMixup('gradient')).loss(inputs, labels)


def test_it_learns_with_dm_in_a_mixture():
    torch.manual_seed(0)
    model = classifier(RandomMixer([GuidedMixup(), NoMix()]), {'type': 'DecoupledCE', 'eta': 0.1})
    for _ in range(4):
        model.loss(*batch())['loss_cls'].backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


def test_two_streams_can_be_mixed_by_the_spectral_saliency_alone():
    own, other = torch.rand(2, 4, 3, 8, 8)
    pair = image_mixer({'type': 'GuidedMixup'}).pair(own, other, 0.3)
    maps = [GuidedMixup().measure(images, None, None) for images in (own, other)]
    torch.testing.assert_close(pair.mask[:, 0], maps[0] / (maps[0] + maps[1]))
    with pytest.raises(ValueError, match=r"cannot mix across streams: .* take 'spectral'"):
        image_mixer({'type': 'GuidedMixup', 'saliency': 'gradient'})


def test_the_cycle_takes_three_operations_an_image():
    few, many = (launches.count(lambda n=n: launches.mixing(GuidedMixup(), n, 16)) for n in (8, 40))
    assert many.launched - few.launched == 3 * 32
    assert few.trouble == many.trouble == []


@pytest.mark.parametrize(('settings', 'said'), [({'saliency': 'SR'}, 'one of'), ({'clean_weight': -1}, '0 or above')])
def test_mistakes_are_refused(settings, said):
    with pytest.raises(ValueError, match=said):
        GuidedMixup(**settings)
