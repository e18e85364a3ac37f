"""A loss that is not finite stops the run before the weights are touched."""

import json
from functools import partial

import pytest
import torch
from support.short_runs import train

from openmix_dm.engine.guard import LossGuard, NonFiniteLoss
from openmix_dm.engine.optim import wrapper as wrapper_file
from openmix_dm.engine.optim.fused import fused_on_gpus
from openmix_dm.engine.optim.lamb import Lamb
from openmix_dm.engine.optim.wrapper import MixOptimWrapper
from openmix_dm.errors import NumericError
from openmix_dm.losses import DecoupledCE
from openmix_dm.runs.checkpoints import load_file
from openmix_dm.runs.folder import RunFolder


@pytest.mark.parametrize('value', [torch.nan, torch.inf, -torch.inf])
def test_the_guard_refuses_what_is_not_finite(value):
    guard = LossGuard()
    guard.ask(torch.tensor(1.0))
    guard.check()
    guard.ask(torch.tensor(value))
    with pytest.raises(NumericError):
        guard.check()


class Exploding(torch.nn.Module):
    """A line through two points, with losses that are not finite at the iterations that it is told."""

    def __init__(self, bad):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([0.5, -0.25]))
        self.bad, self.calls = bad, 0

    def loss(self):
        factor = torch.nan if self.calls in self.bad else 1.0
        self.calls += 1
        return (self.weight * factor - torch.tensor([2.0, 1.0]) * self.calls).square().sum()


def steps(optimizer, bad, lag, count=12, **options):
    """Train; return the weights and the state of the optimiser after each iteration."""
    model = Exploding(bad)
    wrapper = MixOptimWrapper(optimizer([model.weight]), **options)
    wrapper._guard.lag = lag
    trace = []
    for _ in range(count):
        wrapper.update_params(model.loss())
        state = wrapper.optimizer.state[model.weight]
        trace.append([model.weight.detach().clone(), *(state[key].clone() for key in sorted(state))])
    wrapper.settle()
    return trace, wrapper


FUSED = {
    'SGD': partial(torch.optim.SGD, lr=0.01, momentum=0.9, weight_decay=0.1, nesterov=True, fused=True),
    'plain SGD': partial(torch.optim.SGD, lr=0.01, weight_decay=0.1, fused=True),
    'Adam': partial(torch.optim.Adam, lr=0.01, fused=True),
    'AdamW': partial(torch.optim.AdamW, lr=0.01, weight_decay=0.1, fused=True),
    'Lamb': partial(Lamb, lr=0.01, weight_decay=0.1),
}


@pytest.mark.parametrize('name', FUSED)
@pytest.mark.parametrize('options', [{}, {'accumulative_counts': 3}, {'clip_grad': {'max_norm': 1.0}}, {'amp': 'fp16'}])
@pytest.mark.parametrize('bad', [(0,), (5,), (4, 5, 10)])
def test_a_step_left_out_on_the_device_is_one_that_was_never_made(name, options, bad):
    """What is read an iteration later, as on a GPU, trains as what is read at once, bit for bit."""
    at_once, first = steps(FUSED[name], bad, lag=0, skip_nonfinite=3, **options)
    later, second = steps(FUSED[name], bad, lag=1, skip_nonfinite=3, **options)
    for once, late in zip(at_once, later, strict=True):
        unwritten = [torch.zeros_like(value) for value in late[len(once) :]]  # Adam's state, made by its first step
        assert all(map(torch.equal, [*once, *unwritten], late))
    assert first.skipped_losses == second.skipped_losses == len(bad)
    assert all(value.isfinite().all() for value in later[-1])


@pytest.mark.parametrize('name', FUSED)
def test_nothing_is_touched_until_the_host_finds_out(name):
    trace, _ = steps(FUSED[name], (), lag=1, count=6)
    model = Exploding((6,))
    wrapper = MixOptimWrapper(FUSED[name]([model.weight]))
    wrapper._guard.lag = 1
    for _ in range(7):
        wrapper.update_params(model.loss())
    with pytest.raises(NonFiniteLoss) as found:
        wrapper.update_params(model.loss())  # which is finite, and left out too
    assert found.value.ago == 1
    state = wrapper.optimizer.state[model.weight]
    assert all(map(torch.equal, [model.weight.detach(), *(state[key] for key in sorted(state))], trace[-1]))


def test_with_a_longer_lag_the_steps_in_between_are_left_out_too():
    trace, _ = steps(FUSED['SGD'], (), lag=3, count=6)
    model = Exploding((6,))
    wrapper = MixOptimWrapper(FUSED['SGD']([model.weight]))
    wrapper._guard.lag = 3
    for _ in range(9):
        wrapper.update_params(model.loss())
    with pytest.raises(NonFiniteLoss) as found:
        wrapper.update_params(model.loss())
    assert found.value.ago == 3
    assert torch.equal(model.weight.detach(), trace[-1][0])


def test_settling_reads_what_is_still_on_its_way():
    with pytest.raises(NonFiniteLoss) as found:
        steps(FUSED['SGD'], (11,), lag=1)
    assert found.value.ago == 0


def test_what_the_run_has_passed_over_counts_after_a_resume():
    _, wrapper = steps(FUSED['SGD'], (3,), lag=1, skip_nonfinite=1)
    model = Exploding((2,))
    again = MixOptimWrapper(FUSED['SGD']([model.weight]), skip_nonfinite=1)
    again._guard.lag = 1
    again.load_state_dict(wrapper.state_dict())
    before = None
    for _ in range(4):
        before = model.weight.detach().clone() if model.calls == 2 else before
        try:
            again.update_params(model.loss())
        except NonFiniteLoss:
            break
    assert torch.equal(model.weight.detach(), before)


def test_the_run_names_the_iteration_that_was_found_out_later(tmp_path, monkeypatch, capsys):
    """With the lag of a GPU: the report is about the iteration of the bad loss, and the checkpoint is from before."""
    monkeypatch.setattr(wrapper_file, 'leaves_out_on_device', lambda optimizer: True)
    calls = []
    per_sample = DecoupledCE.per_sample

    def broken(self, logits, target):
        if (target.lam == 1).all():
            return per_sample(self, logits, target)
        calls.append(target.lam)
        return per_sample(self, logits, target) * (torch.nan if len(calls) == 10 else 1)

    monkeypatch.setattr(DecoupledCE, 'per_sample', broken)
    assert train(tmp_path / 'run', 'optim_wrapper.optimizer.fused=True') == 5
    assert 'iteration 9 ' in capsys.readouterr().err
    report = json.loads((tmp_path / 'run' / 'nonfinite_rank0.json').read_text())
    assert (report['iter'], report['epoch']) == (9, 1)
    assert report['lam'] == calls[9].tolist()
    assert len(calls) == 12  # one more iteration, and the one that the report looks at again
    assert not (tmp_path / 'run' / 'epoch_2.pth').exists()


@pytest.mark.parametrize('last', [6, 13])
def test_a_bad_loss_at_the_end_of_an_epoch_is_found_before_anything_is_saved(tmp_path, monkeypatch, last):
    monkeypatch.setattr(wrapper_file, 'leaves_out_on_device', lambda optimizer: True)
    calls = []
    per_sample = DecoupledCE.per_sample

    def broken(self, logits, target):
        if not torch.is_grad_enabled():  # a validation
            return per_sample(self, logits, target)
        calls.append(0)
        return per_sample(self, logits, target) * (torch.nan if len(calls) == last + 1 else 1)

    monkeypatch.setattr(DecoupledCE, 'per_sample', broken)
    assert train(tmp_path / 'run', 'optim_wrapper.optimizer.fused=True') == 5
    assert json.loads((tmp_path / 'run' / 'nonfinite_rank0.json').read_text())['iter'] == last
    assert len(RunFolder(tmp_path / 'run').records('val')) == (last + 1) // 7 - 1


@pytest.mark.parametrize('lag', [0, 1])
def test_steps_that_fp16_leaves_out_are_counted(lag):
    weight = torch.nn.Parameter(torch.ones(2))
    wrapper = MixOptimWrapper(FUSED['SGD']([weight]), amp='fp16')
    wrapper._guard.lag = lag
    for factor in (1.0, 1e36, 1e36, 1.0):  # times the loss scale, two of them are infinite
        wrapper.update_params((weight * factor).sum())
    wrapper.settle()
    assert wrapper.skipped_steps.total == 2
    assert weight.isfinite().all()


def test_optimisers_are_fused_where_they_can_be():
    class OnGpu(torch.nn.Parameter):
        is_cuda = True

    groups = [{'params': [OnGpu(torch.zeros(2))]}]
    assert fused_on_gpus({'type': 'SGD', 'lr': 0.1}, groups) == {'type': 'SGD', 'lr': 0.1, 'fused': True}
    for config in (
        {'type': 'Lamb'},
        {'type': 'SGD', 'foreach': True},
        {'type': 'AdamW', 'fused': False},
        {'type': 'SGD', 'momentum': 0.9, 'dampening': 0.1},
    ):
        assert fused_on_gpus(config, groups) == config
    assert fused_on_gpus({'type': 'SGD'}, [{'params': [torch.zeros(2)]}]) == {'type': 'SGD'}


def test_the_run_stops_says_where_and_keeps_its_checkpoint(tmp_path, monkeypatch, capsys):
    calls = []
    per_sample = DecoupledCE.per_sample

    def broken(self, logits, target):
        if (target.lam == 1).all():  # a validation
            return per_sample(self, logits, target)
        calls.append(target.lam)
        losses = per_sample(self, logits, target)
        return losses * torch.nan if len(calls) > 9 else losses  # the third iteration of the second epoch

    monkeypatch.setattr(DecoupledCE, 'per_sample', broken)
    assert train(tmp_path / 'run') == 5
    said = capsys.readouterr().err
    assert 'cause=numeric' in said
    assert 'iteration 9' in said
    report = json.loads((tmp_path / 'run' / 'nonfinite_rank0.json').read_text())
    assert report['iter'] == 9
    assert report['mixer'].startswith('Mixup(alpha=0.2')
    assert report['lam'] == calls[9].tolist()
    assert len(report['samples']) == len(report['partners']) == 200
    assert report['weights_finite']
    assert report['losses'] == {'loss_cls': 'nan'}
    weights = load_file(tmp_path / 'run' / 'epoch_1.pth')['state_dict']
    assert all(value.isfinite().all() for value in weights.values())
    assert RunFolder(tmp_path / 'run').read()['state'].startswith('failed: NumericError')
