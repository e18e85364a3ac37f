"""Slow, obvious versions of the parts of the transfer methods."""

import math

import torch


def class_queue(start, calls, length):
    """Fill lists of keys by class as a ring, one key after the other; `start` (C, L, D), calls [(keys, labels)]."""
    rings = [[key.clone() for key in ring] for ring in start]
    place = [0] * len(rings)
    for keys, labels in calls:
        for key, label in zip(keys, labels.tolist(), strict=True):
            rings[label][place[label]] = key.clone()
            place[label] = (place[label] + 1) % length
    return torch.stack([torch.stack(ring) for ring in rings]), place


def group_contrast(queries, keys, queue, labels, temperature):
    """Kullback-Leibler divergence of the uniform distribution over the group, one similarity at a time."""
    total = 0.0
    for query, key, label in zip(queries, keys, labels.tolist(), strict=True):
        similarities, members = [float(query @ key) / temperature], [True]
        for number, ring in enumerate(queue):
            for other in ring:
                similarities.append(float(query @ other) / temperature)
                members.append(number == label)
        normaliser = sum(math.exp(s) for s in similarities)
        share = 1 / sum(members)
        for similarity, member in zip(similarities, members, strict=True):
            if member:
                total += share * (math.log(share) - math.log(math.exp(similarity) / normaliser))
    return total / len(queries)


def mean_by_class(probabilities, labels, classes):
    """Average the rows of each class."""
    rows = []
    for label in range(classes):
        own = [row for row, other in zip(probabilities, labels.tolist(), strict=True) if other == label]
        rows.append(sum(own) / len(own))
    return torch.stack(rows)
