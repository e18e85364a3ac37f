"""How the classes of a source task relate to those of a target task: Co-Tuning's p(source class | target class)."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from openmix_dm.datasets.splits.draw import stratified_split
from openmix_dm.errors import DataError

# Inverse strengths of the regularisation in the order in which they are tried, the weakest regularisation first: of
# several that are equally good on the held-out images, the first is taken, as released.
STRENGTHS = (1e4, 3e3, 1e3, 3e2, 1e2, 3e1, 1e1, 3.0, 1.0, 3e-1, 1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4)
HELD_OUT = 0.2
ITERATIONS = 200


def direct_relation(probabilities: Tensor, labels: Tensor, num_classes: int) -> Tensor:
    """Return the mean source probabilities (N, S) of the images of each target class, (C, S)."""
    counts = torch.bincount(labels, minlength=num_classes)
    if not counts.all():
        missing = (counts == 0).nonzero()[:, 0].tolist()
        raise DataError(f'the relation needs a labelled image of every class, there is none of {missing[:5]}')
    sums = torch.zeros(num_classes, probabilities.shape[1], dtype=torch.float64)
    sums.index_add_(0, labels, probabilities.double())
    return sums / counts[:, None]


def reverse_relation(probabilities: Tensor, labels: Tensor, num_classes: int) -> Tensor:
    """Return the relation by Bayes' rule from a calibrated p(target class | source class), (C, S).

    A logistic regression without intercept reads the target class off the source probabilities; its regularisation is
    the one that is best on a fifth of the images, held out (the weakest of several), and so is the scale that
    calibrates it. Its weights are then fitted to all images.
    """
    direct_relation(probabilities, labels, num_classes)  # refuses a class without images
    inputs = probabilities.double()
    fit, held = stratified_split(labels, HELD_OUT, seed=0)
    best, scale = STRENGTHS[0], 1.0
    best_accuracy = -1.0
    for strength in STRENGTHS:
        weights = fit_logistic(inputs[fit], labels[fit], num_classes, strength)
        logits = inputs[held] @ weights
        accuracy = float((logits.argmax(dim=1) == labels[held]).double().mean())
        if accuracy > best_accuracy:
            best, best_accuracy, scale = strength, accuracy, fit_scale(logits, labels[held])
    weights = fit_logistic(inputs, labels, num_classes, best)
    target_given_source = (scale * weights).softmax(dim=1)  # (S, C)
    joint = target_given_source.T * inputs.mean(dim=0)
    return joint / joint.sum(dim=1, keepdim=True)


def fit_logistic(inputs: Tensor, labels: Tensor, num_classes: int, strength: float) -> Tensor:
    """Return weights (S, C) that minimise strength * sum of cross-entropies + |weights|^2 / 2."""
    weights = torch.zeros(inputs.shape[1], num_classes, dtype=torch.float64, requires_grad=True)
    return _minimise(
        weights,
        lambda: strength * F.cross_entropy(inputs @ weights, labels, reduction='sum') + weights.square().sum() / 2,
    )


def fit_scale(logits: Tensor, labels: Tensor) -> float:
    """Return the factor of the logits under which the labels are most likely."""
    log_scale = torch.zeros((), dtype=torch.float64, requires_grad=True)
    return float(_minimise(log_scale, lambda: F.cross_entropy(log_scale.exp() * logits, labels)).exp())


def _minimise(variable: Tensor, objective: Callable[[], Tensor]) -> Tensor:
    optimizer = torch.optim.LBFGS([variable], max_iter=ITERATIONS, line_search_fn='strong_wolfe')

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = objective()
        loss.backward()
        return loss

    with torch.enable_grad():
        optimizer.step(closure)  # type: ignore[arg-type]
    return variable.detach()
