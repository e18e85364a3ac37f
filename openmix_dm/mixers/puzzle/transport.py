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
    turn, best = torch.zeros_like(place[:, :, :1]), bid.new_zeros(len(bid), side**2 + 1)
    at, offer = place[:, :, 0], bid[:, :, 0]
    for _ in range(side - 1):
        # Who has won a place bids for it in every round that follows, so that what it went for is never out of date.
        best.scatter_reduce_(1, at, offer, 'amax')
        turn += (offer < best.gather(1, at))[:, :, None]
        at, offer = place.gather(2, turn).squeeze(2), bid.gather(2, turn).squeeze(2)
    best.scatter_reduce_(1, at, offer, 'amax')
    won, home = best[:, :-1], torch.arange(side**2, device=best.device)
    return torch.where(won > 0, 2**BITS - 1 - (won & (2**BITS - 1)), home)


def _bids(visible: Tensor, saliency: Tensor, side: int, t_eps: float) -> tuple[Tensor, Tensor]:
    """Return the places that each block bids for, one after another, and its bids, (N, g * g, g + 1).

    Where there is nothing to gain the place is g * g, which is nowhere, and the bid 0.

    The blocks come in the order of their saliency: as the sum of all is 1, the r-th has at most 1 / r, and looks no
    further than it can gain from. Four times more blocks at a time, that leaves a sixth of the work on 16 x 16. On a
    GPU small grids are so little work that all blocks look as far as the first.
    """
    saliency, block = saliency.sort(dim=1, descending=True, stable=True)
    wanted = torch.arange(1, side + 2, dtype=torch.int16, device=visible.device)
    fewest = side**2 if side <= 8 and visible.device.type != 'cpu' else 3
    places, costs, first = [], [], 0
    while first < side**2:
        part = slice(first, min(4 * first + fewest, side**2))
        reach = _reach(side, t_eps * (first + 1))
        place, cost = _nearest_visible(visible, block[:, part], side, reach, wanted)
        places.append(place)
        costs.append(cost)
        first = part.stop
    gain = torch.sub(saliency[:, :, None], torch.cat(costs, dim=1), alpha=t_eps).clamp_(min=0)
    gain[:, :, -1] = 0
    return torch.cat(places, dim=1).masked_fill_(gain == 0, side**2), _offer(gain, block)


def _nearest_visible(visible: Tensor, block: Tensor, side: int, reach: int, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """Return the first, second, ... visible place from each block among its nearest `reach`, and how far it is."""
    order, distance = _by_distance(side, reach, visible.device)
    near = order.index_select(0, block.flatten()).view(*block.shape, -1)
    found = visible.gather(1, near[:, :, :-1].flatten(1)).view(*block.shape, -1)
    each = wanted.expand(*block.shape, -1).contiguous()
    rank = torch.searchsorted(found.cumsum(dim=2, dtype=torch.int16), each)
    far = distance.index_select(0, block.flatten()).view_as(near).gather(2, rank)
    return near.gather(2, rank), far


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
    pieces = images.reshape(-1, width // side)
    blocks, inside = _piece_numbers(side, channels, height // side, images.device)
    image = (rows * (channels * height * side)).view(-1, 1, 1, 1, 1)
    index = image + blocks[source].view(-1, 1, side, 1, side) + inside
    return pieces.index_select(0, index.flatten()).view(-1, channels, height, width)


@lru_cache(maxsize=64)
def _piece_numbers(side: int, channels: int, tall: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the number of each block's first piece in an image, (g * g,), and of its other pieces from there on.

    The latter are those of its pixel rows in all channels, (C, 1, rows, 1).
    """
    block = torch.arange(side**2, device=device)
    first = block.div(side, rounding_mode='floor') * (tall * side) + block % side
    row, channel = torch.arange(tall, device=device), torch.arange(channels, device=device)
    return first, (channel[:, None] * (side * tall * side) + row * side).view(channels, 1, tall, 1)
