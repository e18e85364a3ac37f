"""A fast minimiser of the energy: tensors only, the same work for every batch, no wait for the device.

Given its neighbours, the best z of a block is the minimum of a parabola, rounded to the nearest label. So: first relax
without rounding (over-relaxed sweeps over the red and the black blocks of a chessboard), then sweep with rounding, then
improve whole lines. With two labels no block can give way by half, and rounding at one half goes wrong for regions as a
whole: there the best of several thresholds, none and all among them, takes the place of the sweeps.

Grids lie one after another in one long row; a neighbour is a shift of it, and edges that would leave a grid have weight
0.
"""

from functools import lru_cache

import torch
from torch import Tensor

from openmix_dm.mixers.puzzle.energy import Energy
from openmix_dm.mixers.puzzle.lines import improve_lines

RELAXATIONS, ROUNDINGS, LINES, OVER = 8, 2, 2, 1.5
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def solve_relaxed(energy: Energy) -> Tensor:
    """Return z (N, g, g): nearly of the least energy.

    On images with the gradients of a network, the mean gap to it is below 0.5 %, the largest 2 %; with two labels
    0.02 % and 1.1 %.
    """
    sweep = _Sweep(energy)
    for _ in range(RELAXATIONS):
        sweep.relax()
    for _ in range(ROUNDINGS if energy.steps > 1 else 0):
        sweep.round()
    z = sweep.z.view_as(energy.linear)
    z = z if energy.steps > 1 else best_threshold(energy, z)
    return improve_lines(energy, z, LINES)


def best_threshold(energy: Energy, z: Tensor) -> Tensor:
    """Return 0 and 1 (N, g, g): z above the threshold that has the least energy for each sample, or all 0, or all 1."""
    chosen, least = torch.zeros_like(z), energy.of(torch.zeros_like(z))
    for candidate in (torch.ones_like(z), *((z > threshold).to(z.dtype) for threshold in THRESHOLDS)):
        cost = energy.of(candidate)
        chosen = torch.where((cost < least)[:, None, None], candidate, chosen)
        least = torch.minimum(cost, least)
    return chosen


class _Sweep:
    """Hold z and what is needed to improve it; z is a window of a longer row, so that shifts are views."""

    def __init__(self, energy: Energy) -> None:
        grid, count = energy.linear.shape[-1], energy.linear.numel()
        row = energy.linear.new_full((count + 2 * grid,), 0.5)
        self.z = row[grid : grid + count]
        self.grids = self.z.view(-1, grid * grid)
        up, left = _shifted(energy.down, 1), _shifted(energy.right, 2)
        total = up.add(energy.down).add_(left).add_(energy.right).add_(energy.curvature).clamp_(min=1e-12)
        edges = ((-grid, up), (grid, energy.down), (-1, left), (1, energy.right))
        self.neighbours = [(row[grid + step :][:count], (weight / total).flatten()) for step, weight in edges]
        self.alone = ((energy.curvature - energy.linear) / (2 * total)).flatten()
        self.colours, self.strong = _chessboard(grid, row.dtype, row.device)
        self.steps = energy.steps

    def relax(self) -> None:
        """Move each block beyond the minimum of its parabola."""
        for colour in self.strong:
            self.grids.lerp_(self.best(), colour).clamp_(0, 1)

    def round(self) -> None:
        """Give each block its best label."""
        for colour in self.colours:
            self.grids.lerp_(self.best().clamp_(0, 1).mul_(self.steps).round_().div_(self.steps), colour)

    def best(self) -> Tensor:
        """Return the minimum of each block's parabola, given its neighbours."""
        (first, its_weight), *others = self.neighbours
        best = torch.addcmul(self.alone, first, its_weight)
        for z, weight in others:
            best.addcmul_(z, weight)
        return best.view_as(self.grids)


def _shifted(weight: Tensor, dim: int) -> Tensor:
    """Return the weight of the edge to the block before: that of the block before to this one."""
    return weight.roll(1, dim)  # what comes around is the 0 of the last row or column


@lru_cache(maxsize=64)
def _chessboard(grid: int, dtype: torch.dtype, device: torch.device) -> tuple[list[Tensor], list[Tensor]]:
    """Return 1 on the red blocks of a grid and 0 on the black ones, and the reverse; then both times OVER."""
    places = torch.arange(grid, device=device)
    red = ((places[:, None] + places) % 2).to(dtype).flatten()
    colours = [red, 1 - red]
    return colours, [colour * OVER for colour in colours]
