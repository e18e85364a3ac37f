"""Transport: salient blocks that the mask hides move to visible places nearby.

Each block gains its saliency, less t_eps times the squared distance, if it is seen somewhere. In each round every block
bids for the nearest visible place that it has not lost yet, as long as there is a gain; the highest gain wins. There
are as many rounds as blocks on a side. The released code does this on dense cost matrices, which it searches in every
round, and moves blocks by a product with one-hot matrices; a place that nobody won turned black. Here blocks are
gathered, and such a place keeps its own block. Visible places get the same blocks, ties apart.
"""

from functools import lru_cache

import torch
from torch import Tensor

BITS = 20  # of a bid for the number of the bidder: a grid has fewer than a million blocks


def sources(visible: Tensor, saliency: Tensor, t_eps: float) -> Tensor:
    """Return which block is shown at each place, (N, g * g).

    visible: (N, g, g) bool, the places where the image can be seen. saliency: (N, g, g), its sum 1 for each image.
    """
    side = visible.shape[-1]
    place, bid = _bids(visible.flatten(1), saliency.flatten(1), side, t_eps)
    turn = torch.zeros_like(place[:, :, :1])
    best = bid.new_zeros(len(bid), side**2 + 1)
    for _ in range(side):
        at, offer = place.gather(2, turn).squeeze(2), bid.gather(2, turn).squeeze(2)
        best = torch.zeros_like(best).scatter_reduce(1, at, offer, 'amax')
        turn = turn + (offer < best.gather(1, at))[:, :, None]
    won, home = best[:, :-1], torch.arange(side**2, device=best.device)
    return torch.where(won > 0, 2**BITS - 1 - (won & (2**BITS - 1)), home)


def _bids(visible: Tensor, saliency: Tensor, side: int, t_eps: float) -> tuple[Tensor, Tensor]:
    """Return the places that each block bids for, one after another, and its bids, (N, g * g, g + 1).

    The blocks come in the order of their saliency: as the sum of all is 1, the r-th has at most 1 / r, and looks no
    further than it can gain from. Four times more blocks at a time, that leaves a sixth of the work on 16 x 16.
    """
    saliency, block = saliency.sort(dim=1, descending=True, stable=True)
    parts, first = [], 0
    while first < side**2:
        part = slice(first, min(4 * first + 3, side**2))
        reach = _reach(side, t_eps * (first + 1))
        parts.append(_bids_within(reach, visible, saliency[:, part], block[:, part], side, t_eps))
        first = part.stop
    return torch.cat([place for place, _ in parts], dim=1), torch.cat([bid for _, bid in parts], dim=1)


def _bids_within(
    reach: int, visible: Tensor, saliency: Tensor, block: Tensor, side: int, t_eps: float
) -> tuple[Tensor, Tensor]:
    """Return places and bids of some blocks, which look at the nearest `reach` places only.

    Where there is nothing to gain the place is g * g, which is nowhere, and the bid 0.
    """
    order, distance = _by_distance(side, reach, visible.device)
    near = order.index_select(0, block.flatten()).view(*block.shape, -1)
    found = visible.gather(1, near[:, :, :-1].flatten(1)).view(*block.shape, -1)
    wanted = torch.arange(1, side + 2, dtype=torch.int16, device=visible.device).expand(*block.shape, -1)
    rank = torch.searchsorted(found.cumsum(dim=2, dtype=torch.int16), wanted.contiguous())
    far = distance.index_select(0, block.flatten()).view_as(near).gather(2, rank)
    gain = torch.sub(saliency[:, :, None], far, alpha=t_eps).clamp_(min=0)
    gain[:, :, -1] = 0
    return near.gather(2, rank).masked_fill_(gain == 0, side**2), _offer(gain, block)


def _offer(gain: Tensor, block: Tensor) -> Tensor:
    """Return gain as a whole number in the same order; of equal gains the first block's is the highest."""
    bits = gain.view(torch.int32).long() << BITS  # the bits of positive floats are in the order of their values
    return torch.where(gain > 0, bits + (2**BITS - 1 - block[:, :, None]), 0)


@lru_cache(maxsize=64)
def _reach(side: int, cost: float) -> int:
    """Return the most places that a block has within a squared distance of 1 / cost."""
    middle, limit = side // 2, (1 + 1e-4) * max(side - 1, 1) ** 2
    steps = [(y - middle) ** 2 + (x - middle) ** 2 for y in range(side) for x in range(side)]
    return sum(cost * step <= limit for step in steps)


@lru_cache(maxsize=64)
def _by_distance(side: int, reach: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return for each block the nearest places and their squared distances; then nowhere, at infinity."""
    steps = torch.arange(side, device=device)
    squares = (steps[:, None] - steps).square()
    squared = (squares[:, None, :, None] + squares[None, :, None, :]).view(side**2, side**2)
    distance, order = (values[:, :reach] for values in squared.sort(dim=1, stable=True))
    nowhere = order.new_full((side**2, 1), side**2)
    infinity = torch.full_like(nowhere, torch.inf, dtype=torch.float32)
    scaled = distance.float() / max(side - 1, 1) ** 2
    return torch.cat((order, nowhere), dim=1), torch.cat((scaled, infinity), dim=1)


def take_blocks(images: Tensor, rows: Tensor, source: Tensor) -> Tensor:
    """Return image rows[i] with block source[i, j] at place j for each i, (n, C, H, W).

    Pieces of pixel rows, as wide as a block, are gathered straight into their places.
    """
    _, channels, height, width = images.shape
    side = int(source.shape[1] ** 0.5)
    tall = height // side
    pieces = images.reshape(-1, width // side)
    inside = torch.arange(tall, device=images.device)[:, None] * side
    image = (rows[:, None] * channels + torch.arange(channels, device=images.device)) * (height * side)
    block = source.div(side, rounding_mode='floor') * (tall * side) + source % side
    index = image[:, :, None, None, None] + block.view(-1, 1, side, 1, side) + inside
    return pieces.index_select(0, index.flatten()).view(-1, channels, height, width)
