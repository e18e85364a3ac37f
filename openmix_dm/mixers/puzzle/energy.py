"""The energy that PuzzleMix minimises, over z: the weight of the own image in each block of a grid.

A block that shows the own image loses the partner's saliency there, and the other way round; neighbours should agree,
the more so where both images fit at their border; and the labels have a binomial prior around lam. With -log of the
binomial coefficients C(n - 1, k) = 1; 1, 2, 1; 1, 3, 3, 1 written as a parabola in z, which is exact for two to four
labels, all of it is, up to a constant,

    E(z) = sum_i [linear_i z_i + curvature (z_i^2 - z_i)] + sum_ij weight_ij (z_i - z_j)^2,

convex and without an axis for labels. The released code adds 1e-8 to the probabilities of the prior, which for lam near
0 or 1 is not convex any more; here log(lam) itself has the floor that gives the same values at 0 and 1.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from openmix_dm.mixers.base import Lam

CURVATURE = {2: 0.0, 3: 4 * math.log(2), 4: 4.5 * math.log(3)}  # of -log C(n - 1, k) = curvature * (z^2 - z)
FLOOR = 1e-8  # least probability of a label in the prior


@dataclass(frozen=True)
class Terms:
    """Weigh the parts of the energy: disagreement, difference at borders, prior; and count the labels of a block."""

    beta: float
    gamma: float
    eta: float
    n_labels: int


@dataclass(frozen=True)
class Energy:
    """Hold the coefficients of E for a batch of grids."""

    linear: Tensor  # (N, g, g)
    curvature: float
    down: Tensor  # (N, g, g) weight of the edge to the block below; the last row is 0
    right: Tensor  # (N, g, g) weight of the edge to the block on the right; the last column is 0
    steps: int  # z is one of 0, 1 / steps, ..., 1

    def of(self, z: Tensor) -> Tensor:
        """Return E of each sample (N,)."""
        alone = self.linear * z + self.curvature * (z.square() - z)
        below, beside = z.roll(-1, 1), z.roll(-1, 2)  # what comes around has weight 0
        return (alone + self.down * (z - below).square() + self.right * (z - beside).square()).sum(dim=(1, 2))


def build_energy(saliency: tuple[Tensor, Tensor], cells: tuple[Tensor, Tensor], lam: Lam, terms: Terms) -> Energy:
    """Return the energy of a batch; each pair is (own, partner's).

    saliency: (N, g, g), its sum 1 for each image. cells: (N, C, g k, g k) pixels, k cells on each side of a block.
    lam: weight of the own image in the prior, for the batch or (N,).
    """
    grid = saliency[0].shape[-1]
    # Saliency sums to 1 on any grid: divided so, all g^2 blocks, or a border about g long, weigh the same on any grid.
    beta, eta = terms.beta / (grid * 16), terms.eta / grid**2
    (down, right), (from_down, from_right) = _edges(cells, grid, beta, terms.gamma)
    if isinstance(lam, Tensor):
        prior: Tensor | float = eta * _log_odds(lam, terms.n_labels)[:, None, None]
    else:  # known on the host, in the precision of the device
        prior = (eta * _log_odds(torch.full((1,), lam, device='cpu'), terms.n_labels)).item()
    linear = saliency[1] - saliency[0] + from_down + from_right.mT + prior
    return Energy(linear, eta * CURVATURE[terms.n_labels], down, right.mT, terms.n_labels - 1)


def normalised(saliency: Tensor) -> Tensor:
    """Give the saliency (N, h, w) of each image the sum 1; an image without any keeps 0."""
    return saliency / saliency.sum(dim=(1, 2), keepdim=True).clamp(min=torch.finfo(saliency.dtype).tiny)


def _log_odds(lam: Tensor, n_labels: int) -> Tensor:
    """Return what the prior adds for a step of z from 0 to 1, but for the binomial coefficients."""
    floor = FLOOR ** (1 / (n_labels - 1))
    return (n_labels - 1) * ((1 - lam).clamp(min=floor).log() - lam.clamp(min=floor).log())


def _edges(cells: tuple[Tensor, Tensor], grid: int, beta: float, gamma: float) -> tuple[Tensor, Tensor]:
    """Return the weights of the edges and what they add to the linear term, both (2, N, g, g).

    First those downwards, then those to the right, for which the grids are turned. The differences d of the four ways
    to show two neighbours are split into a part for each block and a part for disagreement. The latter is cut off at 0
    (never needed for gamma <= 1 and pixels in [0, 1]): E has to stay convex.
    """
    sides = torch.stack(cells)
    ways = torch.stack((sides, sides.mT))  # direction, side, then the cells
    (same, own_above), (own_below, neither) = _differences(ways[:, :, None], ways[:, None], grid).movedim(0, 2)
    weight = (beta + beta * gamma / 2 * (own_above + own_below - same - neither)).clamp(min=0)
    linear = weight.new_zeros(*weight.shape[:2], grid, grid)
    linear[..., :-1, :] += beta * gamma / 2 * (own_above + same - own_below - neither)
    linear[..., 1:, :] += beta * gamma / 2 * (own_below + same - own_above - neither)
    return F.pad(weight, (0, 0, 0, 1)), linear


def _differences(above: Tensor, below: Tensor, grid: int) -> Tensor:
    """Return the mean |difference| between the last cells of each block and the first ones below, (..., g - 1, g)."""
    k = above.shape[-2] // grid
    last, first = above[..., k - 1 : -1 : k, :], below[..., k::k, :]
    return (last - first).abs().mean(dim=-3).unflatten(-1, (grid, -1)).mean(dim=-1)
