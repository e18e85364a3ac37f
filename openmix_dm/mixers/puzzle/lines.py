"""The best labels of whole rows and columns of blocks at once, given the lines beside them.

A line is a chain, whose best labels are found exactly by dynamic programming: all even lines of a batch, then all odd
ones. Unlike the step from block to block this moves the border of a region as a whole.
"""

from dataclasses import replace

import torch
from torch import Tensor

from openmix_dm.mixers.puzzle.energy import Energy


def improve_lines(energy: Energy, z: Tensor) -> Tensor:
    """Return z (N, g, g) with an energy that is no higher, after one pass over its columns and one over its rows."""
    turned = replace(energy, linear=energy.linear.mT, down=energy.right.mT, right=energy.down.mT)
    return _improve_rows(energy, _improve_rows(turned, z.mT).mT)


def _improve_rows(energy: Energy, z: Tensor) -> Tensor:
    z, up = z.clone(), energy.down.roll(1, 1)  # what comes around is the 0 of the last row
    labels = torch.arange(energy.steps + 1, device=z.device, dtype=z.dtype) / energy.steps
    stiff = energy.curvature + up + energy.down
    for parity in range(min(2, z.shape[1])):
        lines = slice(parity, None, 2)
        pulled = (up * z.roll(1, 1) + energy.down * z.roll(-1, 1))[:, lines]
        slope = energy.linear[:, lines] - energy.curvature - 2 * pulled
        along = [part.movedim(2, 0)[:, None] for part in (slope, stiff[:, lines], energy.right[:, lines])]
        choices = labels[:, None, None]
        cost = along[0] * choices + along[1] * choices.square()
        apart = (labels[:, None] - labels).square()[:, :, None, None]
        z[:, lines] = labels[_best_chain(cost, along[2][:, :, None] * apart)].movedim(0, 2)
    return z


def _best_chain(cost: Tensor, apart: Tensor) -> Tensor:
    """Return the labels (g, N, lines) of the least sum of cost (g, L, N, lines) and of apart (g, L, L, N, lines).

    apart[p] is the cost of two labels at p and p + 1.
    """
    least, choices = cost[0], []
    for place in range(1, len(cost)):
        before, choice = (least[:, None] + apart[place - 1]).min(dim=0)
        least = before + cost[place]
        choices.append(choice)
    best = [least.argmin(dim=0)]
    for choice in reversed(choices):
        best.append(choice.gather(0, best[-1][None])[0])
    return torch.stack(best[::-1])
