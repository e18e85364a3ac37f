"""Two ranks know together what one would know alone."""

import pytest
import torch
from support.two_ranks import on_two_ranks

from openmix_dm.datasets.streams import StreamFacts
from openmix_dm.semi.alignment import DistributionAlignment
from openmix_dm.semi.thresholds import CurriculumThreshold
from openmix_dm.utils.dist import gather_rows, mean_over_batch

STEPS, SIZE, CLASSES, IMAGES = 12, 16, 5, 30


def batches():
    generator = torch.Generator().manual_seed(0)
    for _ in range(STEPS):
        probabilities = (torch.randn(SIZE, CLASSES, generator=generator) * 4).softmax(dim=1)
        yield probabilities, torch.randint(IMAGES, (SIZE,), generator=generator)  # some images are there twice


def follow(rank, ranks):
    """Give the state after all batches, of which this rank sees its slice."""
    threshold, aligner = CurriculumThreshold(tau=0.7), DistributionAlignment(decay=0.9)
    for part in (threshold, aligner):
        part.setup(StreamFacts(torch.arange(1, CLASSES + 1), IMAGES))
    aligned = []
    share = SIZE // ranks
    for probabilities, index in batches():
        mine = slice(rank * share, (rank + 1) * share)
        confidence, hard = probabilities[mine].max(dim=1)
        threshold.record(confidence, hard, index[mine])
        aligned.append(aligner(probabilities[mine]))
    levels = threshold.levels(CLASSES, torch.device('cpu'))
    return {'remembered': threshold.remembered, 'levels': levels, 'mean': aligner.running, 'aligned': aligned}


def follow_half(rank):
    return follow(rank, 2)


def test_one_rank_gathers_nothing():
    rows = torch.randn(3, 2)
    assert gather_rows(rows) is rows
    assert torch.equal(mean_over_batch(rows), rows.mean(dim=0))


@pytest.mark.slow
def test_thresholds_and_alignment_of_two_ranks_are_those_of_one(tmp_path):
    alone = follow(0, 1)
    halves = on_two_ranks(follow_half, tmp_path)
    for half in halves:
        assert torch.equal(half['remembered'], alone['remembered'])
        assert torch.equal(half['levels'], alone['levels'])
        torch.testing.assert_close(half['mean'], alone['mean'])
    for step, whole in enumerate(alone['aligned']):
        torch.testing.assert_close(torch.cat([half['aligned'][step] for half in halves]), whole)
    assert (alone['remembered'] >= 0).sum() > IMAGES // 2
