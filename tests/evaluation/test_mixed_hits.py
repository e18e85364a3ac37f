import pytest
import torch
from reference.mixed import slow_hits

from openmix_dm.evaluation.mixed_hits import count_by_bin, mixed_hits, nearest_bin


def test_hits_by_a_loop_over_sets():
    logits, y_a, y_b = torch.randn(300, 4), torch.randint(4, (300,)), torch.randint(4, (300,))
    top1, top2 = mixed_hits(logits, y_a, y_b)
    assert (top1.tolist(), top2.tolist()) == slow_hits(logits, y_a, y_b)
    assert 0 < sum(top2.tolist()) < sum(top1.tolist()) < 300


def test_by_hand():
    logits = torch.tensor([[3.0, 2, 1], [3, 2, 1], [1, 3, 2], [float('nan'), 0, 1]])
    top1, top2 = mixed_hits(logits, torch.tensor([1, 0, 0, 0]), torch.tensor([0, 2, 2, 1]))
    assert top1.tolist() == [True, True, False, False]
    assert top2.tolist() == [True, False, False, False]
    with pytest.raises(ValueError, match='2 or more classes'):
        mixed_hits(torch.zeros(2, 1), torch.tensor([0, 0]), torch.tensor([0, 0]))


def test_bins():
    centres = torch.tensor([0.1, 0.5, 0.9])
    bins = nearest_bin(torch.tensor([0.0, 0.29, 0.31, 0.71, 1.0]), centres)
    assert bins.tolist() == [0, 0, 1, 2, 2]
    assert count_by_bin(torch.tensor([True, False, True, True, True]), bins, 3).tolist() == [1, 1, 2]
