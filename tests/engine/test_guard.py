"""A loss that is not finite stops the run before the weights are touched."""

import json

import pytest
import torch
from support.short_runs import train

from openmix_dm.engine.guard import LossGuard
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
