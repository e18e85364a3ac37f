import pytest
import torch
from mmengine.optim import OptimWrapper
from support.small_models import HalfByAttention, HiddenDouble, batch, classifier

from openmix_dm.losses import DecoupledCE
from openmix_dm.mixers import CutMix
from openmix_dm.structures import MixTarget


def test_loss_is_mixer_backbone_head_and_loss_in_a_row():
    model = classifier({'type': 'CutMix', 'alpha': 1.0}, {'type': 'DecoupledCE', 'eta': 1.0}).eval()
    inputs, labels = batch()
    torch.manual_seed(3)
    losses = model(inputs, labels, mode='loss')
    torch.manual_seed(3)
    mixed = CutMix(alpha=1.0)(inputs, labels)
    logits = model.head.fc(model.backbone(mixed.inputs))
    assert list(losses) == ['loss_cls']
    torch.testing.assert_close(losses['loss_cls'], DecoupledCE(eta=1.0)(logits, mixed.target))


def test_prediction_does_not_mix():
    model = classifier({'type': 'Mixup', 'alpha': 1.0}).eval()
    inputs, labels = batch()
    logits = model(inputs)
    (prediction,) = model(inputs, labels, mode='predict')
    assert torch.equal(prediction['logits'], logits)
    assert torch.equal(prediction['labels'], labels)
    torch.testing.assert_close(logits, model.head(model.backbone(inputs)))


def test_logits_of_crops_are_averaged():
    model = classifier({'type': 'Mixup', 'alpha': 1.0}).eval()
    inputs, labels = batch()
    crops = torch.stack([inputs, inputs.flip(-1), inputs * 0.5], dim=1)
    (prediction,) = model(crops, labels, mode='predict')
    one_by_one = [model(crops[:, i]) for i in range(3)]
    torch.testing.assert_close(prediction['logits'], sum(one_by_one) / 3)
    assert torch.equal(prediction['labels'], labels)


def test_crops_of_bytes_pass_through_the_preprocessor_in_any_layout():
    model = classifier().eval()
    crops = torch.randint(256, (2, 10, 3, 8, 8), dtype=torch.uint8)
    data = {'inputs': crops, 'labels': torch.tensor([0, 1])}
    (plain,) = model.val_step(data)
    model.data_preprocessor.memory_format = torch.channels_last
    (laid_out,) = model.val_step(data)
    assert plain['logits'].shape == (2, model.head.num_classes)
    torch.testing.assert_close(plain['logits'], laid_out['logits'])


def test_hidden_mixing_is_done_at_its_stage_and_nowhere_after():
    model = classifier(HiddenDouble(alpha=1.0)).eval()
    inputs, labels = batch()
    losses = model(inputs, labels, mode='loss')
    hooks = model.backbone.stage1._forward_hooks
    doubled = model.backbone.stage2(2 * model.backbone.stage1(inputs)).mean(dim=(2, 3))
    expected = model.head.loss(doubled, MixTarget.hard(labels))
    torch.testing.assert_close(losses['loss_cls'], expected['loss_cls'])
    assert not hooks


def test_hidden_mixing_is_undone_after_an_error():
    model = classifier(HiddenDouble(alpha=1.0))
    with pytest.raises(RuntimeError):
        model(torch.randn(2, 7, 8, 8), torch.zeros(2, dtype=torch.long), mode='loss')
    assert not model.backbone.stage1._forward_hooks


def test_a_mixers_own_losses_join_in():
    model = classifier(HiddenDouble(alpha=1.0))
    losses = model(*batch(), mode='loss')
    total, logged = model.parse_losses(losses)
    torch.testing.assert_close(total, losses['loss_cls'] + 1.0)
    assert set(logged) == {'loss', 'loss_cls', 'loss_mixer'}


def test_labels_follow_the_attention_of_the_same_forward():
    model = classifier(HalfByAttention(alpha=1.0)).eval()
    inputs, labels = torch.rand(6, 3, 8, 8), torch.arange(6) % 5
    torch.manual_seed(1)
    losses = model(inputs, labels, mode='loss')
    torch.manual_seed(1)
    mixed = model.mixer(inputs, labels)
    target = MixTarget(labels, mixed.target.y_b, inputs.mean(dim=(1, 2, 3)))
    torch.testing.assert_close(losses['loss_cls'], model.head.loss(model.backbone(inputs), target)['loss_cls'])


def test_every_parameter_learns_in_one_step():
    model = classifier({'type': 'Mixup', 'alpha': 1.0}, {'type': 'DecoupledCE', 'eta': 0.1})
    before = {name: value.clone() for name, value in model.named_parameters()}
    wrapper = OptimWrapper(torch.optim.SGD(model.parameters(), lr=0.1))
    data = {'inputs': torch.randint(256, (6, 3, 8, 8), dtype=torch.uint8), 'labels': torch.arange(6) % 5}
    logged = model.train_step(data, wrapper)
    assert logged['loss'].isfinite()
    unchanged = [name for name, value in model.named_parameters() if torch.equal(value, before[name])]
    assert unchanged == ['backbone.stage1.bias'] or not unchanged  # a bias before batch norm has no effect


def test_bad_calls_are_refused():
    model = classifier()
    with pytest.raises(ValueError, match='labels'):
        model(torch.randn(2, 3, 8, 8), mode='loss')
    with pytest.raises(ValueError, match="got 'losses'"):
        model(*batch(), mode='losses')
