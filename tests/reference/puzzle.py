"""PuzzleMix in loops: the energy as the paper's code states it, all its labelings, and the auction of blocks."""

import itertools
import math

import torch


def block_saliency(gradient, grid):
    """Root of the mean square over channels, averaged over each block; all of them sum up to 1."""
    channels, height, width = gradient.shape
    tall, wide = height // grid, width // grid
    saliency = torch.zeros(grid, grid, dtype=torch.float64)
    for y in range(height):
        for x in range(width):
            square = sum(float(gradient[c, y, x]) ** 2 for c in range(channels)) / channels
            saliency[y // tall, x // wide] += math.sqrt(square)
    return saliency / saliency.sum()


def border(first, second, grid, neigh, y, x, down):
    """Mean |difference| of the cells of `neigh` pixels on both sides of the border of block (y, x) to the next one."""
    size = first.shape[-1]
    block = size // grid
    neigh = min(neigh, block)
    total = 0.0
    for along in range(block // neigh):
        if down:
            top, left = (y + 1) * block, x * block + along * neigh
            a = first[:, top - neigh : top, left : left + neigh]
            b = second[:, top : top + neigh, left : left + neigh]
        else:
            top, left = y * block + along * neigh, (x + 1) * block
            a = first[:, top : top + neigh, left - neigh : left]
            b = second[:, top : top + neigh, left : left + neigh]
        total += float((a.double().mean(dim=(1, 2)) - b.double().mean(dim=(1, 2))).abs().mean())
    return total / (block // neigh)


def tables(saliency, images, lam, grid, n_labels, beta=1.2, gamma=0.5, eta=0.2, neigh=4):
    """The cost of each label of each block, and the weight of each edge. Label k shows 1 - k / (n_labels - 1) of own.

    saliency, images: (own, other); the pairwise terms of the four ways to show two blocks are folded into both.
    """
    beta = beta / (grid * 16)
    loss_of = {'own': saliency[0].double().clone(), 'other': saliency[1].double().clone()}  # when it is not shown
    sides = {'own': images[0], 'other': images[1]}
    edges = []
    for y, x, down in itertools.product(range(grid), range(grid), (True, False)):
        after = (y + 1, x) if down else (y, x + 1)
        if max(after) == grid:
            continue
        pw = {
            (a, b): beta * gamma * border(sides[a], sides[b], grid, neigh, y, x, down)
            for a, b in itertools.product(sides, sides)
        }
        loss_of['other'][y, x] += (pw['own', 'other'] + pw['own', 'own']) / 2
        loss_of['own'][y, x] += (pw['other', 'own'] + pw['other', 'other']) / 2
        loss_of['other'][after] += (pw['other', 'own'] + pw['own', 'own']) / 2
        loss_of['own'][after] += (pw['own', 'other'] + pw['other', 'other']) / 2
        apart = (pw['own', 'other'] + pw['other', 'own'] - pw['own', 'own'] - pw['other', 'other']) / 2
        edges.append(((y, x), after, apart + beta))
    costs = {}
    for y, x, k in itertools.product(range(grid), range(grid), range(n_labels)):
        t = k / (n_labels - 1)
        probability = math.comb(n_labels - 1, k) * lam ** (n_labels - 1 - k) * (1 - lam) ** k
        prior = -math.log(probability + 1e-8) * eta / grid**2
        costs[y, x, k] = float((1 - t) * loss_of['other'][y, x] + t * loss_of['own'][y, x]) + prior
    return costs, edges


def energy(labels, costs, edges, n_labels):
    """The energy of a labeling {(y, x): k}."""
    alone = sum(costs[y, x, k] for (y, x), k in labels.items())
    return alone + sum(weight * (labels[a] - labels[b]) ** 2 / (n_labels - 1) ** 2 for a, b, weight in edges)


def best_labeling(costs, edges, grid, n_labels):
    """Try them all."""
    blocks = list(itertools.product(range(grid), range(grid)))
    labelings = (dict(zip(blocks, ks, strict=True)) for ks in itertools.product(range(n_labels), repeat=len(blocks)))
    return min(labelings, key=lambda labels: energy(labels, costs, edges, n_labels))


def auction(visible, saliency, t_eps):
    """Which block is shown at each visible place, {place: block}: rounds of bids on a matrix of costs.

    visible, saliency: lists of g * g values. The lowest cost wins a place; who loses pays 1 more there from then on.
    """
    places = range(len(visible))
    side = math.isqrt(len(visible))
    cost = [[0.0] * len(visible) for _ in places]
    for i in places:
        for j in places:
            squared = (i // side - j // side) ** 2 + (i % side - j % side) ** 2
            near = torch.tensor(squared, dtype=torch.float32) / (side - 1) ** 2
            cost[i][j] = float(t_eps * near - saliency[i] * visible[j])
    for _ in range(side):
        bids = {}
        for i in places:
            bids.setdefault(cost[i].index(min(cost[i])), []).append(i)
        winners = {j: min(rows, key=lambda i: cost[i][j]) for j, rows in bids.items()}
        # a bid above 0 is worse than no block at all
        winners = {j: i for j, i in winners.items() if cost[i][j] < 0}
        for j, rows in bids.items():
            for i in rows:
                cost[i][j] += winners.get(j) != i
    return {j: winners.get(j, j) for j in places if visible[j]}


def move_blocks(image, source):
    """The image (C, H, W) with block source[j] at place j."""
    side = math.isqrt(len(source))
    tall, wide = image.shape[1] // side, image.shape[2] // side
    moved = torch.empty_like(image)
    for j, i in enumerate(source):
        (y, x), (top, left) = divmod(j, side), divmod(i, side)
        block = image[:, top * tall : (top + 1) * tall, left * wide : (left + 1) * wide]
        moved[:, y * tall : (y + 1) * tall, x * wide : (x + 1) * wide] = block
    return moved
