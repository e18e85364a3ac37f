import pytest
import torch
import torch.nn.functional as F
from support.small_models import batch, classifier

from openmix_dm.mixers import RandomMixer, SnapMix
from openmix_dm.mixers.boxes import Box, Boxes
from openmix_dm.mixers.partner import Shift
from openmix_dm.mixers.snapmix import evidence, paste_crop, paste_crops, share_inside
from openmix_dm.semi.terms.mixing import image_mixer

LEFT, RIGHT = Box(0, 8, 0, 4), Box(0, 8, 4, 8)


class Maps:
    """A probe that gives fixed class maps."""

    def __init__(self, maps):
        self.maps = maps

    def class_map(self, inputs, labels):
        return self.maps


def mixed_with(boxes, maps, monkeypatch):
    """Mix two images by given boxes, the own one first, and given maps of 8 x 8 places."""
    drawn = iter(boxes)
    monkeypatch.setattr('openmix_dm.mixers.snapmix.draw_box', lambda *_: next(drawn))
    return SnapMix()(torch.randn(2, 3, 8, 8), torch.arange(2), Maps(maps)).target


def half(place):
    maps = torch.zeros(8, 8)
    maps[:, place.left : place.right] = 1
    return maps


@pytest.mark.parametrize(
    ('own', 'partner', 'weights'),
    [(LEFT, RIGHT, (0.0, 1.0)), (RIGHT, LEFT, (1.0, 0.0)), (RIGHT, RIGHT, (1.0, 1.0)), (LEFT, LEFT, (0.0, 0.0))],
    ids=['all cut, all brought', 'none cut, none brought', 'none cut, all brought', 'all cut, none brought'],
)
def test_weights_are_the_evidence_left_and_brought(own, partner, weights, monkeypatch):
    """The own box is the left half and the crop the right one; evidence is all in one half."""
    target = mixed_with([LEFT, RIGHT], torch.stack([half(own), half(partner)]), monkeypatch)
    assert target.lam[0].item() == pytest.approx(weights[0], abs=1e-6)
    assert target.lam_b[0].item() == pytest.approx(weights[1], abs=1e-6)


def test_flat_maps_count_as_spread_evenly(monkeypatch):
    target = mixed_with([Box(0, 4, 0, 4), Box(0, 8, 0, 4)], torch.ones(2, 8, 8), monkeypatch)
    torch.testing.assert_close(target.lam, torch.full((2,), 0.75))
    torch.testing.assert_close(target.lam_b, torch.full((2,), 0.5))


@pytest.mark.parametrize('empty', [Box(3, 3, 0, 8), Box(0, 8, 2, 2)])
def test_without_a_box_or_a_crop_nothing_is_mixed(empty, monkeypatch):
    for boxes in ([LEFT, empty], [empty, LEFT]):
        target = mixed_with(boxes, torch.rand(2, 8, 8), monkeypatch)
        assert target.lam.tolist() == [1, 1]
        assert target.lam_b.tolist() == [0, 0]


def test_the_crop_is_resized_into_the_box():
    images = torch.rand(3, 2, 9, 7)
    crop, box = Box(1, 6, 2, 5), Box(3, 9, 0, 7)
    mixed = paste_crop(images, Shift(1), crop, box)
    for i in range(3):
        other = images[(i + 1) % 3]
        for row in range(9):
            for column in range(7):
                inside = row >= 3
                y, x = 1 + (row - 3) * 4 / 5, 2 + column * 2 / 6
                expected = bilinear(other, y, x) if inside else images[i, :, row, column]
                torch.testing.assert_close(mixed[i, :, row, column], expected, rtol=1e-4, atol=1e-5)


def bilinear(image, y, x):
    top, left = int(y), int(x)
    bottom, right = min(top + 1, image.shape[1] - 1), min(left + 1, image.shape[2] - 1)
    above = image[:, top, left] * (1 - (x - left)) + image[:, top, right] * (x - left)
    below = image[:, bottom, left] * (1 - (x - left)) + image[:, bottom, right] * (x - left)
    return above * (1 - (y - top)) + below * (y - top)


def test_boxes_of_each_sample_do_what_one_box_does():
    images = torch.rand(11, 3, 12, 10)
    crop, box = Box(1, 7, 2, 9), Box(4, 12, 0, 3)
    each = [Boxes(*(torch.full((11,), edge) for edge in place)) for place in (crop, box)]
    together = paste_crop(images, Shift(2), crop, box)
    torch.testing.assert_close(paste_crops(images, images, torch.arange(11).roll(-2), *each), together)


def test_evidence_is_the_class_map_of_the_label():
    """By hand: the classifier's weights of the class, over the places of the last map, above its least place."""
    torch.manual_seed(0)
    model = classifier(SnapMix()).eval()
    inputs, labels = batch()
    places = model.backbone.stage2(model.backbone.stage1(inputs)).relu()
    for i, spread in enumerate(evidence(inputs, labels, model.probe)):
        weights = model.head.fc.weight[labels[i]]
        expected = sum(weights[k] * places[i, k] for k in range(4))
        expected = expected - expected.min()
        torch.testing.assert_close(spread, expected / expected.sum(), rtol=1e-4, atol=1e-6)


def test_small_maps_are_resized_to_the_image():
    maps = torch.rand(2, 3, 5)
    spread = evidence(torch.zeros(2, 3, 9, 10), torch.arange(2), Maps(maps))
    large = F.interpolate(maps[:, None], (9, 10), mode='bilinear', align_corners=False)[:, 0]
    large = large - large.amin(dim=(1, 2), keepdim=True)
    torch.testing.assert_close(spread, large / large.sum(dim=(1, 2), keepdim=True))
    boxes = Boxes(*(torch.full((2,), edge) for edge in (2, 5, 1, 10)))
    torch.testing.assert_close(share_inside(spread, boxes), spread[:, 2:5, 1:10].sum(dim=(1, 2)))


def test_batches_that_are_not_mixed_are_as_they_were():
    inputs, labels = batch()
    mixed = SnapMix(prob=0.0)(inputs, labels)
    assert mixed.inputs is inputs
    assert mixed.target.lam.tolist() == [1] * 6
    assert mixed.target.lam_b.tolist() == [0] * 6


def test_the_loss_weighs_each_sample_by_its_own_two_weights(monkeypatch):
    torch.manual_seed(0)
    model = classifier(SnapMix())
    inputs, labels = batch()
    mixed = model.mixer(inputs, labels, model.probe)
    monkeypatch.setattr(model.mixer, 'forward', lambda *_: mixed)
    loss = model.loss(inputs, labels)['loss_cls']
    logits = model.head(model.backbone(mixed.inputs))
    target = mixed.target
    of_a, of_b = (F.cross_entropy(logits, y, reduction='none') for y in (target.y_a, target.y_b))
    torch.testing.assert_close(loss, (target.lam * of_a + target.lam_b * of_b).mean())
    assert (target.lam + target.lam_b - 1).abs().max() > 0.01


def test_a_mixture_knows_that_its_labels_may_be_no_pairs():
    assert RandomMixer([SnapMix(), SnapMix()]).label_fields == {'lam_b'}
    with pytest.raises(ValueError, match='cannot mix across streams'):
        image_mixer({'type': 'SnapMix'})
