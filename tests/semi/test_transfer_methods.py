"""Every transfer method moves its weights, records what is promised, and resumes bit for bit."""

import pytest
import torch
from support.short_runs import PowerCut, power_cut, same
from support.transfer_runs import METHODS, run, source_file

from openmix_dm.runs.checkpoints import load_file
from openmix_dm.runs.folder import RunFolder

TERMS = {
    'finetuning': {'labelled'},
    'finetuning_dm': {'labelled', 'mix_ll', 'mix_lu'},
    'bss': {'labelled', 'spectral'},
    'cotuning': {'labelled', 'source'},
    'cotuning_dm': {'labelled', 'source', 'mix_ll', 'mix_lu'},
    'selftuning': {'labelled', 'contrast_labelled', 'contrast_unlabelled'},
    'selftuning_mixup': {'labelled', 'contrast_labelled', 'contrast_unlabelled', 'mix_ll', 'mix_lu'},
    'selftuning_dm': {'labelled', 'contrast_labelled', 'contrast_unlabelled', 'mix_ll', 'mix_lu'},
}


def test_all_eight_are_here():
    assert set(METHODS) == set(TERMS)


@pytest.mark.parametrize('method', ['cotuning_dm', 'selftuning_dm'])
def test_resume_is_exact(method, tmp_path, monkeypatch):
    check(method, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize('method', [name for name in METHODS if name not in ('cotuning_dm', 'selftuning_dm')])
def test_resume_is_exact_slowly(method, tmp_path, monkeypatch):
    check(method, tmp_path, monkeypatch)


def check(method, folder, monkeypatch):
    saving = ('default_hooks.checkpoint.save_every_iters=1', 'default_hooks.records.interval=1')
    assert run(method, folder / 'whole', folder, *saving) == 0
    with power_cut(monkeypatch, 3), pytest.raises(PowerCut):
        run(method, folder / 'cut', folder, *saving)
    assert run(method, folder / 'cut', folder, *saving, arguments=('--resume',)) == 0
    whole, cut = (load_file(folder / name / 'iter_4.pth') for name in ('whole', 'cut'))
    assert same(whole, cut)
    weights, start = whole['state_dict'], load_file(source_file(folder))['state_dict']
    moved = [key for key, value in start.items() if key.endswith('weight') and key.startswith('backbone.')
             and not torch.equal(value, weights[key])]  # fmt: skip
    assert len(moved) > 5
    record = RunFolder(folder / 'whole').records('train')[-1]
    assert {name.removeprefix('term_') for name in record if name.startswith('term_')} == TERMS[method]
    if method not in ('finetuning', 'bss', 'cotuning'):
        assert {'mask', 'pseudo_top1', 'pseudo_top1_kept'} <= record.keys()
