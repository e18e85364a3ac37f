"""The best weights by any value of the validations, kept exactly over resumes."""

import pytest
from support.short_runs import PowerCut, power_cut, same, train

from openmix_dm.engine import eval_loops
from openmix_dm.runs.checkpoints import load_file
from openmix_dm.runs.folder import RunFolder

# of four epochs; the best is the second
VALUES = (30.0, 70.0, 40.0, 70.0)
BEST = ('train_cfg.max_epochs=4', 'default_hooks.checkpoint.save_best=top1')


@pytest.fixture
def scripted(monkeypatch):
    """Validations whose numbers are known: that of an epoch depends on the epoch alone."""

    def evaluate(loop, model, may_stop=False):
        return {'top1': VALUES[loop.runner.epoch - 1], 'error': 100 - VALUES[loop.runner.epoch - 1]}

    monkeypatch.setattr(eval_loops, 'evaluate', evaluate)


def test_the_first_of_the_best_epochs_is_kept(scripted, tmp_path):
    assert train(tmp_path / 'run', *BEST, 'default_hooks.checkpoint.keep=4') == 0
    best = load_file(tmp_path / 'run' / 'best_top1.pth')
    assert (best['meta']['epoch'], best['meta']['best']) == (2, {'top1': 70.0})
    assert 'optimizer' not in best
    assert same(best['state_dict'], load_file(tmp_path / 'run' / 'epoch_2.pth')['state_dict'])


def test_less_can_be_better(scripted, tmp_path):
    options = (
        'train_cfg.max_epochs=4',
        'default_hooks.checkpoint.save_best=error',
        'default_hooks.checkpoint.rule=less',
    )
    assert train(tmp_path / 'run', *options) == 0
    assert load_file(tmp_path / 'run' / 'best_error.pth')['meta']['best'] == {'error': 30.0}


@pytest.mark.parametrize('cut', [10, 16, 24])
def test_a_run_that_was_killed_keeps_the_same_weights(scripted, tmp_path, monkeypatch, cut):
    """Before the best epoch, after it, and while a worse one is trained."""
    assert train(tmp_path / 'whole', *BEST) == 0
    with power_cut(monkeypatch, cut), pytest.raises(PowerCut):
        train(tmp_path / 'cut', *BEST)
    assert train(tmp_path / 'cut', *BEST, arguments=['--resume']) == 0
    assert same(*(load_file(tmp_path / name / 'best_top1.pth') for name in ('whole', 'cut')))


def test_a_value_that_no_validation_has_is_refused_after_the_epoch_was_saved(tmp_path, capsys):
    assert train(tmp_path / 'run', 'default_hooks.checkpoint.save_best=topp1') == 2
    assert "save_best='topp1': validations have top1, top5" in capsys.readouterr().err
    assert (tmp_path / 'run' / 'epoch_1.pth').exists()
    assert RunFolder(tmp_path / 'run').read()['state'].startswith('failed')


def test_the_best_is_no_place_to_go_on_from(scripted, tmp_path):
    assert train(tmp_path / 'run', *BEST) == 0
    assert train(tmp_path / 'run', *BEST, arguments=['--resume']) == 0  # from the last epoch: there is nothing to do
    assert len(RunFolder(tmp_path / 'run').records('val')) == 4
