import statistics

import pytest
from support.study_calls import study
from support.study_records import write_run
from support.trained_runs import digits_run, vit_run

from openmix_dm.commands.analyze import main


def test_means_and_deviations_by_hand(tmp_path):
    write_run(tmp_path / 'a' / 'seed0', 0, [10.0, 20.0, 30.0])
    write_run(tmp_path / 'a' / 'seed1', 1, [20.0, 40.0])  # still running
    write_run(tmp_path / 'b' / 'seed0', 0, [5.0, 6.0, 7.0])
    record = study('curves', tmp_path / 'c.png', tmp_path, '--metrics', 'top1', 'loss', 'val_loss')
    found = record['metrics']['top1']['a']
    assert found['epochs'] == [1, 2, 3]
    assert found['mean'] == [15, 30, 30]
    assert found['deviation'] == pytest.approx([statistics.stdev([10, 20]), statistics.stdev([20, 40]), 0])
    assert found['runs'] == [2, 2, 1]
    assert record['metrics']['loss']['b']['mean'] == pytest.approx([1, 1 / 2, 1 / 3])  # the last of an epoch
    assert record['metrics']['val_loss']['b']['mean'] == pytest.approx([2, 2 / 2, 2 / 3])
    last = study('curves', tmp_path / 'd.svg', tmp_path / 'b', '--last', 2)
    assert last['metrics']['top1']['b']['epochs'] == [2, 3]


def test_real_runs(tmp_path):
    record = study('curves', tmp_path / 'a.png', digits_run(), vit_run())
    assert record['metrics']['top1']['r8_mixup']['epochs'] == [1, 2, 3]


def test_mistakes_are_refused(tmp_path, capsys):
    write_run(tmp_path / 'a' / 'seed0', 0, [10.0])
    out = ('--out', str(tmp_path / 'a.png'))
    assert main(['curves', str(tmp_path / 'nothing'), *out]) == 2
    assert main(['curves', str(tmp_path), '--metrics', 'tpo1', *out]) == 2
    assert 'did you mean top1' in capsys.readouterr().err
