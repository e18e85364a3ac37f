"""The paper's formulas, sample by sample and term by term, in plain Python on float64 numbers."""

import math

import torch


def probabilities(z: list[float], leave_out: int | None = None) -> list[float]:
    """Softmax over the classes except `leave_out` (which gets 0)."""
    kept = [c for c in range(len(z)) if c != leave_out]
    top = max(z[c] for c in kept)
    total = math.fsum(math.exp(z[c] - top) for c in kept)
    return [math.exp(z[c] - top) / total if c in kept else 0.0 for c in range(len(z))]


def log_probability(z: list[float], c: int, leave_out: int | None = None) -> float:
    kept = [z[k] for k in range(len(z)) if k != leave_out]
    top = max(kept)
    return z[c] - top - math.log(math.fsum(math.exp(v - top) for v in kept))


def mce(z, a, b, lam, smoothing=0.0):
    nll = -(lam * log_probability(z, a) + (1 - lam) * log_probability(z, b))
    if not smoothing:
        return nll
    uniform = -sum(log_probability(z, c) for c in range(len(z))) / len(z)
    return (1 - smoothing) * nll + smoothing * uniform


def mce_gradient(z, a, b, lam, smoothing=0.0):
    gradient = [p - smoothing / len(z) for p in probabilities(z)]
    gradient[a] -= (1 - smoothing) * lam
    gradient[b] -= (1 - smoothing) * (1 - lam)
    return gradient


def counts(a, b, lam, lam_eps=1e-3):
    return a != b and lam_eps < lam < 1 - lam_eps


def dm(z, a, b, sides='both'):
    value = -log_probability(z, a, leave_out=b)
    return value - log_probability(z, b, leave_out=a) if sides == 'both' else value


def dm_gradient(z, a, b, sides='both'):
    """Section 3.2 of the paper's appendix: each term is a softmax without the partner's class, minus its own class."""
    gradient = probabilities(z, leave_out=b)
    gradient[a] -= 1
    if sides == 'both':
        gradient = [g + p for g, p in zip(gradient, probabilities(z, leave_out=a), strict=True)]
        gradient[b] -= 1
    return gradient


def dm_ce(z, a, b, lam, eta, sides='both', smoothing=0.0):
    value = mce(z, a, b, lam, smoothing)
    return value + eta * dm(z, a, b, sides) if counts(a, b, lam) else value


def dm_ce_gradient(z, a, b, lam, eta, sides='both', smoothing=0.0):
    gradient = mce_gradient(z, a, b, lam, smoothing)
    if not counts(a, b, lam):
        return gradient
    return [g + eta * d for g, d in zip(gradient, dm_gradient(z, a, b, sides), strict=True)]


def rescale(lam, t, xi):
    return min(1.0, lam / xi) ** t if lam > 0 else 0.0


def bce_target(num_classes, a, b, t_a, t_b):
    target = [0.0] * num_classes
    target[a] += t_a
    target[b] += t_b
    return [min(1.0, value) for value in target]


def bce(z, target):
    softplus = [max(v, 0.0) + math.log1p(math.exp(-abs(v))) for v in z]
    return math.fsum(s - y * v if y else s for s, y, v in zip(softplus, target, z, strict=True))


def bce_gradient(z, target):
    return [_sigmoid(v) - y for v, y in zip(z, target, strict=True)]


def _sigmoid(v):
    return 1 / (1 + math.exp(-v)) if v >= 0 else math.exp(v) / (1 + math.exp(v))


def rows(function, logits, y_a, y_b, lam, **settings):
    """Apply a reference to each row of a batch."""
    samples = zip(logits.double().tolist(), y_a.tolist(), y_b.tolist(), lam.double().tolist(), strict=True)
    return torch.tensor([function(*sample, **settings) for sample in samples], dtype=torch.float64)


def differentiable(name, z, y_a, y_b, lam, eta=0.0, sides='both', smoothing=0.0, two_hot=False, t=1.0, xi=1.0):
    """The losses of a batch in torch's own operations, row by row: they have derivatives of any order."""
    losses = []
    for row, a, b, own in zip(z, y_a.tolist(), y_b.tolist(), lam.double().tolist(), strict=True):
        if 'bce' in name:
            sides_of = (1.0, 1.0) if two_hot else (rescale(own, t, xi), rescale(1 - own, t, xi))
            target = torch.tensor(bce_target(len(row), a, b, *sides_of), dtype=row.dtype)
            losses.append(torch.nn.functional.binary_cross_entropy_with_logits(row, target, reduction='sum'))
            continue
        log_p = row - row.logsumexp(0)
        loss = (1 - smoothing) * -(own * log_p[a] + (1 - own) * log_p[b]) - smoothing * log_p.mean()
        if eta and counts(a, b, own):
            without = {leave: [c for c in range(len(row)) if c != leave] for leave in (a, b)}
            loss = loss + eta * (row[without[b]].logsumexp(0) - row[a])
            if sides == 'both':
                loss = loss + eta * (row[without[a]].logsumexp(0) - row[b])
        losses.append(loss)
    return torch.stack(losses)
