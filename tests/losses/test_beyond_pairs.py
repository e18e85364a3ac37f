"""Labels that are no pair: against plain loops, against the losses of pairs, and by their gradients."""

import math
from dataclasses import replace

import pytest
import torch

from openmix_dm.losses import ByPolicy, DecoupledBCE, DecoupledCE, MixedBCE, MixedCE, MixLoss
from openmix_dm.structures import MixTarget

LOSSES = [
    MixedCE(), MixedCE(0.1), DecoupledCE(0.7), DecoupledCE(0.7, 'a', 0.1), MixedBCE(), DecoupledBCE(0.5),
    DecoupledBCE(1.0, 0.8),
]  # fmt: skip


def pairs(size=12, classes=5):
    torch.manual_seed(0)
    y_a, y_b = torch.randint(classes, (2, size))
    return torch.randn(size, classes, dtype=torch.float64), MixTarget(y_a, y_b, torch.rand(size))


def log_softmax(row):
    total = math.log(sum(math.exp(value) for value in row))
    return [value - total for value in row]


def by_hand(loss, row, weights, a, b, own, other):
    """The loss of one sample: weights of all classes, then the decoupled term of a and b."""
    log_p = log_softmax(row)
    smoothing, total = loss.label_smoothing, sum(weights)
    value = -sum(weight * each for weight, each in zip(weights, log_p, strict=True)) * (1 - smoothing)
    value -= smoothing * total * sum(log_p) / len(row)
    if isinstance(loss, DecoupledCE) and a != b and own > loss.lam_eps and other > loss.lam_eps:
        p = [math.exp(each) for each in log_p]
        value -= loss.eta * math.log(p[a] / (1 - p[b]))
        if loss.sides == 'both':
            value -= loss.eta * math.log(p[b] / (1 - p[a]))
    return value


@pytest.mark.parametrize('loss', LOSSES[:4], ids=str)
def test_a_weight_of_its_own_for_each_side(loss):
    logits, target = pairs()
    target = replace(target, lam_b=torch.rand(12) * (torch.arange(12) > 2))  # three partners that cannot be seen
    for i, value in enumerate(loss.per_sample(logits, target).tolist()):
        a, b, own, other = int(target.y_a[i]), int(target.y_b[i]), float(target.lam[i]), float(target.lam_b[i])
        weights = [own * (k == a) + other * (k == b) for k in range(5)]
        assert value == pytest.approx(by_hand(loss, logits[i].tolist(), weights, a, b, own, other), rel=1e-6)


@pytest.mark.parametrize('smoothing', [0.0, 0.1])
def test_partners_of_several_classes(smoothing):
    logits, target = pairs()
    rows = torch.rand(12, 5).softmax(dim=1)
    target = replace(target, rows_b=rows)
    loss = MixedCE(smoothing)
    for i, value in enumerate(loss.per_sample(logits, target).tolist()):
        lam = float(target.lam[i])
        weights = [lam * (k == int(target.y_a[i])) + (1 - lam) * float(rows[i, k]) for k in range(5)]
        assert value == pytest.approx(by_hand(loss, logits[i].tolist(), weights, 0, 0, 0, 0), rel=1e-6)


@pytest.mark.parametrize('loss', LOSSES, ids=str)
def test_the_rest_as_a_weight_of_its_own_is_the_loss_of_pairs(loss):
    logits, target = pairs()
    given = replace(target, lam_b=1 - target.lam)
    values, gradients = [], []
    for each in (target, given):
        leaf = logits.clone().requires_grad_()
        values.append(loss(leaf, each))
        gradients.append(torch.autograd.grad(values[-1], leaf)[0])
    torch.testing.assert_close(*values, rtol=1e-6, atol=0)
    torch.testing.assert_close(*gradients, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize('loss', LOSSES, ids=str)
def test_gradients(loss):
    logits, target = pairs(6)
    weights = torch.rand(6, dtype=torch.float64)
    target = replace(target, lam=target.lam.double(), lam_b=weights.requires_grad_())
    leaf = logits.requires_grad_()
    assert torch.autograd.gradcheck(lambda z: loss.per_sample(z, target), leaf)
    assert torch.autograd.gradgradcheck(lambda z: loss.per_sample(z, target), leaf)
    loss(leaf, target).backward()
    assert weights.grad is None


def test_binary_targets_of_rows_are_at_most_one():
    logits, target = pairs()
    target = replace(target, y_b=target.y_a, lam=torch.full((12,), 0.8), lam_b=torch.full((12,), 0.7))
    alone = MixTarget.hard(target.y_a)
    torch.testing.assert_close(MixedBCE()(logits, target), MixedBCE()(logits, alone))


class Plain(MixLoss):
    def per_sample(self, logits, target):
        return logits[:, 0]


@pytest.mark.parametrize(
    ('loss', 'field'),
    [(Plain(), 'lam_b'), (Plain(), 'rows_b'), (DecoupledCE(0.1), 'rows_b'), (DecoupledBCE(), 'rows_b'),
     (MixedBCE(two_hot=True), 'rows_b'), (ByPolicy([Plain()]), 'lam_b')],
    ids=str,
)  # fmt: skip
def test_what_a_loss_would_leave_out_is_refused(loss, field):
    logits, target = pairs()
    labels = {'lam_b': torch.rand(12), 'rows_b': torch.rand(12, 5)}
    with pytest.raises(ValueError, match=rf'\({field}\), which \w+ has no use for; take MixedCE'):
        loss(logits, replace(target, **{field: labels[field]}))
    with pytest.raises(ValueError, match=field):
        loss.check_fields({field})


def test_a_class_that_cannot_be_costs_nothing_without_weight():
    logits = torch.tensor([[0.0, 1.0, -math.inf]])
    target = MixTarget(torch.tensor([0]), torch.tensor([1]), torch.tensor([0.5]), lam_b=torch.tensor([0.9]))
    assert MixedCE()(logits, target).isfinite()
