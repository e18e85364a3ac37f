"""Every transfer method moves its weights, records what is promised, and resumes bit for bit."""

import pytest
import torch
from support.loaded_cells import all_configs, load
from support.short_runs import PowerCut, power_cut, same
from support.transfer_runs import FOLDER, METHODS, run, source_file

from openmix_dm.config.load import load_config
from openmix_dm.config.resolve import resolve
from openmix_dm.runs.checkpoints import load_file
from openmix_dm.runs.folder import RunFolder
from openmix_dm.runs.model import build_model
from openmix_dm.semi.executor import read_passes

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


def statistics_after_a_step(method, folder):
    """Run one step of a method on given images; return batch norm's statistics and the losses."""
    config = load_config(FOLDER / f'r8_{method}.py')
    config.model.backbone.pretrained = str(source_file(folder))
    torch.manual_seed(0)
    model = build_model(resolve(config, world_size=1)).train()
    model.init_weights()
    draws = torch.Generator().manual_seed(1)
    labelled, others = ([torch.randn(n, 3, 8, 8, generator=draws) for _ in range(2)] for n in (10, 10))
    batch = {'labelled': {'inputs': labelled, 'labels': torch.arange(10) % 5}}
    if config.model.labeler is not None:
        batch['unlabelled'] = {'inputs': others, 'index': torch.arange(10)}
    torch.manual_seed(2)
    with torch.no_grad():
        model.head.fc.weight.copy_(torch.randn(model.head.fc.weight.shape))
    losses = model(**batch, mode='loss')
    return {name: buffer for name, buffer in model.backbone.named_buffers() if 'running' in name}, losses


@pytest.mark.parametrize('method', ['finetuning', 'cotuning', 'selftuning'])
def test_dm_moves_no_statistics_of_the_method_that_it_is_added_to(method, tmp_path):
    alone, losses = statistics_after_a_step(method, tmp_path)
    added, more_losses = statistics_after_a_step(f'{method}_dm', tmp_path)
    fresh = load_file(source_file(tmp_path))['state_dict']
    assert {'loss_mix_ll', 'loss_mix_lu'} <= set(more_losses) - set(losses)
    for name, value in alone.items():
        assert torch.equal(value, added[name]), name
        assert not torch.equal(value, fresh[f'backbone.{name}']), name  # the method's own images do move them


def moving(config):
    """Name the passes of a config that move statistics, except those of the mixtures."""
    passes = read_passes(config.model.get('passes'))
    terms = [term for term in config.model.terms.values() if term is not None and term.type != 'MixBranch']
    asked = {'main'} | {term.get('where_unlabelled', 'unlabelled') for term in terms if term.type == 'GroupContrast'}
    if config.model.labeler is not None:
        asked.add(config.model.labeler.get('where', 'main'))
    return {name for name in asked if passes[name].statistics}


WITH_DM = [name for name in all_configs() if '_transfer/' in name and '_dm' in name]


@pytest.mark.parametrize('name', WITH_DM)
def test_dm_adds_no_pass_that_moves_statistics(name):
    assert moving(load(name)) == moving(load(name.replace('_dm', '')))


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
