"""PuzzleMix (https://arxiv.org/abs/2009.06962): both images' salient blocks in one, by a cut and by moving them.

Where we differ from the released code, and why:
* the energy is minimised for the whole batch at once, on its device (`solver='relaxed'`), or by one exact minimum cut
  (`solver='exact'`, which waits for the device); the released code runs a swap heuristic for each sample on the host;
* the saliency pass leaves the gradients of the parameters alone; the released code clears them, accumulated or not;
* a place that no block was moved to keeps its block instead of turning black;
* images need not be square, nor a multiple of the grid: see PuzzleMix;
* lam within 1e-6 of 0 or 1 is one image alone.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from openmix_dm.mixers.base import Lam, Mixer, per_row
from openmix_dm.mixers.partner import Partner, both
from openmix_dm.mixers.puzzle.energy import CURVATURE, Terms, build_energy
from openmix_dm.mixers.puzzle.exact import solve_exact
from openmix_dm.mixers.puzzle.saliency import saliency_of
from openmix_dm.mixers.puzzle.solver import solve_relaxed
from openmix_dm.mixers.puzzle.transport import sources, take_blocks
from openmix_dm.mixers.teacher import pixels_of
from openmix_dm.registry import MIXERS
from openmix_dm.structures import MixedPair, Probe
from openmix_dm.utils.checks import non_negative, one_of

Pair = tuple[Tensor, Tensor]  # the own side, and the partner's
SOLVERS = {'relaxed': solve_relaxed, 'exact': solve_exact}
CHUNKS = 12  # on a CPU moved blocks are mixed a twelfth of a batch at a time, which holds less memory at once


@MIXERS.register_module()
class PuzzleMix(Mixer):
    """Show the salient blocks of both images in one, by a cut and by moving blocks (https://arxiv.org/abs/2009.06962).

    For each block of a grid it is chosen by saliency how much of either image it shows; salient blocks that are hidden
    move to visible places nearby. Released code does so on the host, sample by sample; here it is the whole batch at
    once.

    lam in the labels is the mean of each sample's own mask. The lam that is drawn or given is a prior: the larger it
    is, the more of the own image is shown, but not that share. Where saliency says nothing, all blocks have the most
    probable label: of three labels and for lam below 1/3 that is 0.

    Saliency is the model's |d loss / d input|. Without a probe or without labels (mixing two streams with `pair`) it is
    the local contrast of the pixels.

    Args:
        alpha: lam is drawn from Beta(alpha, alpha).
        block_num: the grid is drawn from 2, 4, ..., 2 ** (block_num - 1) blocks a side. A run whose images these do not
            divide is refused. Used by hand, the mixer draws among those that do; where none does, blocks differ by a
            pixel in size and are not moved. Default: 4.
        beta: weight of agreement between neighbouring blocks. Default: 1.2.
        gamma: weight, relative to `beta`, of the difference in pixels where neighbours meet. Default: 0.5.
        eta: weight of the prior, in which lam is the share of the own image. Default: 0.2.
        n_labels: how many weights a block can have, evenly from 0 to 1: 2, 3 or 4. Default: 3.
        neigh: the pixels that `gamma` compares are averaged over about neigh x neigh. Default: 4.
        t_eps: cost of moving a block by the side of the grid, in units of the image's saliency; it grows with the
            square of the distance. Default: 0.8.
        t_size: pixels on a side of the blocks that are moved, where those of the grid are larger. None moves the blocks
            of the grid. Default: None.
        transport: move hidden blocks. Default: True.
        solver: 'relaxed' is within a fraction of a percent of the least energy on average and never waits for the
            device; 'exact' is one minimum cut on the host and needs scipy. Default: 'relaxed'.
        per_sample: draw lam for each sample instead of once for the batch; each has its own mask anyway.
            Default: False.
        partner: who is mixed with whom: 'shift' (a random cyclic shift: no sample is mixed with itself, nothing is
            gathered) or 'permutation' (a random permutation). Default: 'shift'.

    Example:
        mixer = dict(type='PuzzleMix', alpha=1.0, block_num=4)
    """

    def __init__(
        self,
        alpha: float,
        block_num: int = 4,
        beta: float = 1.2,
        gamma: float = 0.5,
        eta: float = 0.2,
        n_labels: int = 3,
        neigh: int = 4,
        t_eps: float = 0.8,
        t_size: int | None = None,
        transport: bool = True,
        solver: str = 'relaxed',
        per_sample: bool = False,
        partner: str = 'shift',
    ) -> None:
        super().__init__(alpha, per_sample, partner)
        if n_labels not in CURVATURE:
            raise ValueError(f'n_labels must be one of {sorted(CURVATURE)}, got {n_labels!r}')
        self.terms = Terms(non_negative('beta', beta), non_negative('gamma', gamma), non_negative('eta', eta), n_labels)
        self.block_num, self.neigh = _at_least(2, 'block_num', block_num), _at_least(1, 'neigh', neigh)
        self.t_eps = non_negative('t_eps', t_eps)
        self.t_size = None if t_size is None else _at_least(1, 't_size', t_size)
        self.transport, self.solver = transport, one_of('solver', solver, SOLVERS)

    def check_size(self, height: int, width: int) -> None:
        """Refuse images that a grid does not divide, and blocks that t_size does not."""
        check_grids(self.grids(), height, width)
        for grid in self.grids() if self.transport and self.t_size else ():
            for block in (height // grid, width // grid):
                if self.t_size and block > self.t_size and block % self.t_size:
                    raise ValueError(
                        f't_size={self.t_size} does not divide blocks of {block} pixels, which images of '
                        f'{height} x {width} have in a grid of {grid}; choose a divisor of it, or None'
                    )

    @torch.no_grad()
    def mix(
        self, inputs: Tensor, partner: Partner, lam: Lam, labels: Tensor | None = None, probe: Probe | None = None
    ) -> MixedPair:
        """Mix inputs with their partners."""
        size, rows = (inputs.shape[-2], inputs.shape[-1]), per_row(lam, inputs)
        grid = self.draw_grid(*size)
        moved = self.moved_grid(grid, *size)
        cells = self.pool_pixels(inputs, partner, probe, grid)
        saliency = both(partner, inputs, saliency_of(partner, labels, probe, moved or grid))
        known = rows if isinstance(lam, Tensor) else lam
        energy = build_energy((_onto(saliency[0], grid), _onto(saliency[1], grid)), cells, known, self.terms)
        shown = _ends(SOLVERS[self.solver](energy), known)
        mask = _enlarge(shown, *size)[:, None]
        share = mask.mean(dim=(1, 2, 3))
        if not moved:
            return MixedPair(partner.blend(inputs, mask.to(inputs.dtype)), share, mask)
        shown = _enlarge(shown, moved, moved)
        own, other = _sources_of_both((shown > 0, shown < 1), saliency, self.t_eps)
        return MixedPair(_blend_moved(inputs, partner, mask, own, other), share, mask)

    def grids(self) -> list[int]:
        """Return the numbers of blocks on a side that are drawn from."""
        return [2**power for power in range(1, self.block_num)]

    def draw_grid(self, height: int, width: int) -> int:
        """Draw the number of blocks on a side, on the CPU, among those that fit."""
        grids = [grid for grid in self.grids() if grid <= min(height, width)] or [1]
        whole = [grid for grid in grids if height % grid == width % grid == 0] or grids
        return whole[int(torch.randint(len(whole), (), device='cpu'))]

    def moved_grid(self, grid: int, height: int, width: int) -> int:
        """Return how many blocks on a side are moved; 0 where none can be."""
        if not self.transport or height % grid or width % grid:
            return 0
        tall, wide = height // grid, width // grid
        split = min(tall, wide) // self.t_size if self.t_size else 1
        fits = split > 1 and min(tall, wide) % split == 0 and max(tall, wide) % split == 0
        return grid * split if fits and self.t_size and min(tall, wide) % self.t_size == 0 else grid

    def pool_pixels(self, inputs: Tensor, partner: Partner, probe: Probe | None, grid: int) -> tuple[Tensor, Tensor]:
        """Return the pixels of both sides, averaged over about neigh x neigh, a whole number of cells in a block."""
        side = grid * max(1, min(inputs.shape[-2:]) // (grid * self.neigh))
        return both(partner, inputs, lambda images: F.adaptive_avg_pool2d(pixels_of(images, probe), side))


def check_grids(grids: list[int], height: int, width: int) -> None:
    """Refuse images that a grid does not divide."""
    for grid in grids:
        if height % grid or width % grid:
            raise ValueError(
                f'a grid of {grid} x {grid} blocks does not divide images of {height} x {width}; lower block_num, '
                f'or resize the images to a multiple of {grids[-1]}'
            )


def _sources_of_both(seen: Pair, saliency: Pair, t_eps: float) -> Pair:
    """Return which block either side shows at each place: on a CPU one after another, which stays in its cache.

    On a GPU both at once, in half as many operations.
    """
    if seen[0].device.type == 'cpu':
        return sources(seen[0], saliency[0], t_eps), sources(seen[1], saliency[1], t_eps)
    own, other = sources(torch.cat(seen), torch.cat(saliency), t_eps).chunk(2)
    return own, other


def _blend_moved(inputs: Tensor, partner: Partner, mask: Tensor, own: Tensor, other: Tensor) -> Tensor:
    """Return mask * inputs + (1 - mask) * partners, both with their blocks in new places, in new memory."""
    others, index = partner.locate(inputs)
    sides = (
        (inputs.contiguous(), torch.arange(len(inputs), device=inputs.device), own),
        (others.contiguous(), index, other),
    )
    mixed = torch.empty_like(inputs)
    step = -(-len(inputs) // CHUNKS) if inputs.device.type == 'cpu' else len(inputs)
    for start in range(0, len(inputs), step):
        part = slice(start, start + step)
        a, b = (take_blocks(images, rows[part], source[part]) for images, rows, source in sides)
        mixed[part] = b.lerp_(a, mask[part].to(inputs.dtype))
    return mixed


def _onto(saliency: Tensor, grid: int) -> Tensor:
    """Return the saliency of the grid's blocks, summed over the moved blocks within."""
    split = saliency.shape[-1] // grid
    return saliency.unflatten(-1, (grid, split)).unflatten(-3, (grid, split)).sum(dim=(-3, -1))


def _enlarge(shown: Tensor, height: int, width: int) -> Tensor:
    """Repeat the blocks (N, g, g) to (N, height, width); twice as fast as F.interpolate on the CPU."""
    grid = shown.shape[-1]
    if height % grid == width % grid == 0:
        tall, wide = height // grid, width // grid
        return shown[:, :, None, :, None].expand(-1, -1, tall, -1, wide).reshape(-1, height, width)
    rows, columns = (torch.arange(size, device=shown.device) * shown.shape[-1] // size for size in (height, width))
    return shown.index_select(2, columns).index_select(1, rows)


def _ends(shown: Tensor, lam: Lam) -> Tensor:
    """Show one image alone where lam is 0 or 1."""
    if not isinstance(lam, Tensor):
        return torch.full_like(shown, round(lam)) if lam < 1e-6 or lam > 1 - 1e-6 else shown
    lam = lam[:, None, None]
    return torch.where((lam < 1e-6) | (lam > 1 - 1e-6), lam.round(), shown)


def _at_least(least: int, name: str, value: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f'{name} must be a whole number, {least} or above, got {value!r}')
    return value
