"""The maths of the mixup losses: tensors in, one loss per sample out.

All of them take logits (N, C) and a pair of classes with its weight (`MixTarget`'s fields), are to be minimised, and
compute in float32 (float64 for float64 logits) whatever the logits' type. `lam` gets no gradient.

Decoupled Mixup: "Harnessing Hard Mixed Samples with Decoupled Regularizer", NeurIPS 2023, arXiv:2203.10761
"""

from typing import Literal, cast

import torch
import torch.nn.functional as F
from torch import Tensor

from openmix_dm.losses.fused_ce import FusedDecoupledCE, FusedMixedCE, at, compute_dtype

Sides = Literal['both', 'a']
LAM_EPS = 1e-3


def mixed_ce(logits: Tensor, y_a: Tensor, y_b: Tensor, lam: Tensor, label_smoothing: float = 0.0) -> Tensor:
    """Cross-entropy with a mixed label (MCE): -(lam log p[a] + (1 - lam) log p[b])."""
    return cast(Tensor, FusedMixedCE.apply(logits, y_a, y_b, lam.detach(), label_smoothing)[0])


def decoupled_ce(
    logits: Tensor,
    y_a: Tensor,
    y_b: Tensor,
    lam: Tensor,
    eta: float,
    sides: Sides = 'both',
    label_smoothing: float = 0.0,
    lam_eps: float = LAM_EPS,
) -> Tensor:
    """MCE plus eta times the decoupled regulariser (DM(CE)).

    The regulariser -log(p[a] / (1 - p[b])) - log(p[b] / (1 - p[a])) asks for both classes at full strength, whatever
    lam is, because each leaves the other's class out of its softmax. `sides='a'` keeps the first term only (the
    asymmetric strategy). It is left out where it is not defined or not wanted: for two samples of one class, where it
    is unbounded below, and for lam within `lam_eps` of 0 or 1, where one of the two cannot be seen. Label smoothing is
    MCE's alone.
    """
    # With two classes nothing is left beside a and b: the regulariser is zero. One tensor of labels for both sides is
    # that of images which were not mixed: there is no second class, and a GPU does not have to look for one. A CPU
    # does, as it always has: the other way rounds otherwise, and runs of earlier versions go on bit for bit.
    if eta == 0 or logits.shape[1] <= 2 or (y_a is y_b and logits.is_cuda):
        return mixed_ce(logits, y_a, y_b, lam, label_smoothing)
    counts = (y_a != y_b) & (lam > lam_eps) & (lam < 1 - lam_eps)
    settings = eta, sides == 'both', label_smoothing
    return cast(Tensor, FusedDecoupledCE.apply(logits, y_a, y_b, lam.detach(), counts, *settings)[0])


def mixed_bce(logits: Tensor, y_a: Tensor, y_b: Tensor, lam: Tensor, two_hot: bool = False) -> Tensor:
    """Binary cross-entropy, summed over classes, with targets lam and 1 - lam (MBCE one) or 1 and 1 (MBCE two)."""
    lam = lam.detach().to(compute_dtype(logits))
    if two_hot:
        return pair_bce(logits, y_a, y_b, torch.ones_like(lam), torch.ones_like(lam))
    return pair_bce(logits, y_a, y_b, lam, 1 - lam)


def decoupled_bce(logits: Tensor, y_a: Tensor, y_b: Tensor, lam: Tensor, t: float = 1.0, xi: float = 1.0) -> Tensor:
    """Binary cross-entropy, summed over classes, with each side's weight rescaled on its own (DM(BCE))."""
    lam = lam.detach().to(compute_dtype(logits))
    return pair_bce(logits, y_a, y_b, rescale(lam, t, xi), rescale(1 - lam, t, xi))


def rescale(lam: Tensor, t: float, xi: float) -> Tensor:
    """Lift small label weights: r = min(1, lam / xi) ** t, and r(0) = 0.

    The paper's Eq. 6 with its truncation made explicit: without it r exceeds 1 for lam > xi.
    """
    return torch.where(lam > 0, (lam / xi).clamp(max=1) ** t, 0.0)


def pair_bce(logits: Tensor, y_a: Tensor, y_b: Tensor, t_a: Tensor, t_b: Tensor) -> Tensor:
    """Binary cross-entropy, summed over classes, with target t_a on class y_a, t_b on class y_b and 0 elsewhere.

    Both on one class: their sum, at most 1 (a larger target would reward an endless logit).
    """
    z = logits.to(compute_dtype(logits))
    t_b = torch.where(y_a == y_b, (t_a + t_b).clamp(max=1) - t_a, t_b)
    # -y log s(z) - (1 - y) log(1 - s(z)) = -log s(-z) - y z: only two entries of a row have a target.
    nothing_there = -F.logsigmoid(-z).sum(dim=1)
    return nothing_there - t_a * at(z, y_a)[:, 0] - t_b * at(z, y_b)[:, 0]
