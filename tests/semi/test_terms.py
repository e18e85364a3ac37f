"""The terms of a loss, each against what its paper says."""

import math

import pytest
import torch
import torch.nn.functional as F
from reference.semi import mixmatch_targets
from support.semi_steps import CLASSES, model, step

from openmix_dm.errors import ConfigError
from openmix_dm.losses.functional import decoupled_ce, mixed_ce
from openmix_dm.semi.executor import Plan, read_passes
from openmix_dm.semi.ramps import CosineRamp, LinearRamp, build_ramp
from openmix_dm.semi.step_parts import Output, PseudoLabels, Request
from openmix_dm.semi.terms import Consistency, MixAll, MixBranch, Rotation
from openmix_dm.semi.terms.rotation import turn

B, U = 5, 10


def images(n):
    return torch.randn(n, 3, 8, 8)


def guessed(n=U, mask=None):
    soft = (torch.randn(n, CLASSES) * 3).softmax(dim=1)
    mask = (torch.rand(n) < 0.5).float() if mask is None else mask
    return PseudoLabels(soft.argmax(dim=1), soft, soft.max(dim=1).values, mask)


def run(term, now, pseudo):
    """Plan and finish a term with random logits; return its parts, the logits and the planned images by name."""
    plan = Plan(now, read_passes(None))
    finish = term.plan(now, plan)
    planned, logits, outputs = {}, {}, {}
    for where, requests in plan.requests.items():
        for name, each in requests.items():
            planned[name], logits[name] = each, torch.randn(len(each), CLASSES, requires_grad=True)
            outputs[Request(where, name)] = Output(logits[name], logits[name])
    return finish(outputs, pseudo), logits, planned


def streams(progress=0.5, u=U, views=2):
    return step(images(B), torch.arange(B), [images(u) for _ in range(views)], progress=progress)


def test_hard_consistency_divides_by_all_images():
    pseudo = guessed()
    parts, logits, _ = run(Consistency(), streams(), pseudo)
    losses = F.cross_entropy(logits['u1'], pseudo.hard, reduction='none')
    torch.testing.assert_close(parts[''].value, (losses * pseudo.mask).sum() / U)
    assert parts[''].weight == 1.0


def test_soft_consistency_is_a_cross_entropy_with_the_guess():
    pseudo = guessed()
    parts, logits, _ = run(Consistency(target='soft', masked=False, weight=0.5), streams(), pseudo)
    expected = F.cross_entropy(logits['u1'], pseudo.soft)
    torch.testing.assert_close(parts[''].value, expected)


def test_the_squared_error_divides_by_the_classes():
    pseudo = guessed(mask=torch.ones(U))
    parts, logits, _ = run(Consistency(target='mse'), streams(), pseudo)
    torch.testing.assert_close(parts[''].value, F.mse_loss(logits['u1'].softmax(dim=1), pseudo.soft))


def test_consistency_needs_pseudo_labels():
    with pytest.raises(ValueError, match='Consistency needs pseudo-labels'):
        run(Consistency(), streams(), None)


def test_ramps():
    linear, cosine = LinearRamp(end=0.4), CosineRamp()
    assert [linear(t) for t in (0.0, 0.2, 0.4, 0.9)] == [0.0, 0.5, 1.0, 1.0]
    assert cosine(0.0) == 0.0
    assert cosine(0.5) == pytest.approx(0.5)
    assert cosine(1.0) == pytest.approx(1.0)
    falling = CosineRamp(falling=True)
    assert [falling(t) for t in (0.0, 0.5, 1.0)] == pytest.approx([1.0, 0.5, 0.0])
    assert build_ramp(None)(0.0) == 1.0
    with pytest.raises(ValueError, match='end'):
        LinearRamp(end=0.0)
    term = Consistency(weight=2.0, ramp={'type': 'LinearRamp', 'end': 0.4})
    assert run(term, streams(progress=0.1), guessed())[0][''].weight == pytest.approx(0.5)


@pytest.mark.parametrize('lam', [0.2, 0.9])
def test_mixmatch_against_the_reference(lam, monkeypatch):
    term = MixAll(mixer={'type': 'Mixup', 'alpha': 0.5}, ramp={'type': 'LinearRamp', 'end': 0.4})
    order = torch.randperm(3 * B)
    monkeypatch.setattr(term.mixer, 'draw_lam', lambda size, device: lam)
    monkeypatch.setattr(torch, 'randperm', lambda size, device: order)
    said = torch.randn(2, B, CLASSES)
    soft = said.softmax(dim=2).mean(dim=0) ** 2
    soft = soft / soft.sum(dim=1, keepdim=True)
    now = streams(progress=0.1, u=B)
    parts, logits, planned = run(term, now, PseudoLabels(soft.argmax(1), soft, soft.amax(1), torch.ones(B)))
    targets = torch.tensor(mixmatch_targets(range(B), said.tolist(), CLASSES, 0.5, lam, order.tolist()))
    rows, own = torch.cat([now.labelled.views[0], *now.others.views]), max(lam, 1 - lam)
    torch.testing.assert_close(planned['mixed'], own * rows + (1 - own) * rows[order])
    z = logits['mixed']
    torch.testing.assert_close(parts['labelled'].value, -(targets[:B] * z[:B].log_softmax(1)).sum(1).mean())
    torch.testing.assert_close(parts['unlabelled'].value, F.mse_loss(z[B:].softmax(1), targets[B:]))
    assert parts['unlabelled'].weight == pytest.approx(25.0)
    assert parts['labelled'].weight == 1.0


def test_remixmatch_takes_the_cross_entropy_and_its_order_of_views():
    term = MixAll(mixer={'type': 'Mixup', 'alpha': 0.75}, views=(1, 2, 0), distance='soft', weight=1.5)
    now = streams(u=B, views=3)
    parts, _, planned = run(term, now, guessed(B))
    assert len(planned['mixed']) == 4 * B
    assert parts['unlabelled'].weight == 1.5


def branch(fold='min', eta=1.0, **options):
    return MixBranch(mixer={'type': 'Mixup', 'alpha': 1.0}, eta=eta, fold=fold, **options)


@pytest.mark.parametrize(('fold', 'low', 'high'), [('min', 0.0, 0.5), ('max', 0.5, 1.0), (None, 0.0, 1.0)])
def test_the_fold_puts_lam_on_the_labelled_image_and_label(fold, low, high):
    """All labelled images are 1, all others 0: a pixel shows the weight of the labelled image."""
    shown, term = [], branch(fold, eta=0.0)
    for _ in range(40):
        now = step(torch.ones(B, 3, 8, 8), torch.arange(B), [torch.zeros(U, 3, 8, 8)] * 2)
        pseudo = guessed(mask=torch.ones(U))
        parts, logits, planned = run(term, now, pseudo)
        lam = planned['lu'][:, 0, 0, 0]
        expected = mixed_ce(logits['lu'], torch.arange(B), pseudo.hard[:B], lam).mean()
        torch.testing.assert_close(parts['lu'].value, expected)
        shown.append(lam[0].item())
    assert all(low <= value <= high for value in shown)
    if fold is None:
        assert min(shown) < 0.5 < max(shown)


def test_the_labelled_half_alone_is_decoupled_across_streams():
    now, pseudo = streams(), guessed(mask=torch.ones(U))
    now = step(torch.ones(B, 3, 8, 8), torch.arange(B), [torch.zeros(U, 3, 8, 8)] * 2)
    parts, logits, planned = run(branch(eta=0.7), now, pseudo)
    lam = planned['lu'][:, 0, 0, 0]
    expected = decoupled_ce(logits['lu'], torch.arange(B), pseudo.hard[:B], lam, 0.7, sides='a').mean()
    torch.testing.assert_close(parts['lu'].value, expected)


def test_the_regulariser_does_not_move_the_guessed_class():
    """The gradient on the guessed class is that of MCE alone, whatever eta is."""
    now = step(torch.ones(B, 3, 8, 8), torch.arange(B), [torch.zeros(U, 3, 8, 8)] * 2)
    pseudo = guessed(mask=torch.ones(U))
    rows, wrong = torch.arange(B), pseudo.hard[:B]
    assert (wrong != rows).any()
    gradients = []
    for eta in (0.0, 1.0):
        torch.manual_seed(3)
        parts, logits, _ = run(branch(eta=eta), now, pseudo)
        parts['lu'].value.backward()
        gradients.append(logits['lu'].grad)
    torch.testing.assert_close(gradients[0][rows, wrong], gradients[1][rows, wrong])
    assert not torch.allclose(gradients[0], gradients[1])


def test_both_halves_are_decoupled_among_labelled_images():
    torch.manual_seed(5)
    parts, logits, planned = run(branch(), streams(), guessed())
    torch.manual_seed(5)
    term, now, _ = branch(), streams(), guessed()
    mixed = term.mixer(now.labelled.views[0], now.labelled.labels)  # the first draw of the plan
    assert torch.equal(planned['ll'], mixed.inputs)
    target = mixed.target
    expected = decoupled_ce(logits['ll'], target.y_a, target.y_b, target.lam, 1.0, sides='both').mean()
    torch.testing.assert_close(parts['ll'].value, expected)
    assert parts['ll'].weight == 1.0


def test_unsure_guesses_leave_their_rows_out():
    mask = torch.zeros(U)
    assert run(branch(), streams(), guessed(mask=mask))[0]['lu'].value == 0
    assert run(branch(masked=False), streams(), guessed(mask=mask))[0]['lu'].value > 0
    mask[2] = 1.0
    parts, _, _ = run(branch(), streams(), guessed(mask=mask))
    assert parts['lu'].value > 0


def test_the_ramp_is_that_of_the_unlabelled_part():
    parts, _, _ = run(branch(ramp={'type': 'CosineRamp'}, lu_weight=2.0), streams(progress=0.25), guessed())
    assert parts['ll'].weight == 1.0
    assert parts['lu'].weight == pytest.approx(1 - math.cos(math.pi / 4))


@pytest.mark.parametrize(('progress', 'factor'), [(0.0, 0.0), (0.1, 0.25), (0.4, 1.0), (0.9, 1.0)])
def test_the_mixing_among_labelled_images_has_a_ramp_of_its_own(progress, factor):
    term = branch(ll_ramp={'type': 'LinearRamp', 'end': 0.4}, ll_weight=0.3)
    parts, _, _ = run(term, streams(progress=progress), guessed())
    assert parts['ll'].weight == pytest.approx(0.3 * factor)
    assert parts['lu'].weight == 1.0


def test_the_branch_says_what_it_cannot_do():
    with pytest.raises(ConfigError, match='ratio must be at least 1'):
        run(branch(), streams(u=B - 1), guessed())
    with pytest.raises(ValueError, match='fold'):
        branch('middle')
    with pytest.raises(ValueError, match=r'ManifoldMix.*across streams'):
        MixBranch(mixer={'type': 'ManifoldMix', 'alpha': 1.0}, eta=0.0)
    with pytest.raises(ValueError, match='eta'):
        branch(eta=-1.0)


def test_rotations():
    pictures = torch.arange(4 * 3 * 4 * 4).view(4, 3, 4, 4).float()
    turned = turn(pictures, torch.arange(4))
    for quarter in range(4):
        assert torch.equal(turned[quarter], pictures[quarter].rot90(quarter, (1, 2)))
    with pytest.raises(ConfigError, match='square'):
        turn(torch.zeros(2, 3, 4, 5), torch.tensor([0, 1]))


def test_the_rotation_head_has_its_own_loss():
    term = Rotation(weight=0.5)
    term.attach(model('supervised'))
    term.head = torch.nn.Linear(CLASSES, 4)
    parts, _, planned = run(term, streams(), None)
    assert parts[''].weight == 0.5
    assert parts[''].value.requires_grad
    assert planned['turned'].shape == (U, 3, 8, 8)
