"""From logits to guesses."""

import pytest
import torch
from reference.semi import Alignment, sharpened, softmax
from support.semi_steps import CLASSES, facts, step

from openmix_dm.datasets.streams import StreamFacts
from openmix_dm.semi.alignment import DistributionAlignment
from openmix_dm.semi.executor import Plan, read_passes
from openmix_dm.semi.labeler import Labeler, sharpen
from openmix_dm.semi.step_parts import Output

SIZE = 6


def pseudo(labeler, *logits):
    images = [torch.zeros(SIZE, 3, 4, 4) for _ in logits]
    now = step(images[0][:2], torch.tensor([0, 1]), images)
    requests = labeler.plan(Plan(now, read_passes(None)))
    outputs = {key: Output(each, each) for key, each in zip(requests, logits, strict=True)}
    return labeler.label(now, outputs, requests)


def test_a_guess_of_one_view():
    logits = torch.randn(SIZE, CLASSES, requires_grad=True) * 4
    made = pseudo(Labeler(threshold={'type': 'FixedThreshold', 'tau': 0.6}), logits)
    p = logits.softmax(dim=1)
    assert torch.equal(made.hard, p.argmax(dim=1))
    torch.testing.assert_close(made.confidence, p.max(dim=1).values)
    assert torch.equal(made.mask, (made.confidence >= 0.6).float())
    assert 0 < made.mask.sum() < SIZE
    assert not any(value.requires_grad for value in (made.soft, made.confidence, made.mask))


def test_views_are_averaged_before_they_are_sharpened():
    one, two = torch.randn(2, SIZE, CLASSES)
    made = pseudo(Labeler(views=(0, 1), where='guess', temperature=0.5), one, two)
    for row in range(SIZE):
        said = [softmax(view[row].tolist()) for view in (one, two)]
        mean = [(a + b) / 2 for a, b in zip(*said, strict=True)]
        torch.testing.assert_close(made.soft[row], torch.tensor(sharpened(mean, 0.5)))
        assert made.confidence[row].item() == pytest.approx(max(mean))


def test_the_temperature_sharpens_the_guess_and_not_the_mask():
    """UDA: softmax(z / T) is the target, the unsharpened confidence decides."""
    logits = torch.randn(SIZE, CLASSES) * 2
    warm, cold = (
        pseudo(Labeler(temperature=t, threshold={'type': 'FixedThreshold', 'tau': 0.5}), logits) for t in (1.0, 0.4)
    )
    torch.testing.assert_close(cold.soft, (logits / 0.4).softmax(dim=1))
    assert (cold.soft - warm.soft).abs().max() > 0.05
    assert torch.equal(cold.mask, warm.mask)
    assert torch.equal(cold.confidence, warm.confidence)


def test_sharpening_keeps_a_distribution():
    rows = torch.rand(5, 7).softmax(dim=1)
    assert torch.equal(sharpen(rows, 1.0), rows)
    torch.testing.assert_close(sharpen(rows, 0.3).sum(dim=1), torch.ones(5))


def test_alignment_against_the_reference():
    counts = torch.tensor([1, 2, 3, 4])
    aligner, slow = DistributionAlignment(decay=0.9), Alignment(counts.tolist(), 0.9)
    aligner.setup(StreamFacts(counts, 10))
    for _ in range(5):
        rows = (torch.randn(8, 4) * 3).softmax(dim=1)
        torch.testing.assert_close(aligner(rows), torch.tensor(slow(rows.tolist())))
    torch.testing.assert_close(aligner.running, torch.tensor(slow.mean))


def test_alignment_starts_at_the_first_batch_and_is_resumed():
    aligner, again = (DistributionAlignment() for _ in range(2))
    for each in (aligner, again):
        each.setup(facts())
    rows = torch.randn(8, CLASSES).softmax(dim=1)
    aligner(rows)
    torch.testing.assert_close(aligner.running, rows.mean(dim=0))
    again.load_state_dict(aligner.state_dict())
    more = torch.randn(8, CLASSES).softmax(dim=1)
    assert torch.equal(aligner(more), again(more))


def test_a_labeler_needs_views_and_a_positive_temperature():
    with pytest.raises(ValueError, match='views'):
        Labeler(views=())
    with pytest.raises(ValueError, match='temperature'):
        Labeler(temperature=0.0)
