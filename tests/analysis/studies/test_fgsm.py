import pytest
import torch
from support.study_calls import study
from support.trained_runs import digits_run, vit_run

from openmix_dm.commands.analyze import main
from openmix_dm.datasets.digits import Digits
from openmix_dm.evaluation.attacks import error_percent, fgsm
from openmix_dm.runs.model import open_trained


def test_errors_are_those_of_the_plain_function(tmp_path):
    runs = (digits_run(), vit_run())
    record = study('fgsm', tmp_path / 'a.png', *runs, '--eps', 8, 0, 2)
    assert [row['name'] for row in record['runs']] == ['r8_mixup', 'vit']
    assert record['eps_255'] == [0, 2, 8]
    data = Digits('test')
    batch = [(data.images.float() / 255, data.labels)]
    for path, row in zip(runs, record['runs'], strict=True):
        model = open_trained(path).model
        assert row['images'] == 360
        assert row['fgsm'][0] == pytest.approx(error_percent(model, batch, attack=None))
        assert row['fgsm'][2] == pytest.approx(error_percent(model, batch, attack=fgsm))
    assert record['runs'][0]['fgsm'][0] < record['runs'][0]['fgsm'][2]


def test_pgd_is_at_least_as_strong_and_repeatable(tmp_path):
    arguments = (digits_run(), '--eps', 0, 4, '--pgd', 5, '--limit', 60)
    first = study('fgsm', tmp_path / 'a.svg', *arguments)['runs'][0]
    torch.rand(3)
    assert first == study('fgsm', tmp_path / 'b.png', *arguments)['runs'][0]
    assert first['images'] == 60
    assert first['pgd'][0] == first['fgsm'][0]
    assert first['pgd'][1] >= first['fgsm'][1]


def test_mistakes_are_refused(tmp_path, capsys):
    assert main(['fgsm', str(tmp_path), '--out', str(tmp_path / 'a.png')]) == 4
    assert 'holds no checkpoint' in capsys.readouterr().err
    run = str(digits_run())
    assert main(['fgsm', run, '--out', str(tmp_path / 'a.txt')]) == 2
    assert main(['fgsm', run, '--out', str(tmp_path / 'no' / 'a.png')]) == 2
    assert main(['fgsm', run, '--eps', '-1', '--out', str(tmp_path / 'a.png')]) == 2
    assert main(['fgsm', run, '--names', 'a', 'b', '--out', str(tmp_path / 'a.png')]) == 2
    assert main(['fgsm', run, '--limit', '0', '--out', str(tmp_path / 'a.png')]) == 2
    assert main(['fgsm', 'configs/digits/r8_mixup.py', '--out', str(tmp_path / 'a.png')]) == 2
    assert 'expected a checkpoint after the config' in capsys.readouterr().err
