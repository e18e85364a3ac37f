"""AlignMixup by loops over images, places and rounds, in Python's own floats."""

import math


def sinkhorn(cost, entropy, rounds, tolerance, rows_last):
    """The plan times the number of places for each image of a batch of cost matrices (nested lists).

    All images of a batch go through equally many rounds: the change is averaged over them.
    """
    size = len(cost[0])
    u, v = [[0.0] * size for _ in cost], [[0.0] * size for _ in cost]
    for _ in range(rounds):
        changes = []
        for matrix, f, g in zip(cost, u, v, strict=True):
            before = list(f)
            rows(matrix, f, g, entropy)
            columns(matrix, f, g, entropy)
            changes.append(sum(abs(x - y) for x, y in zip(f, before, strict=True)))
        if sum(changes) / len(changes) < tolerance:
            break
    plans = []
    for matrix, f, g in zip(cost, u, v, strict=True):
        if rows_last:
            rows(matrix, f, g, entropy)
        plans.append(
            [[size * math.exp((f[i] + g[j] - matrix[i][j]) / entropy) for j in range(size)] for i in range(size)]
        )
    return plans


def rows(matrix, f, g, entropy):
    for i, row in enumerate(matrix):
        f[i] = -entropy * (math.log(len(matrix)) + log_sum((g[j] - row[j]) / entropy for j in range(len(row))))


def columns(matrix, f, g, entropy):
    for j in range(len(matrix)):
        terms = ((f[i] - matrix[i][j]) / entropy for i in range(len(matrix)))
        g[j] = -entropy * (math.log(len(matrix)) + log_sum(terms))


def log_sum(terms):
    terms = list(terms)
    top = max(terms)
    return top + math.log(sum(math.exp(term - top) for term in terms))


def squared_distances(own, other):
    """For each image, for each place of the own map (channels x places), to each place of the other."""
    places = range(own.shape[2])

    def distance(a, b, i, j):
        return sum((x - y) ** 2 for x, y in zip(a[:, i].tolist(), b[:, j].tolist(), strict=True))

    return [[[distance(a, b, i, j) for j in places] for i in places] for a, b in zip(own, other, strict=True)]
