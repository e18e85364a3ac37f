import math

import pytest
from conftest import ROOT
from support.study_calls import study
from support.trained_runs import digits_run

from openmix_dm.commands.analyze import main
from openmix_dm.runs.folder import RunFolder

CONFIG = ROOT / 'configs/digits/r8_mixup.py'


def test_a_cosine_by_its_formula(tmp_path):
    record = study('lr', tmp_path / 'a.png', CONFIG, ROOT / 'configs/imagenet/r50_mixup.py', '--iterations', 10)
    for row, epochs in zip(record['runs'], (40, 100), strict=True):
        assert row['max_epochs'] == epochs
        for epoch, rate in zip(row['epochs'], row['lr'], strict=True):
            assert rate == pytest.approx(0.05 * (1 + math.cos(math.pi * epoch / epochs)), abs=1e-6)


def test_warm_up_and_steps(tmp_path):
    schedule = (
        "param_scheduler=[dict(type='LinearLR', start_factor=0.1, by_epoch=True, begin=0, end=2, "
        "convert_to_iter_based=True), dict(type='MultiStepLR', by_epoch=True, milestones=[3], gamma=0.1, end=5)]"
    )
    options = (schedule, 'train_cfg.max_epochs=5')
    (row,) = study('lr', tmp_path / 'a.png', CONFIG, '--iterations', 4, '--cfg-options', *options)['runs']
    rates = dict(zip(row['epochs'], row['lr'], strict=True))
    assert rates[0] == pytest.approx(0.01)
    assert rates[2.5] == pytest.approx(0.1)
    assert rates[4] == pytest.approx(0.01)


def test_what_is_drawn_is_what_a_run_had(tmp_path):
    records = RunFolder(digits_run()).records('train')
    options = ('train_cfg.max_epochs=3', 'global_batch_size=200')
    arguments = ('--iterations', 7, '--relative', '--cfg-options', *options)
    (row,) = study('lr', tmp_path / 'a.png', CONFIG, *arguments)['runs']
    rates = {round(epoch * 7): rate for epoch, rate in zip(row['epochs'], row['lr'], strict=True)}
    # a record is written when the schedule has moved on to the next iteration
    assert [record['lr'] for record in records[:-1]] == pytest.approx([rates[r['iter']] for r in records[:-1]])


def test_mistakes_are_refused(tmp_path):
    assert main(['lr', 'configs/digits/no.py', '--out', str(tmp_path / 'a.png')]) == 2
    assert main(['lr', str(CONFIG), '--iterations', '0', '--out', str(tmp_path / 'a.png')]) == 2
