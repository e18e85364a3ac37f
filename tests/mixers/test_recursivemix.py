import pytest
import torch
from reference import recursive
from support.small_models import batch, classifier

from openmix_dm.classifiers import MixClassifier
from openmix_dm.mixers import Mixup, RandomMixer, RecursiveMix
from openmix_dm.mixers.boxes import Box, Boxes
from openmix_dm.mixers.recursivemix import inside_of_box
from openmix_dm.semi.terms.mixing import image_mixer
from openmix_dm.structures import Outputs


def show(mixer, inputs, labels, classes=5, **options):
    """Let a mixer without a head mix a batch, and remember it."""
    mixed = mixer(inputs, labels, **options)
    target, losses = mixed.finish(Outputs(torch.zeros(len(inputs), classes)))
    assert not losses
    return mixed, target


def boxed(monkeypatch, *boxes):
    drawn = iter(boxes)
    monkeypatch.setattr('openmix_dm.mixers.recursivemix.draw_box', lambda *_: next(drawn))


def test_labels_remember_ever_longer(monkeypatch):
    """Boxes of a quarter of the area, classes 0, 1 and 2 in turn."""
    boxed(monkeypatch, Box(0, 4, 0, 4), Box(4, 8, 2, 6))
    mixer, images = RecursiveMix(omega=0.0), torch.rand(2, 3, 8, 8)
    rows = [show(mixer, images, torch.full((2,), label), classes=3)[1].dense(3)[0].tolist() for label in range(3)]
    assert rows == [[1, 0, 0], [0.25, 0.75, 0], [0.0625, 0.1875, 0.75]]


def test_a_quarter_of_the_area_in_the_middle(monkeypatch):
    mixer = RecursiveMix(omega=0.0)
    show(mixer, torch.zeros(2, 3, 32, 32), torch.arange(2))
    monkeypatch.setattr(torch, 'randint', lambda *_, **__: torch.tensor(16 * 32 + 16))  # the centre
    mixed, target = show(mixer, torch.ones(2, 3, 32, 32), torch.arange(2), lam=0.75)
    assert target.lam.tolist() == [0.75, 0.75]
    old = (mixed.inputs[0, 0] == 0).nonzero()
    assert (old.amin(dim=0).tolist(), old.amax(dim=0).tolist(), len(old)) == ([8, 8], [23, 23], 256)


@pytest.mark.parametrize('sizes', [((6, 8), (6, 8)), ((5, 9), (6, 8)), ((12, 4), (6, 8))], ids=str)
def test_the_batch_before_is_resized_into_the_box(sizes, monkeypatch):
    box = Box(1, 5, 2, 7)
    boxed(monkeypatch, box)
    mixer, (old_size, size) = RecursiveMix(omega=0.0), sizes
    old, images = torch.rand(3, 2, *old_size), torch.rand(3, 2, *size)
    show(mixer, old, torch.arange(3))
    mixed, _ = show(mixer, images, torch.arange(3))
    # of another size, the old images are resized to that of the new ones, and then into the box
    whole = [
        recursive.paste(image, before, (0, size[0], 0, size[1])) for image, before in zip(images, old, strict=True)
    ]
    for i in range(3):
        expected = recursive.paste(images[i].tolist(), torch.tensor(whole[i]).tolist(), box)
        torch.testing.assert_close(mixed.inputs[i], torch.tensor(expected))
    assert torch.equal(mixed.partners, torch.tensor(whole))


def test_what_was_mixed_is_what_is_mixed_in(monkeypatch):
    boxed(monkeypatch, Box(0, 8, 0, 4), Box(0, 4, 0, 8))
    mixer = RecursiveMix(omega=0.0)
    show(mixer, torch.zeros(1, 1, 8, 8), torch.zeros(1, dtype=torch.long))
    second, _ = show(mixer, torch.ones(1, 1, 8, 8), torch.zeros(1, dtype=torch.long))
    third, _ = show(mixer, torch.full((1, 1, 8, 8), 2.0), torch.zeros(1, dtype=torch.long))
    assert torch.equal(third.partners, second.inputs)
    assert third.inputs[0, 0, 0].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert third.inputs[0, 0, 7].tolist() == [2] * 8


def test_boxes_of_each_sample_do_what_one_box_does(monkeypatch):
    box, old, images = Box(2, 7, 1, 8), torch.rand(4, 3, 9, 9), torch.rand(4, 3, 9, 9)
    each = Boxes(*(torch.full((4,), edge) for edge in box))
    boxed(monkeypatch, box, each)
    found = []
    for _ in range(2):
        mixer = RecursiveMix(omega=0.0)
        show(mixer, old, torch.arange(4))
        found.append(show(mixer, images, torch.arange(4)))
    (one, one_target), (other, other_target) = found
    assert torch.equal(one.inputs, other.inputs)
    torch.testing.assert_close(one_target.dense(5), other_target.dense(5))
    maps = torch.randn(4, 3, 5, 3)
    torch.testing.assert_close(inside_of_box(maps, box, 9, 9), inside_of_box(maps, each, 9, 9))


@pytest.mark.parametrize('empty', [Box(3, 3, 0, 8), Box(0, 8, 2, 2)])
def test_a_box_without_pixels_leaves_the_images_as_they_are(empty, monkeypatch):
    boxed(monkeypatch, empty)
    model = classifier({'type': 'RecursiveMix'})
    inputs, labels = batch()
    model.loss(*batch())
    mixed = model.mixer(inputs, labels)
    assert torch.equal(mixed.inputs, inputs)
    assert mixed.target.lam.tolist() == [1] * 6
    assert mixed.finish(Outputs(torch.zeros(6, 5)))[1] == {}


@pytest.mark.parametrize('per_sample', [False, True])
@pytest.mark.parametrize(('before', 'now'), [(6, 4), (4, 6), (1, 3)])
def test_the_common_rows_of_two_batches_are_mixed(before, now, per_sample):
    torch.manual_seed(0)
    model = classifier({'type': 'RecursiveMix', 'alpha': 1.0, 'per_sample': per_sample})
    model.loss(*batch(before))
    inputs, labels = batch(now)
    mixed = model.mixer(inputs, labels, lam=0.5)
    common = min(before, now)
    assert (mixed.target.lam[:common] < 1).all()
    assert (mixed.target.lam[common:] == 1).all()
    assert torch.equal(mixed.inputs[common:], inputs[common:])
    assert torch.equal(mixed.target.y_b[common:], labels[common:])
    torch.testing.assert_close(mixed.target.dense(5).sum(dim=1), torch.ones(now))
    torch.testing.assert_close(mixed.mask.mean(dim=(1, 2, 3)).expand(now), mixed.target.lam)
    losses = model.loss(inputs, labels)
    assert losses['loss_box'].isfinite()


@pytest.mark.parametrize('shape', [(8, 8), (5, 3), (1, 1), (2, 7)])
def test_the_features_of_a_box_are_those_of_slow_loops(shape):
    torch.manual_seed(0)
    maps = torch.randn(2, 3, *shape)
    for _ in range(40):
        (top, bottom), (left, right) = (torch.randperm(33)[:2].sort().values.tolist() for _ in range(2))
        found = inside_of_box(maps, Box(top, bottom, left, right), 32, 32)
        down, across = shape[0] / 32, shape[1] / 32
        for i in range(2):
            for channel in range(3):
                places = maps[i, channel].tolist()
                expected = recursive.roi_align(places, top * down, bottom * down, left * across, right * across)
                assert found[i, channel].item() == pytest.approx(expected, abs=1e-5)


def test_the_losses_are_those_of_slow_loops(monkeypatch):
    torch.manual_seed(0)
    box = Box(2, 8, 0, 5)
    boxed(monkeypatch, box)
    model = classifier({'type': 'RecursiveMix', 'omega': 0.3})
    first = batch()
    model.loss(*first)
    old = model.head(model.backbone(first[0])).tolist()
    inputs, labels = batch()
    losses = model.loss(inputs, labels)
    mixed = model.mixer.history()['images']
    maps = model.backbone.stage2(model.backbone.stage1(mixed))
    said = model.mixer.box_head(inside_of_box(maps, box, 8, 8)).tolist()
    logits = model.head(model.backbone(mixed)).tolist()
    lam = 1 - 30 / 64
    rows = torch.nn.functional.one_hot(labels, 5) * lam + torch.nn.functional.one_hot(first[1], 5) * (1 - lam)
    expected = sum(recursive.soft_ce(z, row) for z, row in zip(logits, rows.tolist(), strict=True)) / 6
    inside = sum(recursive.soft_ce(z, recursive.softmax(before)) for z, before in zip(said, old, strict=True)) / 6
    assert losses['loss_cls'].item() == pytest.approx(expected, rel=1e-4)
    assert losses['loss_box'].item() == pytest.approx(0.3 * (1 - lam) * inside, rel=1e-4)


def test_gradients_flow_through_the_head_and_the_map_and_not_into_the_past():
    torch.manual_seed(0)
    model = classifier({'type': 'RecursiveMix'})
    model.loss(*batch())
    assert model.mixer.rests
    losses = model.loss(*batch())
    losses['loss_box'].backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in model.mixer.parameters())
    assert model.backbone.stage1.weight.grad.abs().sum() > 0
    assert model.head.fc.weight.grad is None
    assert not any(value.requires_grad for value in model.mixer.history().values())


def test_an_epoch_begins_with_an_unmixed_batch():
    model = classifier({'type': 'RecursiveMix'})
    inputs, labels = batch()
    for _ in range(2):
        model.mixer.begin_epoch()
        assert not model.mixer.history()
        mixed = model.mixer(inputs, labels, lam=0.2)
        assert mixed.inputs is inputs
        assert mixed.target.is_pair
        assert mixed.index.tolist() == list(range(6))
        assert set(model.loss(inputs, labels)) == {'loss_cls'}
        assert set(model.loss(inputs, labels)) == {'loss_cls', 'loss_box'}


def test_callers_may_write_into_their_images():
    mixer = RecursiveMix(omega=0.0)
    inputs = torch.ones(2, 3, 8, 8)
    mixed, _ = show(mixer, inputs, torch.arange(2))
    inputs.zero_()
    mixed, _ = show(mixer, inputs, torch.arange(2))
    assert mixed.partners.min() == 1


def test_shares_are_drawn_evenly_up_to_alpha():
    torch.manual_seed(0)
    shares = 1 - RecursiveMix(alpha=0.4, per_sample=True).draw_lam(4000, torch.device('cpu'))
    assert 0 <= shares.min() < 0.01
    assert 0.39 < shares.max() <= 0.4
    assert shares.mean().item() == pytest.approx(0.2, abs=0.01)


def test_half_precision_carries_full_numbers():
    torch.manual_seed(0)
    model = classifier({'type': 'RecursiveMix'})
    for _ in range(3):
        with torch.autocast('cpu', dtype=torch.bfloat16):
            losses = model.loss(*batch())
    assert losses['loss_box'].dtype == torch.float32
    assert {value.dtype for value in model.mixer.history().values()} == {torch.float32}


@pytest.mark.parametrize('loss', [{'type': 'DecoupledCE', 'eta': 0.1}, {'type': 'DecoupledBCE'}], ids=str)
def test_decoupled_losses_are_refused_with_the_reason(loss):
    with pytest.raises(ValueError, match=r'are of more than two classes \(rows_b\), which .* take MixedCE'):
        MixClassifier(
            backbone={'type': 'TinyBackbone'},
            head={'type': 'LinearHead', 'num_classes': 5, 'loss': loss},
            mixer={'type': 'RecursiveMix'},
        )


def vit(name, **mixer):
    return MixClassifier(
        backbone={'type': 'TimmBackbone', 'name': name},
        head={'type': 'LinearHead', 'num_classes': 5, 'loss': {'type': 'MixedCE'}},
        mixer={'type': 'RecursiveMix', **mixer},
    )


@pytest.mark.parametrize('name', ['deit_tiny_patch16_224', 'swin_tiny_patch4_window7_224'])
def test_networks_of_tokens_are_refused_with_the_reason(name):
    with pytest.raises(ValueError, match=r'not specified among tokens: it needs maps .* or omega=0'):
        vit(name)


def test_without_the_loss_tokens_do():
    model = vit('deit_tiny_patch16_224', omega=0.0)
    assert not list(model.mixer.parameters())
    assert not model.mixer.rests


def test_there_are_no_pairs_and_no_head_without_a_model():
    with pytest.raises(ValueError, match=r'cannot mix across streams: .*it has no pairs; take ResizeMix'):
        image_mixer({'type': 'RecursiveMix'})
    mixer, (inputs, labels) = RecursiveMix(), batch()
    show(mixer, inputs, labels)
    with pytest.raises(ValueError, match=r'call attach\(model\) first, or take omega=0'):
        mixer(inputs, labels, lam=0.5).finish(Outputs(torch.zeros(6, 5), map=torch.zeros(6, 4, 2, 2)))


def test_in_a_mixture_it_goes_on_from_its_own_batches():
    model = classifier(RandomMixer([RecursiveMix(omega=0.0), Mixup(1.0)]))
    torch.manual_seed(1)
    policies = []
    for _ in range(6):
        before = model.mixer.history()
        inputs, labels = batch()
        mixed = model.mixer(inputs, labels)
        mixed.finish(Outputs(torch.zeros(6, 5)))
        policies.append(mixed.target.policy)
        assert (model.mixer.history().keys() == before.keys()) or not before
        if mixed.target.policy == 1 and before:
            assert torch.equal(model.mixer.history()['0']['images'], before['0']['images'])
    assert set(policies) == {0, 1}


@pytest.mark.parametrize('wrong', [{'alpha': 1.5}, {'alpha': 0}, {'omega': -0.1}], ids=str)
def test_mistakes_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        RecursiveMix(**wrong)
