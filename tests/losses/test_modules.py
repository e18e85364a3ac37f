"""What the loss modules add to the functions: averaging, weights, policies, refused arguments."""

from dataclasses import replace

import pytest
import torch

from openmix_dm.losses import ByPolicy, DecoupledBCE, DecoupledCE, MixedBCE, MixedCE, functional
from openmix_dm.registry import LOSSES
from openmix_dm.structures import MixedBatch, MixTarget

EXAMPLES = {
    'MixedCE': {},
    'DecoupledCE': {'eta': 0.1},
    'MixedBCE': {},
    'DecoupledBCE': {'t': 0.5, 'xi': 0.8},
    'ByPolicy': {'losses': [{'type': 'MixedCE'}, {'type': 'DecoupledCE', 'eta': 1.0}]},
}


def target(size=8, num_classes=5):
    y_a, y_b = torch.randint(num_classes, (2, size))
    return MixTarget(y_a, y_b, torch.rand(size))


def registered():
    LOSSES.import_from_location()
    return sorted(LOSSES.module_dict)


@pytest.mark.parametrize('name', registered())
def test_every_loss_keeps_the_contract(name):
    loss, logits, labels = LOSSES.build({'type': name, **EXAMPLES[name]}), torch.randn(8, 5), target()
    per_sample = loss.per_sample(logits, labels)
    weight = torch.rand(8)
    assert per_sample.shape == (8,)
    torch.testing.assert_close(loss(logits, labels), per_sample.mean())
    # divided by N, not by the sum of the weights
    torch.testing.assert_close(loss(logits, labels, weight), (per_sample * weight).sum() / 8)
    assert LOSSES.build({'type': name, **EXAMPLES[name]})(logits, MixTarget.hard(labels.y_a)).isfinite()


@pytest.mark.parametrize('name', registered())
def test_the_loss_of_an_empty_batch_is_zero(name):
    """As a sum over nothing: a rank or a step without samples adds nothing, instead of making all weights NaN."""
    loss, network = LOSSES.build({'type': name, **EXAMPLES[name]}), torch.nn.Linear(3, 5)
    for weight in (None, torch.rand(0)):
        network.zero_grad()
        value = loss(network(torch.rand(0, 3)), target(0), weight)
        value.backward()
        assert value.item() == 0
        assert not network.weight.grad.any()
    assert loss(network(torch.rand(0, 3)), MixTarget.hard(torch.zeros(0, dtype=torch.long))).item() == 0


def test_hard_labels_give_the_usual_cross_entropy():
    logits, labels = torch.randn(8, 5), torch.randint(5, (8,))
    expected = torch.nn.functional.cross_entropy(logits, labels, label_smoothing=0.1)
    for loss in (MixedCE(label_smoothing=0.1), DecoupledCE(eta=1.0, label_smoothing=0.1)):
        torch.testing.assert_close(loss(logits, MixTarget.hard(labels)), expected)


def test_settings_reach_the_function():
    logits, labels = torch.randn(8, 5), target()
    sides = (labels.y_a, labels.y_b, labels.lam)
    torch.testing.assert_close(
        DecoupledCE(eta=0.7, sides='a', label_smoothing=0.1, lam_eps=0.2).per_sample(logits, labels),
        functional.decoupled_ce(logits, *sides, eta=0.7, sides='a', label_smoothing=0.1, lam_eps=0.2),
    )
    torch.testing.assert_close(
        MixedBCE(two_hot=True).per_sample(logits, labels), functional.mixed_bce(logits, *sides, two_hot=True)
    )
    torch.testing.assert_close(
        DecoupledBCE(t=0.3, xi=0.7).per_sample(logits, labels), functional.decoupled_bce(logits, *sides, t=0.3, xi=0.7)
    )


def test_lam_eps_masks_both_ends():
    logits, y = torch.randn(3, 5), torch.zeros(3, dtype=torch.long)
    labels = MixTarget(y, y + 1, torch.tensor([0.1, 0.5, 0.9]))
    masked = DecoupledCE(eta=1.0, lam_eps=0.2).per_sample(logits, labels)
    plain = MixedCE().per_sample(logits, labels)
    assert ((masked - plain).abs() > 1e-3).tolist() == [False, True, False]


def test_by_policy_follows_the_stamp():
    logits, labels = torch.randn(8, 5), target()
    loss = ByPolicy(losses=[MixedCE(), DecoupledCE(eta=1.0)])
    for policy, expected in enumerate((MixedCE(), DecoupledCE(eta=1.0))):
        torch.testing.assert_close(loss(logits, replace(labels, policy=policy)), expected(logits, labels))
    with pytest.raises(ValueError, match='policy 2'):
        loss(logits, replace(labels, policy=2))


@pytest.mark.parametrize(
    ('loss', 'settings', 'named'),
    [
        (DecoupledCE, {'eta': -1}, 'eta'),
        (DecoupledCE, {'eta': float('nan')}, 'eta'),
        (DecoupledCE, {'eta': float('inf')}, 'eta'),
        (DecoupledCE, {'eta': 1, 'sides': 'b'}, 'sides'),
        (DecoupledCE, {'eta': 1, 'lam_eps': 0.6}, 'lam_eps'),
        (MixedCE, {'label_smoothing': 1.5}, 'label_smoothing'),
        (DecoupledBCE, {'t': -0.1}, 't must'),
        (DecoupledBCE, {'xi': 0}, 'xi'),
        (DecoupledBCE, {'xi': 1.1}, 'xi'),
        (ByPolicy, {'losses': []}, 'losses'),
    ],
)
def test_bad_settings_are_refused_by_name(loss, settings, named):
    with pytest.raises(ValueError, match=named):
        loss(**settings)


@pytest.mark.parametrize('name', registered())
def test_every_loss_says_what_its_logits_mean(name):
    loss, logits = LOSSES.build({'type': name, **EXAMPLES[name]}), torch.randn(6, 5, dtype=torch.bfloat16) * 4
    probabilities = loss.probabilities(logits)
    assert probabilities.dtype == torch.float32
    assert torch.equal(probabilities.argmax(1), logits.float().argmax(1))
    expected = logits.float().sigmoid() if 'BCE' in name else logits.float().softmax(1)
    assert torch.allclose(probabilities, expected)


def test_the_own_side_of_a_loss():
    """Only the own side is decoupled in the asymmetric strategy; a loss that treats both alike is its own."""
    one_sided = DecoupledCE(0.5, label_smoothing=0.1, lam_eps=0.01).own_side()
    assert (one_sided.eta, one_sided.sides, one_sided.label_smoothing, one_sided.lam_eps) == (0.5, 'a', 0.1, 0.01)
    plain = MixedCE()
    assert plain.own_side() is plain


@pytest.mark.parametrize('name', registered())
@pytest.mark.parametrize('kind', [torch.int64, torch.int32, torch.uint8])
def test_class_numbers_are_labels_of_images_that_were_not_mixed(name, kind):
    """As torch's own losses take them; for validation, or a step without mixing."""
    loss, logits, labels = LOSSES.build({'type': name, **EXAMPLES[name]}), torch.randn(8, 5), torch.randint(5, (8,))
    assert torch.equal(loss(logits, labels.to(kind)), loss(logits, MixTarget.hard(labels)))
    weight = torch.rand(8)
    assert torch.equal(loss(logits, labels.to(kind), weight), loss(logits, MixTarget.hard(labels), weight))


@pytest.mark.parametrize('name', registered())
@pytest.mark.parametrize(
    ('labels', 'said'),
    [
        (torch.rand(8, 5), r'float32 and shape \(8, 5\)'),
        (torch.zeros(8, 1, dtype=torch.long), r'int64 and shape \(8, 1\)'),
        (torch.rand(8), 'float32'),
        ([0] * 8, 'list'),
        (None, 'NoneType'),
        (MixedBatch(torch.rand(8, 3, 4, 4), MixTarget.hard(torch.zeros(8, dtype=torch.long)), list), 'batch.target'),
    ],
)
def test_labels_of_another_kind_are_refused_by_name(name, labels, said):
    loss = LOSSES.build({'type': name, **EXAMPLES[name]})
    with pytest.raises(TypeError, match=rf'MixTarget.hard\(labels\); got .*{said}'):
        loss(torch.randn(8, 5), labels)
