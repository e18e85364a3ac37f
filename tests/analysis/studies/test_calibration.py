import pytest
from support.study_calls import study
from support.trained_runs import digits_run, vit_run

from openmix_dm.datasets.digits import Digits
from openmix_dm.runs.model import open_trained


def test_ece_of_a_model_by_hand(tmp_path):
    record = study('calibration', tmp_path / 'a.png', digits_run(), vit_run(), '--bins', 10)
    data, model = Digits('test'), open_trained(digits_run()).model
    logits = model(model.data_preprocessor({'inputs': data.images})['inputs'])
    sure, best = logits.softmax(1).max(1)
    bins = [[] for _ in range(10)]
    for confidence, right in zip(sure.tolist(), (best == data.labels).tolist(), strict=True):
        bins[max(0, -int(-(confidence * 10) // 1) - 1)].append((confidence, right))
    gaps = [abs(sum(c for c, _ in each) - sum(r for _, r in each)) for each in bins if each]
    row = record['runs'][0]
    assert row['ece'] == pytest.approx(100 * sum(gaps) / 360, abs=1e-3)
    assert row['accuracy_percent'] == pytest.approx(100 * (best == data.labels).float().mean().item())
    assert not row['sigmoid']


def test_a_model_trained_by_bce_is_read_by_its_sigmoid(tmp_path):
    arguments = ('--limit', 20, '--cfg-options', "model.head.loss={'type': 'MixedBCE'}")
    assert study('calibration', tmp_path / 'a.png', digits_run(), *arguments)['runs'][0]['sigmoid']
