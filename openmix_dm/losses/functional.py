"""The maths of the mixup losses: tensors in, one loss per sample out.

All of them take logits (N, C) and a pair of classes with its weight (`MixTarget`'s fields), are to be minimised, and
compute in float32 (float64 for float64 logits) whatever the logits' type. `lam` gets no gradient.

Decoupled Mixup: "Harnessing Hard Mixed Samples with Decoupled Regularizer", NeurIPS 2023, arXiv:2203.10761
"""

from typing import Any, Literal, cast

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

Sides = Literal['both', 'a']
LAM_EPS = 1e-3


def mixed_ce(logits: Tensor, y_a: Tensor, y_b: Tensor, lam: Tensor, label_smoothing: float = 0.0) -> Tensor:
    """Cross-entropy with a mixed label (MCE): -(lam log p[a] + (1 - lam) log p[b])."""
    return cast(Tensor, _MixedCE.apply(logits, y_a, y_b, lam, label_smoothing))


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
    return cast(Tensor, _DecoupledCE.apply(logits, y_a, y_b, lam, counts, eta, sides == 'both', label_smoothing))


def mixed_bce(logits: Tensor, y_a: Tensor, y_b: Tensor, lam: Tensor, two_hot: bool = False) -> Tensor:
    """Binary cross-entropy, summed over classes, with targets lam and 1 - lam (MBCE one) or 1 and 1 (MBCE two)."""
    lam = lam.to(_compute_dtype(logits))
    if two_hot:
        return pair_bce(logits, y_a, y_b, torch.ones_like(lam), torch.ones_like(lam))
    return pair_bce(logits, y_a, y_b, lam, 1 - lam)


def decoupled_bce(logits: Tensor, y_a: Tensor, y_b: Tensor, lam: Tensor, t: float = 1.0, xi: float = 1.0) -> Tensor:
    """Binary cross-entropy, summed over classes, with each side's weight rescaled on its own (DM(BCE))."""
    lam = lam.to(_compute_dtype(logits))
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
    z = logits.to(_compute_dtype(logits))
    t_b = torch.where(y_a == y_b, (t_a + t_b).clamp(max=1) - t_a, t_b)
    # -y log s(z) - (1 - y) log(1 - s(z)) = -log s(-z) - y z: only two entries of a row have a target.
    nothing_there = -F.logsigmoid(-z).sum(dim=1)
    return nothing_there - t_a * _at(z, y_a)[:, 0] - t_b * _at(z, y_b)[:, 0]


def _compute_dtype(logits: Tensor) -> torch.dtype:
    return torch.float64 if logits.dtype == torch.float64 else torch.float32


def _at(rows: Tensor, classes: Tensor) -> Tensor:
    return rows.gather(1, classes[:, None])


class _GradientInForward(torch.autograd.Function):
    """Keep the gradient with respect to the logits, made together with the loss from one softmax.

    Saves a pass over (N, C) and the intermediate results that autograd would hold on to.
    """

    @staticmethod
    def setup(ctx: Any, logits: Tensor, gradient: Tensor) -> None:
        ctx.save_for_backward(gradient)
        ctx.logits_dtype = logits.dtype

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = ctx.saved_tensors
        others = (None,) * (len(ctx.needs_input_grad) - 1)
        return ((gradient * grad_outputs[0][:, None]).to(ctx.logits_dtype), *others)


class _MixedCE(_GradientInForward):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, y_a: Tensor, y_b: Tensor, lam: Tensor, smoothing: float) -> Tensor:
        z = logits.to(_compute_dtype(logits))
        own = lam[:, None].to(z.dtype)
        top = z.amax(dim=1, keepdim=True)
        p = torch.softmax(z, dim=1)
        # The largest p is 1 / sum(exp(z - top)): an exact and cheap way to the logsumexp.
        log_sum = -p.amax(dim=1, keepdim=True).log()
        loss = log_sum + own * (top - _at(z, y_a)) + (1 - own) * (top - _at(z, y_b))
        if smoothing:
            loss = (1 - smoothing) * loss + smoothing * (log_sum + top - z.mean(dim=1, keepdim=True))
        _subtract_target(p, y_a, y_b, own, smoothing)
        _GradientInForward.setup(ctx, logits, p)
        return loss[:, 0]


class _DecoupledCE(_GradientInForward):
    """One softmax over the classes that are neither a nor b; the rest follows from z_a, z_b and their logsumexp r.

    log(p[a] / (1 - p[b])) = -softplus(r - z_a), so nothing is ever divided by 1 - p, which is 0 in float32
    from a gap of 17 on.
    """

    @staticmethod
    def forward(
        ctx: Any,
        logits: Tensor,
        y_a: Tensor,
        y_b: Tensor,
        lam: Tensor,
        counts: Tensor,
        eta: float,
        both: bool,
        smoothing: float,
    ) -> Tensor:
        z = logits.to(_compute_dtype(logits))
        own, strength = lam[:, None].to(z.dtype), eta * counts[:, None].to(z.dtype)
        z_a, z_b = _at(z, y_a), _at(z, y_b)
        others = z.scatter(1, y_a[:, None], -torch.inf).scatter_(1, y_b[:, None], -torch.inf)
        top = others.amax(dim=1, keepdim=True)
        gradient = torch.softmax(others, dim=1)
        log_sum = -gradient.amax(
            dim=1, keepdim=True
        ).log()  # r = top + log_sum, kept apart: large logits lose no digits
        gap_a, gap_b = (top - z_a) + log_sum, (top - z_b) + log_sum

        peak = torch.maximum(top, torch.maximum(z_a, z_b))
        weight_b = torch.where((y_a == y_b)[:, None], 0.0, (z_b - peak).exp())
        e_a, e_rest = (z_a - peak).exp(), (top - peak + log_sum).exp()
        total = e_a + weight_b + e_rest
        log_total = total.log()
        loss = log_total + own * (peak - z_a) + (1 - own) * (peak - z_b)
        if smoothing:
            loss = (1 - smoothing) * loss + smoothing * (log_total + peak - z.mean(dim=1, keepdim=True))

        pull_a = torch.sigmoid(gap_a) * strength
        pull_b = torch.sigmoid(gap_b) * strength if both else torch.zeros_like(pull_a)
        gradient *= e_rest / total + pull_a + pull_b
        gradient.scatter_(1, y_a[:, None], e_a / total - pull_a)
        gradient.scatter_add_(1, y_b[:, None], weight_b / total - pull_b)
        _subtract_target(gradient, y_a, y_b, own, smoothing)
        _GradientInForward.setup(ctx, logits, gradient)
        regulariser = -F.logsigmoid(-gap_a)  # softplus without its approximation
        if both:
            regulariser = regulariser - F.logsigmoid(-gap_b)
        return (loss + strength * regulariser)[:, 0]


def _subtract_target(rows: Tensor, y_a: Tensor, y_b: Tensor, own: Tensor, smoothing: float) -> None:
    """Subtract the (smoothed) mixed label from rows of probabilities, in place."""
    rows.scatter_add_(1, y_a[:, None], (smoothing - 1) * own)
    rows.scatter_add_(1, y_b[:, None], (smoothing - 1) * (1 - own) if smoothing else own - 1)
    if smoothing:
        rows -= smoothing / rows.shape[1]
