import pytest
import torch
from reference import token_mixers as reference

from openmix_dm.classifiers import MixClassifier
from openmix_dm.mixers import CutMix, MixPro, RandomMixer
from openmix_dm.mixers.mixpro import agreement
from openmix_dm.mixers.transmix import TransMix
from openmix_dm.semi.terms.mixing import image_mixer
from openmix_dm.structures import Outputs

VIT = {
    'type': 'TimmBackbone',
    'name': 'vit_tiny_patch16_224',
    'img_size': 24,
    'options': {'patch_size': 4, 'depth': 2, 'embed_dim': 24, 'num_heads': 2},
}
MIXPRO = {'type': 'MixPro', 'cell_size': 8}


def classifier(mixer=None, loss=None, backbone=None):
    torch.manual_seed(0)
    head = {'type': 'LinearHead', 'num_classes': 5, 'loss': loss or {'type': 'MixedCE'}}
    model = MixClassifier(backbone=backbone or VIT, head=head, mixer=mixer or MIXPRO)
    if backbone is None:  # attention and losses that differ between samples
        model.backbone.model.blocks[-1].attn.qkv.weight.data.mul_(20)
        model.head.fc.weight.data.mul_(10)
    return model


def batch(size=6):
    torch.manual_seed(1)
    return torch.randn(size, 3, 24, 24), torch.arange(size) % 5


def relabelled(mixed, attention, logits):
    target, losses = mixed.finish(Outputs(logits, attention))
    assert not losses
    return target.lam


def five_of_sixteen(mixer=None):
    """224 px, cells of 56, lam 0.3: five of sixteen cells, and the patches of 14 px that they are of."""
    mixed = (mixer or MixPro(label_smoothing=0.0))(torch.rand(3, 3, 224, 224), torch.arange(3), lam=0.3)
    return mixed, mixed.mask[:, 0, ::14, ::14]


def test_a_lam_of_three_tenths_shows_five_cells_of_sixteen():
    mixed, patches = five_of_sixteen()
    assert mixed.target.lam.tolist() == [0.3125] * 3
    cells = mixed.mask[:, 0, ::56, ::56]
    assert cells.sum(dim=(1, 2)).tolist() == [5] * 3
    assert torch.equal(cells.repeat_interleave(56, 1).repeat_interleave(56, 2), mixed.mask[:, 0])
    assert torch.equal(cells.repeat_interleave(4, 1).repeat_interleave(4, 2), patches)


def test_even_attention_leaves_the_share_of_the_pixels_whatever_the_prediction():
    mixed, _ = five_of_sixteen()
    for logits in (torch.zeros(3, 5), torch.randn(3, 5) * 10):
        torch.testing.assert_close(relabelled(mixed, torch.ones(3, 16, 16), logits), torch.full((3,), 0.3125))
    nothing = relabelled(mixed, torch.zeros(3, 16, 16), torch.randn(3, 5))
    torch.testing.assert_close(nothing, torch.full((3,), 0.3125))


def test_attention_counts_as_far_as_the_prediction_agrees():
    """All attention on own cells: with a prediction that is the label lam is 1, with one of a third class the area."""
    mixed, patches = five_of_sixteen()
    agreeing = mixed.target.dense(5).clamp(min=1e-30).log()
    torch.testing.assert_close(relabelled(mixed, patches, agreeing), torch.ones(3))
    elsewhere = torch.full((3, 5), -1e4)
    elsewhere[:, 4] = 0
    assert relabelled(mixed, patches, elsewhere).tolist() == [0.3125] * 3
    torch.testing.assert_close(relabelled(mixed, 1 - patches, agreeing), torch.zeros(3))


def test_the_label_that_is_compared_with_is_smoothed():
    rows = torch.tensor([[1.0, 0.0, 0.0, 0.0]])
    smoothed = torch.tensor([[0.925, 0.025, 0.025, 0.025]])
    assert agreement(rows, smoothed.log(), 0.1).item() == pytest.approx(1)
    assert agreement(rows, rows.clamp(min=1e-30).log(), 0.1).item() == pytest.approx(0.925 / smoothed.norm().item())
    assert agreement(rows, torch.tensor([[-1e4, 0, -1e4, -1e4]]), 0.0).item() == 0


@pytest.mark.parametrize('per_sample', [False, True])
@pytest.mark.parametrize('partner', ['shift', 'permutation'])
@pytest.mark.parametrize(
    ('size', 'patch', 'cell'), [((24, 24), 4, 8), ((24, 36), 4, 8), ((28, 20), 4, 8), ((6, 8), 2, 2)]
)
def test_lam_is_that_of_slow_loops(size, patch, cell, partner, per_sample):
    """Images that are no whole number of cells too: there the last ones are cut off."""
    torch.manual_seed(0)
    mixer = MixPro(cell_size=cell, partner=partner, per_sample=per_sample)
    for _ in range(4):
        images, labels = torch.rand(5, 2, *size), torch.randint(5, (5,))
        mixed = mixer(images, labels)
        attention = torch.rand(5, size[0] // patch, size[1] // patch)
        logits = 3 * torch.randn(5, 5)
        for i, (lam, other) in enumerate(zip(relabelled(mixed, attention, logits), mixed.index.tolist(), strict=True)):
            parts = mixed.mask[i, 0].tolist(), attention[i].tolist(), logits[i].tolist()
            expected = reference.mixpro_lam(*parts, int(labels[i]), int(labels[other]), 0.1)
            assert lam.item() == pytest.approx(expected, abs=1e-5)
            area = sum(map(sum, parts[0])) / size[0] / size[1]
            assert mixed.target.lam[i].item() == pytest.approx(area)


@pytest.mark.parametrize('lam', [0.0, 0.2, 0.5, 0.51, 1.0, torch.tensor([0.0, 0.2, 0.5, 1.0])], ids=str)
def test_as_many_cells_as_lam_asks_for_rounded_up(lam):
    mixed = MixPro(cell_size=4)(torch.rand(4, 3, 20, 8), torch.arange(4), lam=lam)
    each = lam.tolist() if isinstance(lam, torch.Tensor) else [lam] * 4
    wanted = {0.0: 0, 0.2: 2, 0.5: 5, 0.51: 6, 1.0: 10}
    assert (mixed.target.lam * 10).round().tolist() == [wanted[round(value, 2)] for value in each]


def test_every_sample_has_cells_of_its_own_and_all_cells_have_the_same_chance():
    torch.manual_seed(0)
    mask = MixPro(cell_size=4).draw_cells(0.3, 16, 16, 4000, torch.device('cpu'))
    cells = mask[:, 0, ::4, ::4]
    assert len(cells.flatten(1).unique(dim=0)) > 2000
    assert (cells.mean(dim=0) - 5 / 16).abs().max() < 0.03


def test_the_loss_of_a_step_equals_the_computation_by_hand():
    model, (inputs, labels) = classifier(), batch()
    torch.manual_seed(4)
    losses = model.loss(inputs, labels)
    torch.manual_seed(4)
    mixed = model.mixer(inputs, labels)
    attention = model.backbone.attention(mixed.inputs)  # of the mixed images
    logits, target = model(mixed.inputs), mixed.target
    lam = torch.tensor(
        [
            reference.mixpro_lam(
                mixed.mask[i, 0].tolist(), attention[i].tolist(), logits[i].tolist(), target.y_a[i], target.y_b[i], 0.1
            )
            for i in range(6)
        ]
    )
    nll, rows = -logits.log_softmax(dim=1), torch.arange(6)

    def weighed(by):
        return (by * nll[rows, target.y_a] + (1 - by) * nll[rows, target.y_b]).mean()

    assert set(losses) == {'loss_cls'}
    torch.testing.assert_close(losses['loss_cls'], weighed(lam))
    assert abs(losses['loss_cls'] - weighed(lam.mean())) > 1e-3  # a lam reduced to the batch's would be seen
    assert abs(losses['loss_cls'] - weighed(target.lam)) > 1e-3  # and one by area too
    assert abs(losses['loss_cls'] - weighed(attention_alone(mixed, attention))) > 1e-3


def attention_alone(mixed, attention):
    own = mixed.mask[:, 0, ::4, ::4]
    return (own * attention).sum(dim=(1, 2)) / attention.sum(dim=(1, 2))


def test_lam_gets_no_gradient():
    mixed = MixPro(cell_size=4)(torch.rand(3, 3, 16, 16), torch.arange(3))
    logits = torch.randn(3, 5, requires_grad=True)
    assert not relabelled(mixed, torch.rand(3, 4, 4), logits).requires_grad


@pytest.mark.parametrize('loss', [{'type': 'DecoupledCE', 'eta': 0.1}, {'type': 'DecoupledBCE'}], ids=str)
def test_decoupled_losses_train_on_it(loss):
    model, (inputs, labels) = classifier(loss=loss), batch()
    torch.manual_seed(4)
    value = model.loss(inputs, labels)['loss_cls']
    value.backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())
    torch.manual_seed(4)
    mixed = model.mixer(inputs, labels)
    logits = model(mixed.inputs)
    target, _ = mixed.finish(Outputs(logits, model.backbone.attention(mixed.inputs)))
    torch.testing.assert_close(value, model.head.loss_fn(logits, target))
    assert abs(value - model.head.loss_fn(logits, mixed.target)) > 1e-4


def test_half_precision_weighs_in_full_numbers():
    model, (inputs, labels) = classifier(), batch()
    found = []
    per_sample = model.head.loss_fn.per_sample
    model.head.loss_fn.per_sample = lambda logits, target: found.append(target.lam) or per_sample(logits, target)
    with torch.autocast('cpu', dtype=torch.bfloat16):
        loss = model.loss(inputs, labels)['loss_cls']
    assert loss.dtype == found[0].dtype == torch.float32


@pytest.mark.parametrize(
    ('backbone', 'name'),
    [
        ({'type': 'ThinResNet', 'depth': 8}, 'ThinResNet'),
        ({'type': 'TimmBackbone', 'name': 'resnet18'}, 'resnet18'),
        ({'type': 'TimmBackbone', 'name': 'swin_tiny_patch4_window7_224'}, 'swin_tiny_patch4_window7_224'),
    ],
)
def test_a_backbone_without_attention_is_refused_at_build_unless_labels_go_by_pixels(backbone, name):
    said = rf'MixPro takes labels .* but {name} has no class-token attention: expected'
    with torch.device('meta'), pytest.raises(ValueError, match=said):
        classifier({'type': 'MixPro'}, backbone=backbone)
    with torch.device('meta'):
        model = classifier({'type': 'MixPro', 'by_attention': False}, backbone=backbone)
    assert model.mixer.label_from == 'pixels'


@pytest.mark.parametrize(('cell', 'nearest'), [(6, 8), (9, 8), (1, 4), (2, 4)])
def test_cells_that_cut_patches_are_refused_at_build_with_the_nearest(cell, nearest):
    with pytest.raises(ValueError, match=rf'cells of {cell} pixels cut the patches of 4 .* take cell_size={nearest}$'):
        classifier({'type': 'MixPro', 'cell_size': cell})


def test_patches_of_sixteen_take_cells_of_64():
    backbone = {'type': 'TimmBackbone', 'name': 'vit_tiny_patch16_224', 'options': {'depth': 1, 'embed_dim': 24}}
    with pytest.raises(ValueError, match='take cell_size=64'):
        classifier({'type': 'MixPro'}, backbone=backbone)
    classifier({'type': 'MixPro', 'cell_size': 64}, backbone=backbone)


def test_by_pixels_it_is_a_grid_and_nothing_more():
    inputs, labels = batch()
    mixed = MixPro(cell_size=8, by_attention=False)(inputs, labels)
    assert mixed.after is None
    torch.testing.assert_close(mixed.target.lam, mixed.mask.mean(dim=(1, 2, 3)))


def test_two_streams_are_mixed_by_the_grid():
    pair = MixPro(cell_size=4).pair(torch.ones(3, 3, 8, 8), torch.zeros(3, 3, 8, 8), 0.5)
    assert pair.after is None
    assert pair.lam.tolist() == [0.5] * 3
    assert torch.equal(pair.inputs[:, :1], pair.mask)
    image_mixer({'type': 'MixPro', 'cell_size': 4, 'by_attention': False})
    with pytest.raises(ValueError, match='MixPro leaves work to the network'):
        image_mixer({'type': 'MixPro', 'cell_size': 4})


def test_attention_twice_is_refused():
    with pytest.raises(ValueError, match='got MixPro'):
        TransMix(MixPro())
    TransMix(MixPro(cell_size=4, by_attention=False))


def test_in_a_mixture_the_policy_survives():
    mixture = RandomMixer([CutMix(alpha=1.0), MixPro(cell_size=4)], probs=[0.0, 1.0])
    mixed = mixture(torch.rand(4, 3, 8, 8), torch.arange(4))
    target, _ = mixed.finish(Outputs(torch.randn(4, 5), torch.rand(4, 2, 2)))
    assert (mixed.target.policy, target.policy) == (1, 1)
    assert not list(mixture.parameters())


@pytest.mark.parametrize('wrong', [{'cell_size': 0}, {'label_smoothing': -0.1}], ids=str)
def test_mistakes_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        MixPro(**wrong)
