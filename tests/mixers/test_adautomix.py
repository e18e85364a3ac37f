"""AdAutoMix: known answers, who learns from what in which step, and what becomes of three images."""

import pytest
import torch
from reference import adautomix as reference
from support.mixer_examples import AnyModel
from support.small_models import batch, classifier

from openmix_dm.mixers import AdAutoMix
from openmix_dm.mixers.automix.adautomix import Group, likeness
from openmix_dm.mixers.automix.block import GroupMixBlock
from openmix_dm.mixers.partner import Shift

COUNTS = pytest.mark.parametrize('count', [2, 3])


def model_with(loss=None, **settings):
    torch.manual_seed(0)
    return classifier({'type': 'AdAutoMix', 'stage': 'stage1', **settings}, loss)


def attached(**settings):
    torch.manual_seed(0)
    mixer = AdAutoMix(stage='stage2', **{'init_std': 0.7, **settings})
    mixer.attach(AnyModel())
    return mixer


def strong(block, std=5.0):
    """Weights large enough for the attention to choose places."""
    torch.manual_seed(1)
    for parameter in block.parameters():
        torch.nn.init.normal_(parameter, std=std)
    return block


def learned(model, seed=3):
    """The losses of the block alone, by name, and the gradient that they give it."""
    torch.manual_seed(seed)
    losses = {key: value for key, value in model.loss(*batch()).items() if key in ('loss_block', 'loss_cosine')}
    parameters = list(model.mixer.block.parameters())
    return losses, torch.autograd.grad(sum(losses.values()), parameters)


# ---- masks ----


@COUNTS
@pytest.mark.parametrize('lam_channel', [False, True])
def test_the_block_equals_the_loops(count, lam_channel):
    torch.manual_seed(0)
    maps = [torch.randn(2, 5, 2, 3, dtype=torch.float64) for _ in range(count)]
    weights = [torch.rand(2, dtype=torch.float64) for _ in range(count)]
    block = strong(GroupMixBlock(5, lam_channel), 0.7).double()
    expected = [reference.scores(block, [m[i] for m in maps], [w[i] for w in weights]) for i in range(2)]
    torch.testing.assert_close(block(maps, weights), torch.stack(expected))


@pytest.mark.parametrize('upsampling', ['bilinear', 'nearest'])
@COUNTS
def test_the_models_images_equal_the_loops(count, upsampling):
    """Features, masks and mixed images of a whole batch that is not square, with partners by two or three shifts."""
    mixer = attached(images=count, upsampling=upsampling).eval()
    mixer.block = strong(mixer.block)
    inputs, lam = torch.rand(4, 3, 8, 12), 0.4
    group = Group(
        (Shift(1), Shift(3))[: count - 1], torch.full((4,), lam), (torch.full((4,), 1 / (count - 1)),) * (count - 1)
    )
    mixer.draw_group = lambda partner, lam, inputs: group
    found = mixer(inputs, torch.arange(4), lam=lam)
    features = mixer.features(inputs)
    for i in range(4):
        rows = [i, (i + 1) % 4, (i + 3) % 4][:count]
        weights = [lam, *[(1 - lam) / (count - 1)] * (count - 1)]
        masks = reference.masks(reference.scores(mixer.block, features[rows], weights), (8, 12), upsampling)
        torch.testing.assert_close(found.mask[i], masks[:1])
        torch.testing.assert_close(found.inputs[i], reference.mixed(inputs[rows], masks))


@COUNTS
def test_a_block_of_zeros_takes_the_mean_of_the_images(count):
    mixer = attached(images=count)
    for parameter in mixer.block.parameters():
        torch.nn.init.zeros_(parameter)
    inputs = torch.rand(6, 3, 8, 8)
    weights = [torch.full((6,), 0.2)] * count
    masks = mixer.draw_masks([mixer.features(inputs)] * count, weights, inputs)
    torch.testing.assert_close(masks, torch.full((6, count, 8, 8), 1 / count))
    mixer.draw_group = lambda partner, lam, inputs: Group(
        (Shift(1), Shift(2))[: count - 1], torch.full((6,), lam), (torch.full((6,), 1 / (count - 1)),) * (count - 1)
    )
    mixed = mixer.eval()(inputs, torch.arange(6), lam=0.3)
    expected = torch.stack([inputs.roll(-step, 0) for step in range(count)]).mean(dim=0)
    torch.testing.assert_close(mixed.inputs, expected)


@COUNTS
def test_masks_sum_to_one(count):
    mixer, inputs = attached(images=count), torch.rand(5, 3, 9, 14)
    mixer.block = strong(mixer.block)
    maps = [mixer.features(inputs).roll(step, 0) for step in range(count)]
    masks = mixer.draw_masks(maps, [torch.rand(5)] * count, inputs)
    torch.testing.assert_close(masks.sum(dim=1), torch.ones(5, 9, 14))
    assert masks.std(dim=(2, 3)).min() > 0.01


@pytest.mark.parametrize('lam', [0.0, 0.03, 0.98, 1.0])
@COUNTS
def test_near_the_ends_the_model_sees_mixup(count, lam):
    """Of three images, too: OpenMixup has that test the wrong way round."""
    inputs, labels = torch.rand(6, 3, 8, 8), torch.arange(6)
    mixed = attached(images=count)(inputs, labels, lam=lam)
    others = inputs[mixed.index] if count == 2 else mixed.partners
    torch.testing.assert_close(mixed.inputs, lam * inputs + (1 - lam) * others)
    each = attached(images=count)(inputs, labels, lam=torch.full((6,), lam))
    assert torch.equal(each.mask, torch.full((6, 1, 8, 8), lam))
    inside = attached(images=count)(inputs, labels, lam=0.3).mask
    assert not torch.allclose(inside, torch.tensor(0.3), atol=0.01)


# ---- the block's losses ----


@COUNTS
@pytest.mark.parametrize('step', [0, 1])
def test_the_losses_equal_the_loops(count, step):
    mixer = attached(images=count, beta=0.4)
    mixer.network.eval()
    mixer.progress.step = step
    inputs, labels = torch.rand(4, 3, 8, 8), torch.tensor([3, 1, 4, 1])
    torch.manual_seed(5)
    drawn = []
    draw = mixer.draw_group
    mixer.draw_group = lambda *args: drawn.append(draw(*args)) or drawn[-1]
    losses = mixer(inputs, labels).losses
    of_model, group = drawn
    shares = group.shares if count == 2 else of_model.shares  # of three images the weights are the model's
    assert torch.equal(group.lam, of_model.lam) == (count == 3)
    weights = torch.stack([group.lam, *((1 - group.lam) * share for share in shares)], dim=1).tolist()
    rows = [[i, *(int(partner.index(4, labels.device)[i]) for partner in group.partners)] for i in range(4)]
    with torch.no_grad():
        features, clean = mixer.features(inputs), mixer.network(inputs)
        images = []
        for of_row, by in zip(rows, weights, strict=True):
            masks = reference.masks(reference.scores(mixer.block, features[of_row], by), (8, 8), 'bilinear')
            images.append(reference.mixed(inputs[of_row], masks))
        logits = mixer.network(torch.stack(images))
    cost = reference.cross_entropy(logits, [labels[of_row].tolist() for of_row in rows], weights)
    if step:
        assert losses['loss_block'].item() == pytest.approx(cost, rel=1e-5)
        assert set(losses) == {'loss_block'}
        return
    assert losses['loss_block'].item() == pytest.approx(-0.4 * cost, rel=1e-5)
    cosine = reference.likeness(logits, [clean[of_row].tolist() for of_row in rows], weights)
    assert losses['loss_cosine'].item() == pytest.approx(0.6 * cosine, rel=1e-4)


@COUNTS
def test_with_beta_1_an_adversarial_step_is_the_plain_one_backwards(count):
    model = model_with(images=count, beta=1.0)
    losses, against = learned(model)
    model.mixer.after_step(model)
    model.mixer.network.copy_from(model)
    plain_losses, along = learned(model)
    assert set(losses) == set(plain_losses) == {'loss_block'}
    assert torch.equal(losses['loss_block'], -plain_losses['loss_block'])
    assert all(torch.equal(a, -b) for a, b in zip(against, along, strict=True))
    assert any(gradient.abs().max() > 0 for gradient in along)


def test_every_second_optimiser_step_is_adversarial_the_first_included():
    model, kinds = model_with(), []
    for _ in range(4):
        for _ in range(2):  # two batches whose gradients are accumulated belong to one step
            kinds.append(set(learned(model)[0]))
        model.mixer.after_step(model)
    both, one = {'loss_block', 'loss_cosine'}, {'loss_block'}
    assert kinds == [both, both, one, one] * 2


def test_which_of_two_steps_it_is_is_saved():
    model, other = model_with(), model_with()
    model.mixer.after_step(model)
    other.load_state_dict(model.state_dict())
    assert (model.mixer.is_adversarial, other.mixer.is_adversarial) == (False, False)
    assert set(learned(other)[0]) == {'loss_block'}


def test_the_cosine_can_be_asked_for_the_other_way_round():
    as_coded, as_meant = (learned(model_with(cosine_sign=sign))[0] for sign in (1, -1))
    assert torch.equal(as_coded['loss_cosine'], -as_meant['loss_cosine'])
    assert torch.equal(as_coded['loss_block'], as_meant['loss_block'])


def test_likeness_is_1_for_logits_of_one_direction_and_weighs_images():
    clean = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    group = Group((Shift(1),), torch.tensor([0.75, 0.25]), (torch.ones(2),))
    assert likeness(torch.tensor([[3.0, 0.0], [5.0, 0.0]]), clean, group) == pytest.approx(0.75)  # .75 and .75
    group = Group((Shift(0),), torch.tensor([0.75, 0.25]), (torch.ones(2),))
    assert likeness(7 * clean, clean, group) == pytest.approx(1)


@COUNTS
def test_the_losses_of_the_block_reach_the_block_alone_and_those_of_the_model_the_model(count):
    model = model_with(images=count)
    losses = model.loss(*batch())
    own = ('loss_block', 'loss_cosine')
    assert set(losses) == {*own, 'loss_cls', 'loss_clean', *(('loss_plain',) if count == 3 else ())}
    sum(losses[name] for name in own).backward()
    with_gradient = {name for name, parameter in model.named_parameters() if parameter.grad is not None}
    assert with_gradient == {f'mixer.block.{name}' for name, _ in model.mixer.block.named_parameters()}
    model.zero_grad()
    sum(value for name, value in losses.items() if name not in own).backward()
    with_gradient = {name for name, parameter in model.named_parameters() if parameter.grad is not None}
    assert with_gradient == {name for name, _ in model.named_parameters() if not name.startswith('mixer.')}


def test_the_clean_logits_come_from_the_pass_that_makes_the_features():
    """The momentum network runs once on clean and once on mixed images, in either step."""
    model, passes = model_with(), []
    model.mixer.network.backbone.stage1.register_forward_hook(lambda *args: passes.append(1))
    for _ in range(2):
        passes.clear()
        learned(model)
        assert len(passes) == 2
        model.mixer.after_step(model)
    images = torch.rand(3, 3, 8, 8)
    network = model.mixer.network.eval()
    features, logits = model.mixer.features_and_logits(images)
    assert torch.equal(features, model.mixer.features(images))
    assert torch.equal(logits, network(images))


# ---- three images ----


def test_three_images_are_labelled_by_three_weights():
    mixer, inputs, labels = attached(images=3), torch.rand(6, 3, 8, 8), torch.arange(6)
    drawn, draw = [], mixer.draw_group
    mixer.draw_group = lambda *args: drawn.append(draw(*args)) or drawn[-1]
    for seed in range(5):
        torch.manual_seed(seed)
        drawn.clear()
        mixed = mixer.eval()(inputs, labels)
        group, rows = drawn[0], mixed.target.dense(50)
        torch.testing.assert_close(rows.sum(dim=1), torch.ones(6))
        expected = torch.zeros(6, 50)
        for values, weight in zip([labels, *(p.take(labels) for p in group.partners)], group.weights, strict=True):
            for i in range(6):
                expected[i, values[i]] += weight[i]
        torch.testing.assert_close(rows, expected)
        with pytest.raises(ValueError, match='no rows of the batch'):
            _ = mixed.index


def test_weights_of_three_images_are_beta_draws_divided_by_their_sum():
    mixer = attached(images=3)
    torch.manual_seed(0)
    lams = torch.tensor([mixer.draw_lam(1, torch.device('cpu')) for _ in range(4000)])
    uniform = torch.rand(3, 200_000)
    expected = (uniform[0] / uniform.sum(dim=0)).quantile(torch.tensor([0.1, 0.5, 0.9]))
    torch.testing.assert_close(lams.quantile(torch.tensor([0.1, 0.5, 0.9])), expected, atol=0.02, rtol=0)


def test_the_model_also_learns_from_clean_images_and_from_the_plain_mixture():
    mixer, inputs, labels = (
        attached(images=3, plain_share=0.25, clean_weight=0.8),
        torch.rand(6, 3, 8, 8),
        torch.arange(6),
    )
    mixed = mixer(inputs, labels, lam=0.6)
    clean, plain = mixed.further
    assert (clean.name, plain.name) == ('clean', 'plain')
    assert (clean.weight, plain.weight) == (pytest.approx(0.6), pytest.approx(0.2))
    torch.testing.assert_close(plain.inputs, 0.6 * inputs + 0.4 * mixed.partners)
    assert torch.equal(plain.target.rows_b, mixed.target.rows_b)
    assert [each.name for each in attached(plain_share=0.25)(inputs, labels).further] == ['clean']


def test_three_images_refuse_dm_and_pairs():
    dm = {'type': 'DecoupledCE', 'eta': 1.0}
    with pytest.raises(ValueError, match='more than two classes'):
        model_with(dm, images=3)
    model_with(dm, images=2)
    with pytest.raises(ValueError, match='no pairs of two streams; take images=2'):
        attached(images=3).pair(torch.rand(2, 3, 8, 8), torch.rand(2, 3, 8, 8), 0.5)
    headless = AnyModel()
    del headless.head.num_classes
    with pytest.raises(ValueError, match='needs a head with num_classes'):
        AdAutoMix(stage='stage2', images=3).attach(headless)


@pytest.mark.parametrize(
    'settings',
    [{'images': 1}, {'beta': 1.5}, {'cosine_sign': 0}, {'upsampling': 'cubic'}, {'images': 3, 'plain_share': 2.0}],
)
def test_impossible_values_are_refused(settings):
    with pytest.raises(ValueError, match=list(settings)[-1]):
        AdAutoMix(**settings)


@pytest.mark.parametrize(('step', 'grows'), [(0, True), (1, False)])
def test_the_block_learns_to_hinder_and_to_help(step, grows):
    """Ten steps of one kind on the same draws: the momentum network gets them wrong more, or less."""
    model = model_with(beta=1.0, init_std=0.3)
    parameters = list(model.mixer.block.parameters())

    def cost():
        model.mixer.progress.step = 1
        return learned(model)[0]['loss_block'].item()

    costs = [cost()]
    for _ in range(10):
        model.mixer.progress.step = step
        gradients = learned(model)[1]
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter -= 200 * gradient
        costs.append(cost())
    assert costs == sorted(costs, reverse=not grows)
    assert abs(costs[-1] - costs[0]) > 1e-4
