"""AutoMix and SAMix beside a model: who learns from what, and what the model gets."""

import pytest
import torch
from support.mixer_examples import AnyModel
from support.small_models import batch, classifier

from openmix_dm.classifiers import MixClassifier
from openmix_dm.losses.functional import mixed_ce
from openmix_dm.mixers import AutoMix, SAMix
from openmix_dm.structures import MixTarget

BOTH = pytest.mark.parametrize('kind', ['AutoMix', 'SAMix'])


def model_with(kind='AutoMix', loss=None, **settings):
    torch.manual_seed(0)
    return classifier({'type': kind, 'stage': 'stage1', **settings}, loss)


def attached(kind=AutoMix, **settings):
    torch.manual_seed(0)
    mixer = kind(stage='stage2', **settings)
    mixer.attach(AnyModel())
    return mixer


def with_gradient(module):
    return [name for name, parameter in module.named_parameters() if parameter.grad is not None]


# ---- who learns ----


@BOTH
def test_the_losses_of_the_block_reach_the_block_alone(kind):
    model = model_with(kind)
    losses = model.loss(*batch())
    assert set(losses) == {'loss_cls', 'loss_block', 'loss_mask', 'loss_clean'}
    (losses['loss_block'] + losses['loss_mask']).backward()
    assert with_gradient(model.mixer.block) == [name for name, _ in model.mixer.block.named_parameters()]
    assert not with_gradient(model.backbone)
    assert not with_gradient(model.head)
    assert not with_gradient(model.mixer.network)


@BOTH
def test_the_losses_of_the_model_reach_the_model_alone(kind):
    model = model_with(kind)
    losses = model.loss(*batch())
    (losses['loss_cls'] + losses['loss_clean']).backward()
    assert not with_gradient(model.mixer)
    assert len(with_gradient(model.backbone)) == len(list(model.backbone.parameters()))


def test_block_and_model_learn_from_independent_draws(monkeypatch):
    mixer = attached(alpha=1.0)
    seen = []
    monkeypatch.setattr(mixer, 'draw_mask', lambda *args: seen.append(args) or AutoMix.draw_mask(mixer, *args))
    inputs, labels = torch.rand(8, 3, 8, 8), torch.arange(8)
    lams, pairs = [], []
    for _ in range(30):
        mixed = mixer(inputs, labels)
        (own, other, lam, _), (again, third, lam_block, _) = seen[-2:]
        assert torch.equal(own, again)  # one pass for the features of both draws
        assert torch.equal(lam, mixed.target.lam)
        lams.append((lam[0].item(), lam_block[0].item()))
        pairs.append(torch.equal(other, third))
    model_lam, block_lam = torch.tensor(lams).T
    assert not (model_lam == block_lam).any()
    assert abs(torch.corrcoef(torch.stack((model_lam, block_lam)))[0, 1]) < 0.5
    assert 0 < sum(pairs) < 15  # one of seven shifts by chance


def test_a_given_lam_is_the_models_alone():
    mixer = attached()
    torch.manual_seed(1)
    low = mixer(torch.rand(8, 3, 8, 8), torch.arange(8), lam=0.3)
    torch.manual_seed(1)
    high = mixer(torch.rand(8, 3, 8, 8), torch.arange(8), lam=0.6)
    assert (low.target.lam == 0.3).all()
    assert torch.equal(low.losses['loss_block'], high.losses['loss_block'])


def test_dm_changes_the_models_loss_on_mixed_images_and_nothing_else():
    inputs, labels = batch()
    results = []
    for loss in ({'type': 'MixedCE'}, {'type': 'DecoupledCE', 'eta': 1.0}):
        model = model_with(loss=loss)
        torch.manual_seed(3)
        results.append(model.loss(inputs, labels))
    plain, decoupled = results
    assert decoupled['loss_cls'] > plain['loss_cls']
    for name in ('loss_block', 'loss_mask', 'loss_clean'):
        assert torch.equal(plain[name], decoupled[name])


def test_the_block_is_judged_by_the_momentum_network():
    """Recompute loss_block from the draw, with a mask loss that is off."""
    model = model_with(mask_weight=0.0)
    mixer, (inputs, labels) = model.mixer, batch()
    with torch.no_grad():
        for parameter in mixer.network.parameters():
            parameter.mul_(2)  # unlike the model
    own = mixer.features(inputs)
    torch.manual_seed(5)
    losses = mixer.learn(inputs, labels, own)
    torch.manual_seed(5)
    lam = mixer.draw_lam(6, inputs.device)
    step = int(torch.randint(1, 6, ()))
    other = inputs.roll(-step, 0)
    mask = mixer.draw_mask(own, mixer.features(other), torch.full((6,), lam), inputs)
    logits = mixer.network(mask * inputs + (1 - mask) * other)
    expected = mixed_ce(logits, labels, labels.roll(-step, 0), torch.full((6,), lam)).mean()
    torch.testing.assert_close(losses['loss_block'], expected)
    assert losses['loss_mask'] == 0


def test_the_clean_branch_is_the_loss_on_the_batch_as_it_was():
    model, (inputs, labels) = model_with(clean_weight=0.5), batch()
    torch.manual_seed(0)
    losses = model.loss(inputs, labels)
    expected = model.head.loss(model.backbone(inputs), MixTarget.hard(labels))['loss_cls']
    torch.testing.assert_close(losses['loss_clean'], 0.5 * expected)
    assert 'loss_clean' not in model_with(clean_weight=0.0).loss(inputs, labels)


def test_evaluation_learns_nothing():
    mixer = attached().eval()
    before = {name: value.clone() for name, value in mixer.state_dict().items()}
    assert mixer(torch.rand(4, 3, 8, 8), torch.arange(4)).losses == {}
    assert all(torch.equal(before[name], mixer.state_dict()[name]) for name in before)
    with torch.no_grad():
        assert mixer.train()(torch.rand(4, 3, 8, 8), torch.arange(4)).losses == {}


# ---- masks ----


@pytest.mark.parametrize('lam', [0.0, 0.05, 0.08, 0.95, 1.0])
def test_near_the_ends_the_model_sees_mixup(lam):
    inputs = torch.rand(6, 3, 8, 8)
    mixed = attached()(inputs, torch.arange(6), lam=lam)
    torch.testing.assert_close(mixed.inputs, lam * inputs + (1 - lam) * inputs[mixed.index])
    assert not torch.allclose(attached()(inputs, torch.arange(6), lam=0.3).mask, torch.tensor(0.3), atol=0.05)


def test_adjusted_masks_follow_the_lam_of_their_own_batch():
    inputs, labels = torch.rand(6, 3, 8, 8), torch.arange(6)
    for per_sample in (False, True):
        mixed = attached(mask_adjust=1.0, per_sample=per_sample)(inputs, labels)
        torch.testing.assert_close(mixed.mask.mean(dim=(1, 2, 3)), mixed.target.lam)
    mixer = attached(mask_adjust=0.3, lam_margin=0.0)
    torch.manual_seed(0)
    adjusted = 0
    for _ in range(100):
        mixed = mixer(inputs, labels, lam=0.2)
        adjusted += torch.allclose(mixed.mask.mean(dim=(1, 2, 3)), mixed.target.lam)
    assert 15 < adjusted < 45


def test_masks_are_enlarged_from_the_grid_of_the_features():
    inputs, labels = torch.rand(3, 3, 8, 12), torch.arange(3)
    mixed = attached(lam_margin=0.0)(inputs, labels, lam=0.5)
    cells = mixed.mask.unfold(2, 2, 2).unfold(3, 2, 2)
    assert torch.equal(cells, cells[..., :1, :1].expand_as(cells))
    smooth = attached(SAMix, lam_margin=0.0)(inputs, labels, lam=0.5).mask.unfold(2, 2, 2).unfold(3, 2, 2)
    assert not torch.equal(smooth, smooth[..., :1, :1].expand_as(smooth))


def timm(name, size=None, **options):
    return {'type': 'TimmBackbone', 'name': name, 'img_size': size, 'options': options}


SMALL_VIT = {'depth': 3, 'embed_dim': 24}
SMALL_SWIN = {'embed_dim': 24, 'depths': (1, 1, 1, 1), 'window_size': 2}
RESNEXT = {'type': 'CifarResNet', 'depth': 50, 'groups': 32, 'width_per_group': 4}


@pytest.mark.parametrize(
    ('backbone', 'stage', 'size', 'grid'),
    [
        ({'type': 'ThinResNet', 'depth': 8}, 'stage2', 16, (8, 8)),
        ({'type': 'CifarResNet', 'depth': 18}, 'stage3', 16, (4, 4)),
        pytest.param(RESNEXT, 'stage3', 16, (4, 4), marks=pytest.mark.slow),
        ({'type': 'WideResNet', 'depth': 10, 'widen_factor': 1}, 'stage2', 16, (8, 8)),
        (timm('resnet18'), 'stage3', 64, (4, 4)),
        (timm('vit_tiny_patch16_224', 32, **SMALL_VIT), 'block2', 32, (2, 2)),
        (timm('deit_tiny_distilled_patch16_224', 48, **SMALL_VIT), 'block2', 48, (3, 3)),
        (timm('swin_tiny_patch4_window7_224', 64, **SMALL_SWIN), 'stage3', 64, (4, 4)),
        (timm('convnext_atto'), 'stage2', 64, (8, 8)),
    ],
    ids=lambda value: value.get('name', value['type']) if isinstance(value, dict) else None,
)
def test_every_family_of_backbones_gives_features(backbone, stage, size, grid):
    torch.manual_seed(0)
    head = {'type': 'LinearHead', 'num_classes': 5, 'loss': {'type': 'MixedCE'}}
    model = MixClassifier(backbone, head, {'type': 'AutoMix', 'stage': stage})
    inputs, labels = torch.randn(3, 3, size, size), torch.arange(3)
    assert model.mixer.features(inputs).shape[-2:] == grid
    losses = model.loss(inputs, labels)
    sum(losses.values()).backward()
    assert with_gradient(model.mixer.block)
    # each place of the map belongs to its place in the image: what changes in a quarter changes most there
    changed = inputs.clone()
    changed[:, :, : size // 4, -size // 4 :] += 3
    with torch.no_grad():
        network = model.mixer.network.eval().backbone
        moved = (network.feature_map(changed, stage) - network.feature_map(inputs, stage)).abs().sum(dim=(0, 1))
    rows, columns = grid[0] // 2, grid[1] // 2
    quarters = [moved[:rows, :columns], moved[:rows, -columns:], moved[-rows:, :columns], moved[-rows:, -columns:]]
    assert max(range(4), key=lambda i: quarters[i].sum()) == 1


# ---- refused when the model is built ----


def test_a_stage_that_the_backbone_does_not_have_is_refused():
    with pytest.raises(ValueError, match="expected one of stage1, stage2, got 'stage3'"):
        classifier({'type': 'AutoMix'})


def test_a_grid_of_one_place_is_refused():
    head = {'type': 'LinearHead', 'num_classes': 5, 'loss': {'type': 'MixedCE'}}
    backbone = {'type': 'TimmBackbone', 'name': 'vit_tiny_patch16_224', 'img_size': 16, 'options': {'depth': 1}}
    with pytest.raises(ValueError, match='several places'):
        MixClassifier(backbone, head, {'type': 'AutoMix', 'stage': 'block1'})
    with pytest.raises(ValueError, match='several places'):
        attached()(torch.rand(2, 3, 2, 2), torch.arange(2))


def test_a_stage_without_a_map_is_refused():
    model = AnyModel()
    model.backbone.stage2 = torch.nn.Sequential(
        model.backbone.stage2, torch.nn.AdaptiveAvgPool2d(2), torch.nn.Flatten(2)
    )
    with pytest.raises(ValueError, match='no feature map'):
        AutoMix(stage='stage2').attach(model)


def test_a_model_without_backbone_and_a_mixer_without_model_are_refused():
    with pytest.raises(ValueError, match='backbone and a head, got Linear'):
        AutoMix().attach(torch.nn.Linear(2, 2))
    with pytest.raises(ValueError, match='attach'):
        SAMix()(torch.rand(2, 3, 8, 8), torch.arange(2))


@pytest.mark.parametrize(
    ('kind', 'settings'),
    [
        (AutoMix, {'momentum': 1.2}),
        (AutoMix, {'momentum': 0.99, 'momentum_end': 0.9}),
        (AutoMix, {'mask_weight': -1.0}),
        (AutoMix, {'lam_margin': 0.6}),
        (AutoMix, {'mask_adjust': 2.0}),
        (AutoMix, {'clean_weight': -1.0}),
        (AutoMix, {'init_std': 0.0}),
        (SAMix, {'lam_gain': -0.5}),
        (SAMix, {'dropout': 1.5}),
    ],
)
def test_impossible_values_are_refused(kind, settings):
    with pytest.raises(ValueError, match=list(settings)[-1]):
        kind(**settings)


# ---- the momentum network ----


def test_the_momentum_network_follows_along_the_schedule():
    model = model_with(momentum=0.9, momentum_end=1.0)
    model.mixer.begin(2)
    start = model.mixer.network.head.fc.bias.clone()
    with torch.no_grad():
        model.head.fc.bias.fill_(start.max() + 10)
    towards = model.head.fc.bias.detach()
    for share in (0.1, 0.05, 0.0, 0.0):
        expected = torch.lerp(model.mixer.network.head.fc.bias, towards, share)
        model.mixer.after_step(model)
        torch.testing.assert_close(model.mixer.network.head.fc.bias, expected)


def test_the_momentum_network_starts_from_the_loaded_weights(monkeypatch):
    model = model_with()
    block = model.mixer.block
    monkeypatch.setattr(type(model.backbone), 'init_weights', lambda self: torch.nn.init.ones_(self.stage1.weight))
    model.init_weights()
    assert (model.mixer.network.backbone.stage1.weight == 1).all()
    assert model.mixer.block is block


def test_the_whole_state_is_in_the_state_dict():
    model, other = model_with(), model_with()
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
    model.mixer.begin(5)
    for _ in range(2):
        sum(model.loss(*batch()).values()).backward()
        optimizer.step()
        model.mixer.after_step(model)
    other.load_state_dict(model.state_dict())
    other.mixer.begin(5)
    inputs, labels = batch()
    results = []
    for each in (model, other):
        torch.manual_seed(1)
        results.append(each.loss(inputs, labels))
        each.mixer.after_step(each)
    assert all(torch.equal(results[0][name], results[1][name]) for name in results[0])
    assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), other.state_dict().values(), strict=True))
