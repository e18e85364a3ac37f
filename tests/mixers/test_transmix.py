import pytest
import torch
from reference import attention_labels as reference

from openmix_dm.classifiers import MixClassifier
from openmix_dm.mixers import CutMix, Mixup, RandomMixer
from openmix_dm.mixers.transmix import TransMix, attended_share
from openmix_dm.structures import Outputs


def relabelled(batch, attention):
    target, losses = batch.finish(Outputs(torch.zeros(len(attention), 5), attention))
    assert not losses
    return target


CUTMIX = {'type': 'CutMix', 'alpha': 1.0}
VIT = {'type': 'TimmBackbone', 'name': 'vit_tiny_patch16_224', 'img_size': 48, 'options': {'depth': 2}}

DECOUPLED = [{'type': 'DecoupledCE', 'eta': 0.1}, {'type': 'DecoupledBCE'}]


def classifier(mixer, loss=None, backbone=None):
    head = {'type': 'LinearHead', 'num_classes': 5, 'loss': loss or {'type': 'MixedCE'}}
    model = MixClassifier(backbone=backbone or VIT, head=head, mixer=mixer)
    if backbone is None:  # attention and losses that differ between samples
        model.backbone.model.blocks[-1].attn.qkv.weight.data.mul_(20)
        model.head.fc.weight.data.mul_(10)
    return model


@pytest.mark.parametrize('wrapped', ['CutMix', 'SmoothMix', 'GridMix', 'ResizeMix'])
@pytest.mark.parametrize('per_sample', [False, True])
@pytest.mark.parametrize('ratio', [0.0, 0.3, 0.5, 1.0])
def test_lam_equals_the_loop(wrapped, per_sample, ratio):
    mixer = TransMix({'type': wrapped, 'alpha': 1.0, 'per_sample': per_sample}, ratio)
    for size, grid in (((32, 32), (4, 4)), ((9, 14), (3, 5)), ((16, 8), (7, 3))):
        batch = mixer(torch.rand(5, 3, *size), torch.arange(5))
        attention = torch.rand(5, *grid)
        target = relabelled(batch, attention)
        masks = batch.mask.expand(5, 1, *size)
        expected = [reference.transmix_lam(masks[i, 0].tolist(), attention[i].tolist(), ratio) for i in range(5)]
        torch.testing.assert_close(target.lam, torch.tensor(expected))
        assert torch.equal(target.y_b, torch.arange(5)[batch.index])
        if ratio == 0:
            torch.testing.assert_close(target.lam, batch.target.lam)


def test_pixels_and_draws_are_those_of_the_wrapped_mixer():
    inputs, labels = torch.rand(6, 3, 16, 16), torch.arange(6)
    for settings in ({}, {'per_sample': True}, {'partner': 'permutation'}):
        torch.manual_seed(3)
        batch = TransMix({**CUTMIX, **settings})(inputs, labels)
        torch.manual_seed(3)
        plain = CutMix(alpha=1.0, **settings)(inputs, labels)
        assert torch.equal(batch.inputs, plain.inputs)
        assert torch.equal(batch.index, plain.index)
        assert torch.equal(batch.target.lam, plain.target.lam)


def test_labels_follow_the_attention_of_each_sample():
    """The left half is the own image; sample by sample, attention is all left, all right, everywhere, or nowhere."""
    mask = torch.zeros(1, 1, 32, 32)
    mask[..., :16] = 1
    attention = torch.zeros(4, 4, 4)
    attention[0, :, :2], attention[1, :, 2:], attention[2] = 1, 1, 0.125
    assert attended_share(mask, attention).tolist() == [1.0, 0.0, 0.5, 0.5]
    assert attended_share(mask, attention.half()).dtype == torch.float32


def test_a_patch_counts_for_what_it_shows():
    """A box of a quarter of one patch: to the nearest number it would count for all of the patch, or for nothing."""
    mask = torch.ones(1, 1, 8, 8)
    mask[..., :2, :2] = 0
    attention = torch.zeros(1, 2, 2)
    attention[0, 0, 0] = 1
    assert attended_share(mask, attention).item() == 0.75


def test_pair_relabels_too():
    pair = TransMix(CUTMIX, ratio=1.0).pair(torch.ones(3, 3, 8, 8), torch.zeros(3, 3, 8, 8), 0.5)
    attention = pair.inputs.mean(dim=1)  # all attention on the own pixels
    assert pair.lam[0] < 1
    torch.testing.assert_close(pair.after.finish(Outputs(torch.zeros(3, 5), attention)).lam, torch.ones(3))
    torch.testing.assert_close(pair.after.finish(Outputs(torch.zeros(3, 5), 1 - attention)).lam, torch.zeros(3))


@pytest.mark.parametrize(
    ('wrapped', 'said'),
    [
        ({'type': 'Mixup', 'alpha': 1.0}, 'such as CutMix, got Mixup'),
        ({'type': 'ManifoldMix', 'alpha': 1.0}, 'got ManifoldMix'),
        ({'type': 'NoMix'}, 'got NoMix'),
        ({'type': 'TransMix', 'mixer': CUTMIX}, 'got TransMix'),
        ({'type': 'RandomMixer', 'mixers': [CUTMIX]}, 'single one, got RandomMixer'),
        (torch.nn.Identity(), 'got Identity'),
    ],
)
def test_what_has_no_mask_is_refused_at_build(wrapped, said):
    with pytest.raises(ValueError, match=said):
        TransMix(wrapped)


def test_ratio_must_be_a_share():
    for ratio in (-0.1, 1.1, float('nan')):
        with pytest.raises(ValueError, match='ratio'):
            TransMix(CUTMIX, ratio)


def test_building_draws_nothing():
    before = torch.get_rng_state()
    TransMix({'type': 'ResizeMix', 'alpha': 1.0})  # says whether it has a mask only in a trial
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize('name', ['resnet18', 'swin_tiny_patch4_window7_224'])
def test_a_backbone_without_a_class_token_is_refused_at_build(name):
    with pytest.raises(ValueError, match=f'TransMix .* but {name} has no class-token attention: expected a Vision'):
        classifier({'type': 'TransMix', 'mixer': CUTMIX}, backbone={'type': 'TimmBackbone', 'name': name})


def test_a_backbone_of_ours_is_refused_too():
    with pytest.raises(ValueError, match='ThinResNet has no class-token attention'):
        classifier({'type': 'TransMix', 'mixer': CUTMIX}, backbone={'type': 'ThinResNet', 'depth': 8})


def test_the_wrapped_mixer_is_told_everything():
    told = []

    class Listening(CutMix):
        def init_weights(self):
            told.append('init')

        def attach(self, model):
            told.append(model)

        def after_step(self, model):
            told.append(model)

    mixer, model = TransMix(Listening(alpha=1.0)), torch.nn.Identity()
    mixer.init_weights(), mixer.attach(model), mixer.after_step(model)
    assert told == ['init', model, model]
    assert list(mixer.children()) == [mixer.mixer]


@pytest.mark.parametrize('per_sample', [False, True])
def test_the_loss_of_a_step_equals_the_computation_by_hand(per_sample):
    model = classifier({'type': 'TransMix', 'mixer': {**CUTMIX, 'per_sample': per_sample}, 'ratio': 0.7})
    inputs, labels = torch.randn(6, 3, 48, 48), torch.arange(6) % 5
    torch.manual_seed(4)
    loss = model(inputs, labels, mode='loss')['loss_cls']
    torch.manual_seed(4)
    mixed = CutMix(alpha=1.0, per_sample=per_sample)(inputs, labels)
    attention = reference.class_attention(model.backbone.model, mixed.inputs)
    masks = mixed.mask.expand(6, 1, 48, 48)
    lam = [reference.transmix_lam(masks[i, 0].tolist(), attention[i].tolist(), 0.7) for i in range(6)]
    logits, target = model(mixed.inputs), mixed.target
    torch.testing.assert_close(loss, reference.mixed_ce(logits, target.y_a, target.y_b, lam))
    reduced = reference.mixed_ce(logits, target.y_a, target.y_b, [sum(lam) / 6] * 6)
    assert abs(loss - reduced) > 1e-3  # a lam reduced to the batch's would be seen
    assert abs(loss - reference.mixed_ce(logits, target.y_a, target.y_b, target.lam)) > 1e-3  # and one by area too


@pytest.mark.parametrize('loss', DECOUPLED, ids=lambda loss: loss['type'])
def test_decoupled_losses_train_on_it(loss):
    model = classifier({'type': 'TransMix', 'mixer': CUTMIX}, loss)
    inputs, labels = torch.randn(4, 3, 48, 48), torch.arange(4)
    torch.manual_seed(4)
    value = model(inputs, labels, mode='loss')['loss_cls']
    value.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
    assert model.backbone.model.patch_embed.proj.weight.grad.abs().sum() > 0
    torch.manual_seed(4)
    batch = model.mixer(inputs, labels)
    target = relabelled(batch, reference.class_attention(model.backbone.model, batch.inputs))
    torch.testing.assert_close(value, model.head.loss_fn(model(batch.inputs), target))
    assert abs(value - model.head.loss_fn(model(batch.inputs), batch.target)) > 1e-4


def test_the_policy_of_a_mixture_survives():
    mixture = RandomMixer([Mixup(alpha=0.8), TransMix(CUTMIX)], probs=[0.0, 1.0])
    assert mixture.label_from != 'pixels'
    batch = mixture(torch.rand(4, 3, 8, 8), torch.arange(4))
    target = relabelled(batch, torch.rand(4, 2, 2))
    assert (batch.target.policy, target.policy) == (1, 1)
    assert not torch.equal(target.lam, batch.target.lam)
