"""CutMix boxes whose label is wrong about what can be seen: the two kinds of hard samples (Figure 2).

A side is hard when the share of its saliency that is visible is larger than its weight in the label: the partner, when
a small box shows the salient part of it; the own image, when a large box leaves its salient part uncovered.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from openmix_dm.mixers.boxes import Box, interval

Side = Literal['inside', 'outside']  # where the side is seen whose evidence counts: the partner's or the own image's
SIDES = 24  # sizes of boxes that are tried
CENTRES = 48  # centres that are tried down and across


@dataclass(frozen=True)
class HardBox:
    """A box, and how much it shows of the hard side: its weight in the label and the share of its saliency."""

    box: Box
    weight: float
    evidence: float


def hardest_box(saliency: np.ndarray, weight: float, side: Side, tolerance: float = 0.05) -> HardBox:
    """Find the box that CutMix could draw whose hard side has about `weight` in the label and the most evidence.

    saliency: (H, W), of the partner for 'inside', of the own image for 'outside'.
    """
    if not 0 < weight < 1:
        raise ValueError(f'weight must be in (0, 1), got {weight}')
    height, width = saliency.shape
    sums = np.pad(saliency.astype(np.float64), ((1, 0), (1, 0))).cumsum(0).cumsum(1)
    total = float(sums[-1, -1])
    best: HardBox | None = None
    for box in _boxes(height, width):
        area = (box.bottom - box.top) * (box.right - box.left) / (height * width)
        shown = area if side == 'inside' else 1 - area
        if abs(shown - weight) > tolerance:
            continue
        share = _sum_within(sums, box) / total if total > 0 else area
        found = HardBox(box, shown, share if side == 'inside' else 1 - share)
        if best is None or found.evidence - found.weight > best.evidence - best.weight:
            best = found
    if best is None:
        raise ValueError(f'no box of an image of {height} x {width} pixels has a weight within {tolerance} of {weight}')
    return best


def _sum_within(sums: np.ndarray, box: Box) -> float:
    down = sums[box.bottom] - sums[box.top]
    return float(down[box.right] - down[box.left])


def _boxes(height: int, width: int) -> list[Box]:
    """List boxes as CutMix draws them: of the aspect of the image, around a centre, cut off at the border."""
    rows, columns = (np.unique(np.linspace(0, size - 1, min(size, CENTRES)).astype(int)) for size in (height, width))
    boxes = [
        Box(*interval(int(y), int(height * size / SIDES), height), *interval(int(x), int(width * size / SIDES), width))
        for size in range(1, SIDES + 1)
        for y in rows
        for x in columns
    ]
    return list(dict.fromkeys(boxes))
