"""The best labels of whole rows and columns of blocks at once, given the lines beside them.

A line is a chain, whose best labels are found exactly by dynamic programming: all even lines of a batch, then all odd
ones. Unlike the step from block to block this moves the border of a region as a whole.

On a GPU each operation costs its launch and little else. What stays the same from pass to pass is made once, and the
lines beside others are views of a grid with a border.
"""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from openmix_dm.mixers.puzzle.energy import Energy


def improve_lines(energy: Energy, z: Tensor, passes: int = 1) -> Tensor:
    """Return z (N, g, g) with an energy that is no higher, after passes over its columns and then its rows."""
    turned = replace(energy, linear=energy.linear.mT, down=energy.right.mT, right=energy.down.mT)
    columns, rows = _Rows(turned), _Rows(energy)
    for _ in range(passes):
        z = rows.improve(columns.improve(z.mT).mT)
    return z


class _Lines(NamedTuple):
    """Say which rows are improved together, and hold the parts of the energy that are theirs."""

    which: slice
    up: Tensor  # (N, lines, g) weight of the edge to the row above
    down: Tensor  # and to the row below
    slope: Tensor  # of the cost of z, but for the pull of the rows beside
    bent: Tensor  # (g, L, N, lines) its quadratic part
    apart: Tensor  # (g, L, L, N, lines) the cost of two labels side by side


class _Rows:
    """Improve the rows of grids, the even ones and then the odd ones; hold what does not depend on z."""

    def __init__(self, energy: Energy) -> None:
        up = energy.down.roll(1, 1)  # what comes around is the 0 of the last row
        slope, stiff = energy.linear - energy.curvature, energy.curvature + up + energy.down
        self.steps, (self.choices, squares, differences) = energy.steps, _labels(energy.steps, up.dtype, up.device)
        bent, apart = _along(stiff) * squares, _along(energy.right)[:, :, None] * differences
        self.parities = [
            _Lines(each, up[:, each], energy.down[:, each], slope[:, each], bent[..., each], apart[..., each])
            for each in (slice(parity, None, 2) for parity in range(min(2, slope.shape[1])))
        ]

    def improve(self, z: Tensor) -> Tensor:
        """Return better rows (N, g, g)."""
        grid = F.pad(z, (0, 0, 1, 1))  # a row of zeros above and one below
        inner = grid[:, 1:-1]
        for lines in self.parities:
            pulled = lines.up * grid[:, :-2][:, lines.which] + lines.down * grid[:, 2:][:, lines.which]
            cost = _along(torch.sub(lines.slope, pulled, alpha=2)) * self.choices + lines.bent
            torch.div(_best_chain(cost, lines.apart).movedim(0, 2), self.steps, out=inner[:, lines.which])
        return inner


@lru_cache(maxsize=64)
def _labels(steps: int, dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Return the labels, their squares, and the squared differences of each two of them, with room for the lines."""
    labels = torch.arange(steps + 1, dtype=dtype, device=device) / steps
    differences = (labels[:, None] - labels).square()
    return labels[:, None, None], labels.square()[:, None, None], differences[:, :, None, None]


def _along(lines: Tensor) -> Tensor:
    """Return lines (N, lines, g) as (g, 1, N, lines): places first, then room for labels."""
    return lines.movedim(2, 0)[:, None]


def _best_chain(cost: Tensor, apart: Tensor) -> Tensor:
    """Return the labels (g, N, lines) of the least sum of cost (g, L, N, lines) and of apart (g, L, L, N, lines).

    apart[p] is the cost of two labels at p and p + 1.
    """
    least, choices = cost[0], []
    for place in range(1, len(cost)):
        before, choice = (least[:, None] + apart[place - 1]).min(dim=0)
        least = before + cost[place]
        choices.append(choice)
    best = torch.empty(len(cost), *least.shape[1:], dtype=torch.int64, device=cost.device)
    torch.argmin(least, dim=0, out=best[-1])
    for place, choice in reversed(list(enumerate(choices))):
        torch.gather(choice, 0, best[place + 1][None], out=best[place][None])
    return best
