import math

import pytest
import torch

from openmix_dm.evaluation.reliability import confidence_of, reliability


def slow_ece(confidence, hits, bins):
    """By hand: walk the bins, walk the predictions."""
    total = 0.0
    for number in range(bins):
        low, high = number / bins, (number + 1) / bins
        inside = [i for i, c in enumerate(confidence) if (low < c <= high) or (number == 0 and c == 0)]
        if inside:
            sure = sum(confidence[i] for i in inside) / len(inside)
            right = sum(hits[i] for i in inside) / len(inside)
            total += len(inside) / len(confidence) * abs(sure - right)
    return 100 * total


@pytest.mark.parametrize('bins', [1, 4, 15])
def test_ece_by_hand(bins):
    confidence = torch.rand(200, dtype=torch.float64)
    confidence[:5] = torch.tensor([0.0, 1.0, 0.25, 0.5, 0.75])
    hits = torch.rand(200) < 0.6
    result = reliability(confidence, hits, bins)
    assert math.isclose(result.ece, slow_ece(confidence.tolist(), hits.tolist(), bins), abs_tol=1e-9)
    assert sum(result.counts) == 200
    assert math.isclose(result.accuracy_percent, 100 * hits.double().mean().item())


def test_two_numbers_that_anybody_can_check():
    # two sure and right, two at 0.6 of which one is right: half of 0 plus half of 0.1
    result = reliability(torch.tensor([1.0, 1.0, 0.6, 0.6]), torch.tensor([True, True, True, False]), bins=10)
    assert math.isclose(result.ece, 5.0, abs_tol=1e-5)
    assert result.counts[9] == 2
    assert result.counts[5] == 2 or result.counts[6] == 2
    assert reliability(torch.ones(3), torch.ones(3, dtype=torch.bool)).ece == 0


def test_confidence_is_the_largest_probability():
    logits = torch.tensor([[0.0, math.log(3.0)], [2.0, 0.0]])
    confidence, best = confidence_of(logits.softmax(dim=1))
    assert best.tolist() == [1, 0]
    assert torch.allclose(confidence, torch.tensor([0.75, 1 / (1 + math.exp(-2))]))
    assert torch.allclose(confidence_of(logits.sigmoid())[0], torch.tensor([0.75, 1 / (1 + math.exp(-2))]))


def test_mistakes_are_refused():
    with pytest.raises(ValueError, match='not logits'):
        reliability(torch.tensor([3.0]), torch.tensor([True]))
    with pytest.raises(ValueError, match='one length'):
        reliability(torch.tensor([0.3]), torch.tensor([True, False]))
    with pytest.raises(ValueError, match='bins'):
        reliability(torch.tensor([0.3]), torch.tensor([True]), bins=0)
