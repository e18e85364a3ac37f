import pytest
import torch
from reference import token_mixers as reference

from openmix_dm.classifiers import MixClassifier
from openmix_dm.mixers import Mixup, RandomMixer, SMMix
from openmix_dm.mixers.smmix import Windows, choose_windows, divergence
from openmix_dm.semi.terms.mixing import image_mixer
from openmix_dm.structures import Outputs

VIT = {
    'type': 'TimmBackbone',
    'name': 'vit_tiny_patch16_224',
    'img_size': 24,
    'options': {'patch_size': 4, 'depth': 2, 'embed_dim': 24, 'num_heads': 2},
}


class Given:
    """A probe that has its answer already, and counts how often it is asked."""

    def __init__(self, attention, logits=None):
        self.attention, self.asked = attention, 0
        self.logits = torch.zeros(len(attention), 5) if logits is None else logits

    def outputs(self, inputs, wants=()):
        assert wants == ('received',)
        self.asked += 1
        return Outputs(self.logits, received=self.attention)


def classifier(mixer=None, loss=None, backbone=None):
    torch.manual_seed(0)
    head = {'type': 'LinearHead', 'num_classes': 5, 'loss': loss or {'type': 'MixedCE'}}
    model = MixClassifier(backbone=backbone or VIT, head=head, mixer=mixer or {'type': 'SMMix'})
    if backbone is None:  # attention and losses that differ between samples
        model.backbone.model.blocks[-1].attn.qkv.weight.data.mul_(20)
        model.head.fc.weight.data.mul_(10)
    return model


def batch(size=6):
    torch.manual_seed(1)
    return torch.randn(size, 3, 24, 24), torch.arange(size) % 5


def with_side(side, rows):
    """The lam that asks for a window of so many patches on a side of a grid."""
    return 1 - side**2 / rows**2


def test_the_attended_block_lands_on_the_first_unattended_window():
    """All attention on rows 2 to 4, columns 5 to 7 of 14 x 14: patches 0 to 2 of both show the partner's block."""
    attention = torch.zeros(4, 14, 14)
    attention[:, 2:5, 5:8] = 1
    images = torch.rand(4, 3, 224, 224)
    mixed = SMMix()(images, torch.arange(4), Given(attention), lam=with_side(3, 14))
    others = images[mixed.index]
    assert torch.equal(mixed.inputs[:, :, :48, :48], others[:, :, 32:80, 80:128])
    changed = (mixed.inputs != images).any(dim=1)
    assert not changed[:, 48:].any()
    assert not changed[:, :, 48:].any()
    torch.testing.assert_close(mixed.target.lam, torch.full((4,), 187 / 196))
    assert mixed.mask[0, 0, :48, :48].max() == 0
    assert mixed.mask.sum() == 4 * (224**2 - 48**2)


@pytest.mark.parametrize('per_sample', [False, True])
@pytest.mark.parametrize('partner', ['shift', 'permutation'])
@pytest.mark.parametrize(
    ('grid', 'size'), [((6, 6), (24, 24)), ((4, 7), (12, 28)), ((5, 3), (17, 20)), ((2, 2), (8, 8))]
)
def test_pixels_are_those_of_slow_loops(grid, size, partner, per_sample):
    torch.manual_seed(0)
    mixer = SMMix(partner=partner, per_sample=per_sample)
    for _ in range(4):
        images, attention = torch.rand(5, 2, *size), torch.rand(5, *grid)
        sides = torch.randint(0, min(grid) + 1, (5,)) if per_sample else torch.randint(0, min(grid) + 1, (1,)).expand(5)
        lam = torch.tensor([with_side(int(side), min(grid)) for side in sides])
        mixed = mixer(images, torch.arange(5), Given(attention), lam=lam if per_sample else lam[0].item())
        for i, j in enumerate(mixed.index.tolist()):
            both = attention[i].tolist(), attention[j].tolist()
            expected, _ = reference.smmix(images[i].tolist(), images[j].tolist(), *both, int(sides[i]))
            assert torch.equal(mixed.inputs[i], torch.tensor(expected))
        torch.testing.assert_close(mixed.mask.mean(dim=(1, 2, 3)), mixed.target.lam)


@pytest.mark.parametrize('side', [1, 2, 3])
def test_of_equal_windows_the_first_in_reading_order_counts(side):
    even = torch.ones(3, 5, 4)
    assert torch.equal(choose_windows(even, side).top, torch.zeros(3, dtype=torch.long))
    late = torch.zeros(1, 5, 4)
    late[0, 3:, 2:] = 1
    window = choose_windows(late, torch.tensor([side]))
    assert (window.top.item(), window.left.item()) == reference.choose_window(late[0].tolist(), side, max)


@pytest.mark.parametrize(('size', 'ends'), [(14, (3, 10)), (7, (1, 5)), (4, (1, 3)), (2, (1, 1)), (1, (0, 0))])
def test_sides_are_drawn_evenly_between_a_quarter_and_three_quarters(size, ends):
    torch.manual_seed(0)
    mixer, device = SMMix(), torch.device('cpu')
    drawn = [mixer.choose_side(mixer.draw_lam(2, device), 2, size, device) for _ in range(2000)]
    counts = torch.tensor([drawn.count(side) for side in range(ends[0], ends[1] + 1)])
    assert counts.sum() == 2000
    assert counts.min() > 0.7 * 2000 / len(counts)
    each = SMMix(per_sample=True).choose_side(mixer.draw_lam(2000, device), 2000, size, device)
    assert (each.min().item(), each.max().item()) == ends
    assert isinstance(drawn[0], int)


def test_windows_move_with_the_attention_of_each_sample():
    attention = torch.zeros(3, 4, 4)
    for i in range(3):
        attention[i, i, i] = 1
    windows = choose_windows(attention, 1)
    assert windows.top.tolist() == windows.left.tolist() == [0, 1, 2]
    spans = Windows(torch.tensor([1]), torch.tensor([0]), 2).spans(8, 4, (2, 1))
    assert spans[0].tolist() == [[0, 0, 1, 1, 1, 1, 0, 0]]
    assert spans[1].tolist() == [[1, 1, 0, 0]]


def by_hand(model, inputs, labels, side, smoothing=0.1):
    """Return what the losses of a step should be, by loops, and the mixed images."""
    with torch.no_grad():
        model.eval()
        with model.backbone.capture_attention('received') as captured:
            clean = model(inputs)
        attention = captured.map
        order = model.mixer(inputs, labels, Given(attention), lam=with_side(side, 6)).index.tolist()
        token_loss = agree_loss = 0.0
        images = []
        for i, j in enumerate(order):
            both = attention[i].tolist(), attention[j].tolist()
            mixed, window = reference.smmix(inputs[i].tolist(), inputs[j].tolist(), *both, side)
            images.append(torch.tensor(mixed))
            tokens = model.backbone.tokens(images[-1][None])[0, 1:].tolist()
            for chosen, label in zip(reference.in_window(window, side, 6, 6), (labels[j], labels[i]), strict=True):
                told = model.mixer.token_head(torch.tensor(reference.mean_token(tokens, chosen)))
                token_loss += reference.smooth_ce(told.tolist(), int(label), smoothing) / 2 / len(order)
            lam = with_side(side, 6)
            wanted = [lam * a + (1 - lam) * b for a, b in zip(clean[i].tolist(), clean[j].tolist(), strict=True)]
            agree_loss += reference.divergence(wanted, model(images[-1][None])[0].tolist()) / len(order)
    return token_loss, agree_loss, torch.stack(images)


@pytest.mark.parametrize('side', [1, 3, 5])
def test_the_losses_are_those_of_slow_loops(side, monkeypatch):
    model, (inputs, labels) = classifier(), batch()
    monkeypatch.setattr(SMMix, 'draw_lam', lambda *_: with_side(side, 6))
    torch.manual_seed(3)
    token_loss, agree_loss, images = by_hand(model, inputs, labels, side)
    torch.manual_seed(3)
    losses = model.loss(inputs, labels)
    assert set(losses) == {'loss_cls', 'loss_tokens', 'loss_agree'}
    assert losses['loss_tokens'].item() == pytest.approx(token_loss, rel=1e-4)
    assert losses['loss_agree'].item() == pytest.approx(agree_loss, rel=1e-4)
    torch.manual_seed(3)
    assert torch.equal(model.mixer(inputs, labels, model.probe).inputs, images)


def test_a_prediction_that_is_the_mixture_of_the_clean_ones_costs_nothing():
    torch.manual_seed(0)
    clean, attention = torch.randn(4, 5), torch.rand(4, 6, 6)
    mixed = SMMix(token_weight=0)(torch.rand(4, 3, 24, 24), torch.arange(4), Given(attention, clean))
    lam = mixed.target.lam[:, None]
    logits = lam * clean + (1 - lam) * clean[mixed.index]
    _, losses = mixed.finish(Outputs(logits + 3.0))  # a shift of all logits is none of the prediction
    assert losses['loss_agree'].item() == pytest.approx(0, abs=1e-6)
    assert mixed.finish(Outputs(clean.flip(1)))[1]['loss_agree'] > 0.05
    assert divergence(clean, clean).item() == pytest.approx(0, abs=1e-7)


def test_gradients_flow_through_the_mixed_pass_alone():
    model, (inputs, labels) = classifier(), batch()
    clean = model.probe.outputs(inputs, ('received',))
    assert not clean.logits.requires_grad
    assert not clean.received.requires_grad
    losses = model.loss(inputs, labels)
    losses['loss_tokens'].backward(retain_graph=True)
    assert all(parameter.grad.abs().sum() > 0 for parameter in model.mixer.parameters())
    assert model.head.fc.weight.grad is None  # the model's own classifier has no part in it
    model.zero_grad()
    losses['loss_agree'].backward()
    assert model.backbone.model.patch_embed.proj.weight.grad.abs().sum() > 0
    assert model.head.fc.weight.grad.abs().sum() > 0
    assert all(parameter.grad is None for parameter in model.mixer.parameters())
    assert not model.mixer.rests


def test_the_gradient_is_that_of_the_mixed_images_with_constants_for_the_rest():
    """The targets of the clean pass as constants, and the mixed pass by hand: the gradients are the same."""
    model, (inputs, labels) = classifier({'type': 'SMMix', 'token_weight': 0.0}), batch()
    torch.manual_seed(2)
    sum(model.loss(inputs, labels).values()).backward()
    found = {name: value.grad.clone() for name, value in model.named_parameters()}
    model.zero_grad()
    torch.manual_seed(2)
    mixed = model.mixer(inputs, labels, model.probe)
    with torch.no_grad():
        clean = model(inputs)
    lam = mixed.target.lam[:, None]
    wanted = (lam * clean + (1 - lam) * clean[mixed.index]).softmax(dim=1)
    said = model(mixed.inputs).log_softmax(dim=1)
    rows = mixed.target.dense(5)
    ((wanted * (wanted.log() - said)).sum(dim=1) - (rows * said).sum(dim=1)).mean().backward()
    for name, value in model.named_parameters():
        torch.testing.assert_close(found[name], value.grad, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize('lam', [0.0, 1.0])
def test_a_region_without_patches_has_no_loss(lam):
    """With all of the partner, or nothing of it, one of the two mean tokens is of nothing."""
    model, (inputs, labels) = classifier(), batch()
    mixed = model.mixer(inputs, labels, model.probe, lam=lam)
    assert torch.equal(mixed.inputs, inputs if lam else inputs[mixed.index])
    tokens = torch.randn(6, 36, 24)
    _, losses = mixed.finish(Outputs(torch.zeros(6, 5), tokens=tokens))
    told = model.mixer.token_head(tokens.mean(dim=1))
    shown = labels if lam else labels[mixed.index]
    expected = torch.nn.functional.cross_entropy(told, shown, label_smoothing=0.1) / 2
    torch.testing.assert_close(losses['loss_tokens'], expected)


def test_one_pass_over_the_unmixed_images_gives_all_that_is_needed():
    probe = Given(torch.rand(4, 6, 6))
    SMMix()(torch.rand(4, 3, 24, 24), torch.arange(4), probe)
    assert probe.asked == 1


def test_lam_of_each_sample_reaches_the_loss_unreduced():
    model, (inputs, labels) = classifier({'type': 'SMMix', 'per_sample': True}), batch()
    torch.manual_seed(4)
    loss = model.loss(inputs, labels)['loss_cls']
    torch.manual_seed(4)
    mixed = model.mixer(inputs, labels, model.probe)
    lam, nll = mixed.target.lam, -model(mixed.inputs).log_softmax(dim=1)
    assert len(lam.unique()) > 2
    rows = torch.arange(6)

    def weighed(by):
        return (by * nll[rows, mixed.target.y_a] + (1 - by) * nll[rows, mixed.target.y_b]).mean()

    torch.testing.assert_close(loss, weighed(lam))
    assert abs(loss - weighed(lam.mean())) > 1e-3


def test_weights_scale_the_losses_and_zero_leaves_them_out():
    inputs, labels = batch()

    def losses(**weights):
        model = classifier({'type': 'SMMix', **weights})
        torch.manual_seed(2)
        return model, model.loss(inputs, labels)

    _, whole = losses()
    _, scaled = losses(token_weight=0.5, agree_weight=3.0)
    torch.testing.assert_close(scaled['loss_tokens'], 0.5 * whole['loss_tokens'])
    torch.testing.assert_close(scaled['loss_agree'], 3 * whole['loss_agree'])
    model, alone = losses(token_weight=0.0, agree_weight=0.0)
    assert set(alone) == {'loss_cls'}
    assert not list(model.mixer.parameters())
    assert model.mixer(inputs, labels, model.probe).after is None


@pytest.mark.parametrize('loss', [{'type': 'DecoupledCE', 'eta': 1.0}, {'type': 'DecoupledBCE'}], ids=str)
def test_decoupled_losses_train_on_it(loss):
    model, (inputs, labels) = classifier(loss=loss), batch()
    torch.manual_seed(2)
    losses = model.loss(inputs, labels)
    sum(losses.values()).backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())
    torch.manual_seed(2)
    mixed = model.mixer(inputs, labels, model.probe)
    torch.testing.assert_close(losses['loss_cls'], model.head.loss_fn(model(mixed.inputs), mixed.target))


def test_half_precision_loses_in_full_numbers():
    model, (inputs, labels) = classifier(), batch()
    with torch.autocast('cpu', dtype=torch.bfloat16):
        losses = model.loss(inputs, labels)
    assert {value.dtype for value in losses.values()} == {torch.float32}


@pytest.mark.parametrize(
    ('backbone', 'name'),
    [
        ({'type': 'ThinResNet', 'depth': 8}, 'ThinResNet'),
        ({'type': 'TimmBackbone', 'name': 'resnet18'}, 'resnet18'),
        ({'type': 'TimmBackbone', 'name': 'swin_tiny_patch4_window7_224'}, 'swin_tiny_patch4_window7_224'),
    ],
)
@pytest.mark.parametrize('weight', [0.0, 1.0])
def test_a_backbone_without_attention_is_refused_at_build(backbone, name, weight):
    said = rf'SMMix takes windows .* but {name} has no class-token attention: expected'
    with torch.device('meta'), pytest.raises(ValueError, match=said):
        classifier({'type': 'SMMix', 'token_weight': weight}, backbone=backbone)


def test_there_are_no_pairs_and_no_head_without_a_model():
    with pytest.raises(ValueError, match=r'cannot mix across streams: .*it has no pairs, for which take CutMix'):
        image_mixer({'type': 'SMMix'})
    with pytest.raises(ValueError, match='needs labels and a model'):
        SMMix()(torch.rand(2, 3, 8, 8), torch.arange(2))
    mixed = SMMix()(torch.rand(2, 3, 8, 8), torch.arange(2), Given(torch.rand(2, 4, 4)))
    with pytest.raises(ValueError, match=r'call attach\(model\) first, or take token_weight=0'):
        mixed.finish(Outputs(torch.zeros(2, 5), tokens=torch.zeros(2, 16, 8)))


def test_the_head_is_made_once_and_rests_in_a_mixture():
    model = classifier({'type': 'RandomMixer', 'mixers': [{'type': 'Mixup', 'alpha': 0.8}, {'type': 'SMMix'}]})
    head = model.mixer.policies[1].token_head
    assert (head.in_features, head.out_features) == (24, 5)
    model.init_weights()
    assert model.mixer.policies[1].token_head is head
    assert model.mixer.rests
    assert not model.mixer.classifiers()
    inputs, labels = batch()
    keys = {tuple(model.loss(inputs, labels)) for _ in range(12)}
    assert keys == {('loss_cls',), ('loss_cls', 'loss_tokens', 'loss_agree')}
    assert isinstance(model.mixer, RandomMixer)
    assert isinstance(model.mixer.policies[0], Mixup)


@pytest.mark.parametrize(
    'wrong',
    [{'sides': (0.8, 0.2)}, {'sides': (0.2, 1.2)}, {'sides': 0.5}, {'token_weight': -1}, {'agree_weight': float('nan')},
     {'label_smoothing': 1.5}],
    ids=str,
)  # fmt: skip
def test_mistakes_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SMMix(**wrong)
