import pytest
import torch
from support.study_calls import study
from support.trained_runs import digits_run, vit_run

from openmix_dm.commands.analyze import main
from openmix_dm.datasets.digits import Digits
from openmix_dm.runs.model import open_trained


def test_the_ends_of_the_curve_are_known(tmp_path):
    runs = (digits_run(), vit_run())
    record = study('occlusion', tmp_path / 'a.png', *runs, '--ratios', 0, 0.5, 1)
    data = Digits('test')
    for path, row in zip(runs, record['runs'], strict=True):
        model = open_trained(path).model
        with torch.no_grad():
            clean = model(model.data_preprocessor({'inputs': data.images})['inputs']).argmax(1)
            nothing = model(torch.zeros(1, 3, 16, 16)).argmax(1)
        assert row['patch'] == 2
        assert row['accuracy'][0] == pytest.approx(100 * (clean == data.labels).float().mean().item())
        assert row['accuracy'][2] == pytest.approx(100 * (nothing == data.labels).float().mean().item())
        assert row['accuracy'][2] < 15


def test_batches_do_not_matter_and_black_does(tmp_path):
    run = digits_run()
    whole, parts, black = (
        study('occlusion', tmp_path / 'a.png', run, '--ratios', 0.4, *more)['runs'][0]['accuracy']
        for more in ((), ('--batch-size', 7), ('--fill', 'black', '--patch', 4))
    )
    assert whole == parts
    assert black != whole
    assert main(['occlusion', str(run), '--ratios', '2', '--out', str(tmp_path / 'a.png')]) == 2
    assert main(['occlusion', str(run), '--patch', '17', '--out', str(tmp_path / 'a.png')]) == 2
