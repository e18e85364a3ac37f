import pytest
from support.study_calls import study
from support.study_records import write_run
from support.trained_runs import digits_run, vit_run

from openmix_dm.commands.analyze import main


def test_means_over_the_seeds_that_are_done(tmp_path):
    write_run(tmp_path / 'a' / 'seed0', 0, [80.0], hours=1.0, memory=100)
    write_run(tmp_path / 'a' / 'seed1', 1, [90.0], hours=3.0, memory=300)
    write_run(tmp_path / 'a' / 'seed2', 2, [10.0], state='running')
    write_run(tmp_path / 'b' / 'seed0', 0, [50.0], state='failed: x')
    (row,) = study('cost', tmp_path / 'c.png', tmp_path)['runs']
    assert row == {'name': 'a', 'seeds': 2, 'top1': 85, 'top1_deviation': pytest.approx(50**0.5), 'hours': 2} | {
        'memory_mb': 200
    }
    assert main(['cost', str(tmp_path / 'b'), '--out', str(tmp_path / 'd.png')]) == 2


def test_real_runs(tmp_path):
    record = study('cost', tmp_path / 'a.png', digits_run(), vit_run(), '--metric', 'best')
    assert {row['name'] for row in record['runs']} == {'r8_mixup', 'vit'}
    assert all(row['hours'] > 0 and row['memory_mb'] > 10 for row in record['runs'])
    assert record['hardware'][0].endswith('CPU')
