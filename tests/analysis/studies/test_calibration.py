import pytest
from support.study_calls import study
from support.trained_runs import digits_run, vit_run

from openmix_dm.analysis.models import ModelSelection, load_models
from openmix_dm.datasets.digits import Digits
from openmix_dm.evaluation.pixels import logits_of
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


def test_a_model_trained_by_bce_is_read_by_its_sigmoid(tmp_path):
    """A loss says how its logits become probabilities; an unknown one of another package too."""
    arguments = ('--limit', 20, '--cfg-options', "model.head.loss={'type': 'MixedBCE'}")
    (row,) = study('calibration', tmp_path / 'a.png', digits_run(), *arguments)['runs']
    (model,) = load_models(ModelSelection([str(digits_run())], limit=20))
    ((_, shown, _),) = model.batches(20)[0]
    logits = logits_of(model.network, shown).detach()
    weights = [count / 20 for count in row['counts']]
    mean = sum(weight * each for weight, each in zip(weights, row['confidence'], strict=True))
    assert mean == pytest.approx(logits.sigmoid().amax(dim=1).mean().item(), abs=1e-5)
    assert mean != pytest.approx(logits.softmax(dim=1).amax(dim=1).mean().item(), abs=1e-3)
