import numpy as np
import pytest

from openmix_dm.analysis import hard_boxes
from openmix_dm.analysis.hard_boxes import hardest_box


@pytest.mark.parametrize('side', ['inside', 'outside'])
def test_no_box_that_could_be_drawn_is_harder(side):
    saliency = np.random.default_rng(0).random((9, 12)) ** 4
    found = hardest_box(saliency, 0.3, side)
    gaps = []
    for size in range(1, hard_boxes.SIDES + 1):
        for y in range(9):
            for x in range(12):
                tall, wide = int(9 * size / hard_boxes.SIDES), int(12 * size / hard_boxes.SIDES)
                top, bottom = max(y - tall // 2, 0), min(y + tall // 2, 9)
                left, right = max(x - wide // 2, 0), min(x + wide // 2, 12)
                area = (bottom - top) * (right - left) / 108
                seen = saliency[top:bottom, left:right].sum() / saliency.sum()
                weight, evidence = (area, seen) if side == 'inside' else (1 - area, 1 - seen)
                if abs(weight - 0.3) <= 0.05:
                    gaps.append(evidence - weight)
    assert found.evidence - found.weight == pytest.approx(max(gaps))


def test_the_evidence_is_what_the_box_shows():
    saliency = np.zeros((16, 16))
    saliency[2:6, 9:13] = 1  # all that is salient is in one place
    inside = hardest_box(saliency, 0.25, 'inside')
    assert inside.evidence == pytest.approx(1)
    outside = hardest_box(saliency, 0.3, 'outside')
    box = outside.box
    covered = saliency[box.top : box.bottom, box.left : box.right].sum() / saliency.sum()
    assert outside.evidence == pytest.approx(1 - covered)
    assert outside.evidence > outside.weight


def test_mistakes_are_refused():
    with pytest.raises(ValueError, match='weight must be'):
        hardest_box(np.ones((8, 8)), 1.0, 'inside')
    with pytest.raises(ValueError, match='no box'):
        hardest_box(np.ones((2, 2)), 0.35, 'inside')
