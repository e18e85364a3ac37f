"""Semi-supervised arithmetic as its papers describe it: one image, one class at a time."""

import math


def curriculum(remembered, classes, tau):
    """Thresholds of FlexMatch from what each image remembers (-1: nothing)."""
    counts = {}
    for label in remembered:
        counts[label] = counts.get(label, 0) + 1
    if counts.get(-1, 0) == len(remembered):
        return [0.0] * classes
    largest = max(counts.values())
    thresholds = []
    for label in range(classes):
        beta = counts.get(label, 0) / largest
        thresholds.append(tau * beta / (2 - beta))
    return thresholds


def remember(remembered, index, confidence, guesses, tau):
    """What each image remembers after a batch."""
    remembered = list(remembered)
    for place, sure, guess in zip(index, confidence, guesses, strict=True):
        if sure >= tau:
            remembered[place] = guess
    return remembered


def softmax(row):
    top = max(row)
    powers = [math.exp(value - top) for value in row]
    return [value / sum(powers) for value in powers]


def sharpened(row, temperature):
    powers = [value ** (1 / temperature) for value in row]
    return [value / sum(powers) for value in powers]


def mixmatch_targets(labels, views, classes, temperature, lam, order):
    """The mixed labels of MixMatch from the logits of each view of each unlabelled image."""
    rows = [[1.0 if label == c else 0.0 for c in range(classes)] for label in labels]
    guesses = []
    for image in range(len(views[0])):
        said = [softmax(view[image]) for view in views]
        mean = [sum(each[c] for each in said) / len(said) for c in range(classes)]
        guesses.append(sharpened(mean, temperature))
    rows += guesses * len(views)
    own = max(lam, 1 - lam)
    return [[own * rows[i][c] + (1 - own) * rows[order[i]][c] for c in range(classes)] for i in range(len(rows))]


class Alignment:
    """ReMixMatch's running mean and what it does to guesses."""

    def __init__(self, counts, decay):
        self.target = [count / sum(counts) for count in counts]
        self.decay, self.mean = decay, None

    def __call__(self, rows):
        batch = [sum(row[c] for row in rows) / len(rows) for c in range(len(self.target))]
        if self.mean is None:
            self.mean = batch
        else:
            self.mean = [self.decay * old + (1 - self.decay) * new for old, new in zip(self.mean, batch, strict=True)]
        aligned = []
        for row in rows:
            scaled = [p * (t + 1e-6) / (m + 1e-6) for p, t, m in zip(row, self.target, self.mean, strict=True)]
            aligned.append([value / sum(scaled) for value in scaled])
        return aligned
