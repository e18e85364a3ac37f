"""tools/gpu_check.py, with what takes long replaced."""

import json

import pytest

from openmix_dm.analysis import device_check
from openmix_dm.commands.gpu_check import main


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(device_check, 'RESNET_MIXERS', {'CutMix': {'alpha': 1.0}})
    monkeypatch.setattr(device_check, 'TOKEN_MIXERS', {})
    monkeypatch.setattr(device_check, 'speed', lambda *arguments: 1234.0)


def test_it_runs_through_on_a_cpu_and_says_what_it_skipped(short, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(device_check, 'check_resume', lambda machine, deterministic: device_check.Finding('x', 'ok'))
    assert main(['--out', str(tmp_path / 'report.json')]) == 0
    said = capsys.readouterr().out
    assert 'there is no GPU' in said
    assert 'fp16 is for GPUs' in said
    assert 'there are no two GPUs' in said
    assert '1,234 images/s' in said
    report = json.loads((tmp_path / 'report.json').read_text())
    assert {finding['verdict'] for finding in report['findings']} == {'ok', 'skipped'}
    assert report['machine']['torch']


def test_what_fails_is_named_and_does_not_stop_the_rest(short, monkeypatch, tmp_path, capsys):
    def broken(*arguments):
        raise RuntimeError('CUDA error: misaligned address\nmore')

    monkeypatch.setattr(device_check, 'steps', broken)
    monkeypatch.setattr(device_check, 'check_resume', lambda machine, deterministic: device_check.Finding('x', 'ok'))
    assert main(['--out', str(tmp_path / 'report.json')]) == 7
    said = capsys.readouterr()
    assert 'RuntimeError: CUDA error: misaligned address\n' in said.out
    assert '1,234 images/s' in said.out
    assert '2 of' in said.err
    assert main(['--out', str(tmp_path / 'no' / 'report.json')]) == 2


@pytest.mark.slow
def test_a_stopped_run_goes_on_exactly():
    finding = device_check.check_resume(device_check.this_machine(), deterministic=True)
    assert (finding.verdict, finding.detail) == (device_check.OK, 'bit for bit')
