import pytest
import torch

from openmix_dm.evaluation import TopK


def evaluate(logits, labels, topk=(1, 5), batches=2):
    metric = TopK(topk=topk)
    for part, answer in zip(logits.chunk(batches), labels.chunk(batches), strict=True):
        metric.process(None, [{'logits': part, 'labels': answer}])
    return metric.evaluate(len(labels))


def test_by_hand():
    logits = torch.tensor([[3.0, 2, 1], [1, 3, 2], [3, 2, 1], [2, 1, 3]])
    labels = torch.tensor([0, 2, 2, 2])
    assert evaluate(logits, labels, topk=(1, 2, 3)) == {'top1': 50.0, 'top2': 75.0, 'top3': 100.0}


def test_against_sorting():
    logits, labels = torch.randn(100, 20), torch.randint(20, (100,))
    rank = (logits > logits.gather(1, labels[:, None])).sum(dim=1)
    expected = {f'top{k}': 100 * (rank < k).double().mean().item() for k in (1, 5)}
    assert evaluate(logits, labels) == pytest.approx(expected)


def test_fewer_classes_than_k():
    assert evaluate(torch.randn(4, 3), torch.zeros(4, dtype=torch.long))['top5'] == 100.0


def test_not_finite_is_wrong():
    logits = torch.zeros(2, 3)
    logits[0, 1] = torch.nan
    logits[1, 0] = torch.inf
    assert evaluate(logits, torch.tensor([1, 0]))['top5'] == 0.0


def test_starts_anew_after_each_evaluation():
    metric = TopK()
    metric.process(None, [{'logits': torch.eye(3), 'labels': torch.arange(3)}])
    assert metric.evaluate(3)['top1'] == 100.0
    metric.process(None, [{'logits': torch.eye(3), 'labels': torch.tensor([1, 2, 0])}])
    assert metric.evaluate(3)['top1'] == 0.0


def test_bad_k_is_refused():
    for topk in ((), (0,)):
        with pytest.raises(ValueError, match='topk'):
            TopK(topk=topk)
