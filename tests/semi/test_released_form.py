"""FixMatch + DM with a head of its own for mixtures and an average of the weights as teacher, as DMixMatch has them."""

import copy
import math

import pytest
import torch
import torch.nn.functional as F
from engine.test_iter_train_loop import run
from support.semi_steps import FOLDER, batch, config, model
from torch import nn

from openmix_dm.engine.hooks.ema import averaged_copy
from openmix_dm.errors import ConfigError
from openmix_dm.runs.checkpoints import load_file
from openmix_dm.runs.model import build_model

METHOD, DECAY, TAU, LAM, LR = 'fixmatch_dm-released', 0.98, 0.2, 0.3, 0.05
RELEASED = FOLDER / f'r8_{METHOD}.py'


def decoupled(z, a, b, lam, both):
    """DM(CE) of one row as the paper writes it: log phi is log p_a - log (1 - p_b)."""
    p = z.double().softmax(dim=0)
    value = -lam * p[a].log() - (1 - lam) * p[b].log()
    if a == b:
        return value
    value = value - (p[a] / (1 - p[b])).log()
    return value - (p[b] / (1 - p[a])).log() if both else value


class Slowly:
    """The method by hand: other networks, one row at a time, plain gradient descent."""

    def __init__(self, built):
        self.student, self.head, self.mix_head = (copy.deepcopy(m) for m in (built.backbone, built.head, built.head))
        self.teacher, self.teacher_head = copy.deepcopy(built.backbone), copy.deepcopy(built.head)
        self.learning = [*self.student.parameters(), *self.head.parameters(), *self.mix_head.parameters()]

    def follow(self):
        for slow, fast in ((self.teacher, self.student), (self.teacher_head, self.head)):
            for mine, other in zip(slow.parameters(), fast.parameters(), strict=True):
                mine.data = DECAY * mine.data + (1 - DECAY) * other.data

    def still(self, images):
        """Features of mixtures: normalised by the batch, while the running statistics stay."""
        norms = [module for module in self.student.modules() if isinstance(module, nn.BatchNorm2d)]
        momenta = [norm.momentum for norm in norms]
        counts = [norm.num_batches_tracked.clone() for norm in norms]
        for norm in norms:
            norm.momentum = 0.0
        features = self.student(images)
        for norm, momentum, count in zip(norms, momenta, counts, strict=True):
            norm.momentum = momentum
            norm.num_batches_tracked.copy_(count)
        return features

    def step(self, data, among, weights):
        x, labels = data['labelled']['inputs'][0], data['labelled']['labels']
        weak, strong = data['unlabelled']['inputs']
        with torch.no_grad():
            guess = self.teacher_head(self.teacher(weak)).softmax(dim=1)
        sure, hard = guess.max(dim=1)
        z = self.head(self.student(torch.cat([x, strong])))
        across = LAM * x + (1 - LAM) * weak[: len(x)]
        mixed = self.mix_head(self.still(torch.cat([among.inputs, across])))
        target, n = among.target, len(x)
        ll = [decoupled(mixed[i], target.y_a[i], target.y_b[i], target.lam[i].item(), True) for i in range(n)]
        lu = [decoupled(mixed[n + i], labels[i], hard[i], LAM, False) for i in range(n) if sure[i] >= TAU]
        kept = [F.cross_entropy(z[n + i], hard[i]) for i in range(len(weak)) if sure[i] >= TAU]
        losses = {
            'labelled': F.cross_entropy(z[:n], labels),
            'unlabelled': sum(kept) / len(weak),
            'mix_ll': weights[0] * sum(ll) / n,
            'mix_lu': weights[1] * sum(lu) / n,
        }
        gradients = torch.autograd.grad(sum(losses.values()), self.learning)
        for value, gradient in zip(self.learning, gradients, strict=True):
            value.data -= LR * gradient
        return losses, len(kept), len(lu)


def test_three_steps_equal_those_by_hand(monkeypatch):
    built = model(METHOD, **{
        'model.labeler.threshold.tau': TAU,
        'model.terms.mix.ll_weight': 0.4,
        'model.terms.mix.ll_ramp': {'type': 'LinearRamp', 'end': 0.5},
        'model.terms.mix.lu_weight': 0.7,
    }).train()  # fmt: skip
    slow, mixer, mixed = Slowly(built), built.terms['mix'].mixer, []
    mix = mixer.forward
    monkeypatch.setattr(mixer, 'forward', lambda *args: mixed.append(mix(*args)) or mixed[-1])
    monkeypatch.setattr(mixer, 'draw_lam', lambda size, device: 1 - LAM)  # folded by the asymmetric strategy
    learner = torch.optim.SGD(built.parameters(), lr=LR)
    trusted = 0
    for number, progress in enumerate((0.0, 0.25, 0.75)):
        data = {**batch(METHOD, seed=number), 'progress': progress}
        slow.follow()
        losses = built(**data, mode='loss')
        weights = 0.4 * min(1, 2 * progress), 0.7 * (1 - math.cos(math.pi * progress)) / 2
        expected, kept, pairs = slow.step(data, mixed[-1], weights)
        for name, value in expected.items():
            torch.testing.assert_close(losses[f'loss_{name}'], torch.as_tensor(value).float(), rtol=1e-5, atol=1e-6)
        learner.zero_grad()
        built.parse_losses(losses)[0].backward()
        learner.step()
        trusted += kept
        assert pairs or number
    assert 0 < trusted < 3 * 8, 'some are trusted and some are not'
    for mine, other in (
        (built.backbone, slow.student), (built.head, slow.head), (built.terms['mix'].head, slow.mix_head),
        (built.teacher.network[0], slow.teacher), (built.teacher.network[1], slow.teacher_head),
    ):  # fmt: skip
        for (name, value), wanted in zip(mine.state_dict().items(), other.state_dict().values(), strict=True):
            assert torch.allclose(value, wanted, rtol=1e-5, atol=2e-6), name


def test_mixtures_teach_their_own_head_and_not_the_evaluated_one():
    built = model(METHOD).train()
    losses = built(**batch(METHOD), mode='loss')
    losses['loss_mix_ll'].backward()
    assert built.terms['mix'].head.fc.weight.grad.abs().sum() > 0
    assert built.head.fc.weight.grad is None
    assert next(built.backbone.parameters()).grad.abs().sum() > 0


def test_the_head_and_the_teacher_start_as_the_network_does():
    """Neither takes random draws: all other weights are those of the method without them."""
    plain, built = build_model(config('fixmatch_dm')), build_model(config(METHOD))
    ours = built.state_dict()
    for name, value in plain.state_dict().items():
        assert torch.equal(ours[name], value), name
    for built_part, source in ((built.terms['mix'].head, built.head), (built.teacher.network[1], built.head)):
        assert all(map(torch.equal, built_part.parameters(), source.parameters()))
    assert not any(parameter.requires_grad for parameter in built.teacher.parameters())


def test_neither_is_evaluated():
    names = set(averaged_copy(model(METHOD)).state_dict())
    assert names == set(averaged_copy(model('fixmatch')).state_dict())


def test_a_teacher_that_is_missing_and_one_that_nobody_asks_are_named():
    with pytest.raises(ConfigError, match=r"pass 'teacher' goes through a teacher.*model\.teacher_decay"):
        model('fixmatch', **{'model.labeler.where': 'teacher'})
    with pytest.raises(ConfigError, match=r"nothing goes through the teacher.*labeler\.where='teacher'"):
        model('fixmatch', **{'model.teacher_decay': 0.9})
    with pytest.raises(ConfigError, match='decay must be in'):
        model(METHOD, **{'model.teacher_decay': 1.5})


def test_weights_without_them_start_both(tmp_path):
    """A network that was trained by FixMatch goes on: teacher and head start from its weights, not from random ones."""
    assert run(tmp_path / 'plain', config=FOLDER / 'r8_fixmatch.py') == 0
    weights = tmp_path / 'plain' / 'iter_7.pth'
    options = f'load_from={str(weights)!r}', 'model.teacher_decay=1.0', 'optim_wrapper.optimizer.lr=1e-30'
    assert run(tmp_path / 'released', *options, config=RELEASED) == 0
    before, after = (load_file(path)['state_dict'] for path in (weights, tmp_path / 'released' / 'iter_7.pth'))
    for name in ('teacher.network.1.fc.weight', 'terms.mix.head.fc.weight'):
        torch.testing.assert_close(after[name], before['head.fc.weight'], rtol=0, atol=1e-6)
    stem = next(name for name in before if name.startswith('backbone.') and name.endswith('weight'))
    assert torch.equal(after[stem.replace('backbone', 'teacher.network.0')], before[stem])
