"""The losses against one log_softmax, forward and backward."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from openmix_dm.analysis.benchmarks.timing import Timing, compare
from openmix_dm.losses import DecoupledBCE, DecoupledCE, MixedBCE, MixedCE
from openmix_dm.structures import MixTarget

LIMIT = 'log_softmax (limit)'
TARGETS = {'MCE': 1.25, 'DM(CE)': 1.6}


def measure(rounds: int, samples: int = 1024, classes: int = 1000) -> list[Timing]:
    """Time forward and backward of each loss."""
    torch.manual_seed(0)
    logits, upstream = torch.randn(samples, classes) * 3, torch.randn(samples, classes)
    y_a, y_b = torch.randint(classes, (2, samples))
    target = MixTarget(y_a, y_b, torch.rand(samples))
    functions: dict[str, Callable[[], object]] = {
        LIMIT: lambda: torch.log_softmax(_leaf(logits), dim=1).backward(upstream)
    }
    losses = {'MCE': MixedCE(), 'DM(CE)': DecoupledCE(eta=0.1), 'MBCE': MixedBCE(), 'DM(BCE)': DecoupledBCE(t=0.5)}
    for name, loss in losses.items():
        functions[name] = lambda loss=loss: loss(_leaf(logits), target).backward()  # type: ignore[misc]
    functions['two F.cross_entropy'] = lambda: _two_cross_entropies(_leaf(logits), target).backward()
    functions['F.cross_entropy, soft labels'] = lambda: F.cross_entropy(_leaf(logits), target.dense(classes)).backward()
    return compare(LIMIT, functions, rounds)


def _leaf(logits: Tensor) -> Tensor:
    return logits.detach().requires_grad_()


def _two_cross_entropies(logits: Tensor, target: MixTarget) -> Tensor:
    """The way to write MCE that needs no function of ours."""
    own, other = (F.cross_entropy(logits, y, reduction='none') for y in (target.y_a, target.y_b))
    return (target.lam * own + (1 - target.lam) * other).mean()
