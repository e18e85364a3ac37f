"""A run of any method that was stopped and resumed equals an unbroken one, bit for bit."""

import pytest
from engine.test_iter_train_loop import run
from support.semi_steps import FOLDER, METHODS
from support.short_runs import PowerCut, power_cut, same

from openmix_dm.runs.checkpoints import load_file
from openmix_dm.runs.folder import RunFolder

# thresholds of classes; a running mean, a head of its own and mixing; a teacher and a head of the mixtures
PLAIN = ('flexmatch', 'remixmatch', 'fixmatch_dm-released')
SAVING = 'default_hooks.checkpoint.save_every_iters=2'


def check(method, folder, monkeypatch, *options):
    config = FOLDER / f'r8_{method}.py'
    assert run(folder / 'whole', SAVING, *options, config=config) == 0
    for cut in (3, 5):  # between two rounds, and in the middle of one
        arguments = ('--resume',) if (folder / 'cut').exists() else ()
        with power_cut(monkeypatch, cut), pytest.raises(PowerCut):
            run(folder / 'cut', SAVING, *options, arguments=arguments, config=config)
    assert run(folder / 'cut', SAVING, *options, arguments=('--resume',), config=config) == 0
    whole, cut = (load_file(folder / name / 'iter_7.pth') for name in ('whole', 'cut'))
    assert same(whole, cut)
    records = [RunFolder(folder / name).records('val') for name in ('whole', 'cut')]
    assert records[0] == records[1]
    return whole


@pytest.mark.parametrize('method', PLAIN)
def test_resume_is_exact(method, tmp_path, monkeypatch):
    check(method, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize('method', [method for method in METHODS if method not in PLAIN])
def test_resume_is_exact_slowly(method, tmp_path, monkeypatch):
    check(method, tmp_path, monkeypatch)


@pytest.mark.slow
def test_resume_is_exact_in_the_middle_of_ramps(tmp_path, monkeypatch):
    ramps = "model.terms.mix.ll_ramp=dict(type='CosineRamp', falling=True)", 'model.terms.mix.ll_weight=0.3'
    check('fixmatch_dm', tmp_path, monkeypatch, *ramps)


@pytest.mark.slow
def test_resume_is_exact_with_workers(tmp_path, monkeypatch):
    state = check('flexmatch', tmp_path, monkeypatch, 'train_dataloader.num_workers=2')
    assert run(tmp_path / 'alone', SAVING, config=FOLDER / 'r8_flexmatch.py') == 0
    assert same(load_file(tmp_path / 'alone' / 'iter_7.pth')['state_dict'], state['state_dict'])
