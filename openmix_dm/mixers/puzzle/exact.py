"""The exact minimiser of the energy: one minimum cut for the whole batch, by scipy, on the host.

With a switch s_a in {0, 1} for each step of z (Ishikawa's construction; z is their mean) and
-2 s t = [s != t] - s - t, (z_i - z_j)^2 is an edge of equal weight between any two switches of both blocks, and terms
of the blocks alone. Those stay convex in z, so that no further edges have to keep the switches of a block in order.
"""

import numpy as np
import torch
from torch import Tensor

from openmix_dm.mixers.puzzle.energy import Energy

LARGEST = 2**30  # scipy's capacities are int32; all of a batch together stay below it


def solve_exact(energy: Energy) -> Tensor:
    """Return z (N, g, g) of the least energy, up to the rounding of capacities to whole numbers."""
    linear, down, right = (_host(part) for part in (energy.linear, energy.down, energy.right))
    pulls = _pulls(linear, energy.curvature, down, right, energy.steps)
    heads, tails, weights = _edges(down, right, energy.steps)
    on = _minimum_cut(pulls.ravel(), heads, tails, weights)
    shown = on.reshape(pulls.shape).mean(axis=-1)
    return torch.from_numpy(shown).to(energy.linear.device, energy.linear.dtype)


def _pulls(linear: np.ndarray, curvature: float, down: np.ndarray, right: np.ndarray, steps: int) -> np.ndarray:
    """Return the cost of turning each switch on, after those before it, (N, g, g, steps)."""
    total = curvature + down + right + np.roll(down, 1, axis=1) + np.roll(right, 1, axis=2)
    z = np.arange(steps + 1) / steps
    cost = linear[..., None] * z + total[..., None] * (z**2 - z)
    return np.diff(cost, axis=-1)


def _edges(down: np.ndarray, right: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the edges between the switches of neighbours: their two ends and their weight."""
    node = np.arange(down.size * steps).reshape(*down.shape, steps)
    heads, tails, weights = [], [], []
    pairs = ((node[:, :-1], node[:, 1:], down[:, :-1]), (node[:, :, :-1], node[:, :, 1:], right[:, :, :-1]))
    for first, second, weight in pairs:
        shape = (*weight.shape, steps, steps)
        heads.append(np.broadcast_to(first[..., :, None], shape).ravel())
        tails.append(np.broadcast_to(second[..., None, :], shape).ravel())
        weights.append(np.broadcast_to(weight[..., None, None] / steps**2, shape).ravel())
    return np.concatenate(heads), np.concatenate(tails), np.concatenate(weights)


def _minimum_cut(pulls: np.ndarray, heads: np.ndarray, tails: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return 1 for each switch that is on in a minimum: those on the sink's side of the cut."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    count = len(pulls)
    source, sink, node = count, count + 1, np.arange(count)
    starts = np.concatenate((np.full(count, source), node, heads, tails))
    ends = np.concatenate((node, np.full(count, sink), tails, heads))
    capacity = np.concatenate((pulls.clip(min=0), (-pulls).clip(min=0), weights, weights))
    whole = np.rint(capacity * (LARGEST / max(capacity.sum(), 1e-30))).astype(np.int32)
    graph = csr_array((whole, (starts, ends)), shape=(count + 2, count + 2))
    left = graph - maximum_flow(graph, source, sink).flow
    left.data = (left.data > 0).astype(np.int32)
    left.eliminate_zeros()
    on = np.ones(count + 2)
    on[breadth_first_order(left, source, return_predecessors=False)] = 0
    return on[:count]


def _host(values: Tensor) -> np.ndarray:
    return values.detach().to('cpu', torch.float64).numpy()
