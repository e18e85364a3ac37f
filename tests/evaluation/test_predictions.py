import numpy as np
import pytest
import torch

from openmix_dm.errors import DataError
from openmix_dm.evaluation import predictions
from openmix_dm.evaluation.predictions import Predictions, read_predictions


def test_all_ranks_end_up_in_the_order_of_the_test_set(tmp_path, monkeypatch):
    labels, logits = torch.arange(7) % 3, torch.randn(7, 3)
    logits[4, 1] = float('nan')
    metric = Predictions(str(tmp_path / 'a.npz'))
    own = []
    for rank in range(3):  # as EvalBatches deals: rank r has the places r, r + 3, ...
        places = list(range(rank, 7, 3))
        for part in (places[:2], places[2:]):
            metric.process(None, [{'logits': logits[part], 'labels': labels[part]}]) if part else None
        monkeypatch.setattr(predictions, 'all_gather_object', lambda parts: own.append(parts) or [parts])
        assert metric.evaluate(7) == {}
    monkeypatch.setattr(predictions, 'all_gather_object', lambda parts: own)
    assert metric.evaluate(7) == {}
    answers = read_predictions(tmp_path / 'a.npz')
    assert answers.labels.tolist() == labels.tolist()
    expected = logits.nan_to_num().argmax(1)
    expected[4] = -1
    assert answers.predictions.tolist() == expected.tolist()
    assert not answers.hits[4]


def test_other_files_are_refused(tmp_path):
    np.savez(tmp_path / 'a.npz', x=np.ones(3))
    np.savez(tmp_path / 'b.npz', predictions=np.array([object()]), labels=np.ones(1))
    (tmp_path / 'c.npz').write_text('nothing')
    for name in ('a', 'b', 'c', 'd'):
        with pytest.raises(DataError, match=r'test\.py --hits'):
            read_predictions(tmp_path / f'{name}.npz')
