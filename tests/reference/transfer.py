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


RELEASED_ORDER = (1e4, 3e3, 1e3, 3e2, 1e2, 3e1, 1e1, 3.0, 1.0, 3e-1, 1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4)


def reverse_relation(probabilities, labels, fit, held, order=RELEASED_ORDER):
    """Choose among scikit-learn's regressions as released, then Bayes' rule, one entry at a time; also the strength."""
    import numpy as np
    from scipy.optimize import minimize_scalar
    from sklearn.linear_model import LogisticRegression

    inputs, truth = probabilities.double().numpy(), labels.numpy()

    def regression(strength, rows):
        # Of two classes scikit-learn fits the difference of two rows of weights, whose penalty is half of the rows'.
        two = len(set(truth.tolist())) == 2
        fitted = LogisticRegression(C=strength * (2 if two else 1), fit_intercept=False, tol=1e-9, max_iter=100_000)
        fitted.fit(inputs[rows], truth[rows])
        return np.concatenate([-fitted.coef_ / 2, fitted.coef_ / 2]) if two else fitted.coef_

    def right(weights):
        guesses = [max(range(len(weights)), key=lambda c: weights[c] @ inputs[row]) for row in held.tolist()]
        return sum(guess == truth[row] for guess, row in zip(guesses, held.tolist(), strict=True))

    rights = [right(regression(strength, fit.numpy())) for strength in order]
    strength = order[rights.index(max(rights))]  # the first of the best
    weights = regression(strength, fit.numpy())

    def surprise(log_scale):
        total = 0.0
        for row in held.tolist():
            scores = [math.exp(log_scale) * float(w @ inputs[row]) for w in weights]
            top = max(scores)
            total += top + math.log(sum(math.exp(s - top) for s in scores)) - scores[truth[row]]
        return total

    scale = math.exp(minimize_scalar(surprise, bounds=(-12, 12), method='bounded', options={'xatol': 1e-10}).x)
    weights = regression(strength, slice(None))
    joint = torch.zeros(len(weights), inputs.shape[1], dtype=torch.float64)
    for source in range(inputs.shape[1]):
        scores = [math.exp(scale * (w[source] - weights[:, source].max())) for w in weights]
        for target, score in enumerate(scores):
            joint[target, source] = score / sum(scores) * inputs[:, source].mean()
    return joint / joint.sum(dim=1, keepdim=True), strength
