"""MCE and DM(CE) with their gradients, made together from one softmax.

Saves a pass over (N, C) and the intermediate results that autograd would hold on to. Each function returns the loss
first and then what its second derivative is made of, the gradient with respect to the logits among it: as outputs,
because autograd asks `backward` for their derivatives too, if somebody differentiates a gradient. So derivatives of any
order are right, and a training step, which asks for none of this, does no more work for it.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor


def compute_dtype(logits: Tensor) -> torch.dtype:
    """Return the type to compute a loss in: float32, or float64 for float64 logits."""
    return torch.float64 if logits.dtype == torch.float64 else torch.float32


def at(rows: Tensor, classes: Tensor) -> Tensor:
    """Return the entry of each row's class, (N, 1)."""
    return rows.gather(1, classes[:, None])


class FusedMixedCE(torch.autograd.Function):
    """Return the loss of each sample and its gradient."""

    @staticmethod
    def forward(
        ctx: Any, logits: Tensor, y_a: Tensor, y_b: Tensor, lam: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        """Compute both; the gradient is p minus the label."""
        z = logits.to(compute_dtype(logits))
        own = lam[:, None].to(z.dtype)
        top = z.amax(dim=1, keepdim=True)
        p = torch.softmax(z, dim=1)
        # The largest p is 1 / sum(exp(z - top)): an exact and cheap way to the logsumexp.
        log_sum = -p.amax(dim=1, keepdim=True).log()
        loss = log_sum + own * (top - at(z, y_a)) + (1 - own) * (top - at(z, y_b))
        if smoothing:
            loss = (1 - smoothing) * loss + smoothing * (log_sum + top - z.mean(dim=1, keepdim=True))
        _subtract_target(p, y_a, y_b, own, smoothing)
        ctx.smoothing = smoothing
        _remember(ctx, logits, p, y_a, y_b, own)
        return loss[:, 0], p

    @staticmethod
    def backward(ctx: Any, *of_outputs: Tensor | None) -> tuple[Tensor | None, ...]:
        """Pass the gradient on; differentiate it where that is asked for."""
        of_loss, of_gradient = of_outputs
        gradient, y_a, y_b, own = ctx.saved_tensors
        parts = [] if of_loss is None else [gradient * of_loss[:, None]]
        if of_gradient is not None:
            p = gradient + _target(gradient, y_a, y_b, own, ctx.smoothing)
            parts.append(_centred(p, of_gradient))
        return _for_logits(ctx, parts)


class FusedDecoupledCE(torch.autograd.Function):
    """Return the loss of each sample, its gradient, and r - z_a and r - z_b, (N, 1), of the regulariser.

    One softmax over the classes that are neither a nor b; the rest follows from z_a, z_b and their logsumexp r.
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
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Compute them all."""
        z = logits.to(compute_dtype(logits))
        own, strength = lam[:, None].to(z.dtype), eta * counts[:, None].to(z.dtype)
        z_a, z_b = at(z, y_a), at(z, y_b)
        # The lowest number has weight 0 as -inf has, and there is a softmax even if all other classes are at -inf.
        lowest = torch.finfo(z.dtype).min
        others = z.scatter(1, y_a[:, None], lowest).scatter_(1, y_b[:, None], lowest)
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
        ctx.both, ctx.smoothing = both, smoothing
        _remember(ctx, logits, gradient, y_a, y_b, own, gap_a, gap_b, strength)
        regulariser = -F.logsigmoid(-gap_a)  # softplus without its approximation
        if both:
            regulariser = regulariser - F.logsigmoid(-gap_b)
        return (loss + strength * regulariser)[:, 0], gradient, gap_a, gap_b

    @staticmethod
    def backward(ctx: Any, *of_outputs: Tensor | None) -> tuple[Tensor | None, ...]:
        """Pass the gradient on; differentiate it and the gaps where that is asked for."""
        of_loss, of_gradient, *of_gaps = of_outputs
        gradient, y_a, y_b, own, gap_a, gap_b, strength = ctx.saved_tensors
        parts = [] if of_loss is None else [gradient * of_loss[:, None]]
        if of_gradient is not None or any(each is not None for each in of_gaps):
            labelled = gradient + _target(gradient, y_a, y_b, own, ctx.smoothing)
            q = labelled.scatter(1, y_a[:, None], 0.0).scatter(1, y_b[:, None], 0.0).clamp(min=0)
            q = q / q.sum(dim=1, keepdim=True).clamp(min=torch.finfo(q.dtype).tiny)  # softmax of all other classes
            gaps = ((gap_a, y_a), (gap_b, y_b))
            parts += [_of_gap(q, y, each) for (_, y), each in zip(gaps, of_gaps, strict=True) if each is not None]
            if of_gradient is not None:
                p = _probabilities(labelled, q, gaps, strength, ctx.both)
                parts.append(_centred(p, of_gradient))
                parts += [_curvature(q, *each, strength, of_gradient) for each in gaps[: 2 if ctx.both else 1]]
        return _for_logits(ctx, parts)


def _remember(ctx: Any, logits: Tensor, gradient: Tensor, *of_rows: Tensor) -> None:
    """Keep the gradient for a training step; beside it there are only numbers of each row, not of each class."""
    ctx.save_for_backward(gradient, *of_rows)
    ctx.logits_dtype = logits.dtype
    ctx.set_materialize_grads(False)  # what nobody asks for arrives as None, not as zeros


def _for_logits(ctx: Any, parts: list[Tensor]) -> tuple[Tensor | None, ...]:
    """Return the sum of the parts as the gradient of the logits; no other input has one."""
    total = sum(parts[1:], start=parts[0]).to(ctx.logits_dtype) if parts else None
    return (total, *[None] * (len(ctx.needs_input_grad) - 1))


def _subtract_target(rows: Tensor, y_a: Tensor, y_b: Tensor, own: Tensor, smoothing: float) -> None:
    """Subtract the (smoothed) mixed label from rows of probabilities, in place."""
    rows.scatter_add_(1, y_a[:, None], (smoothing - 1) * own)
    rows.scatter_add_(1, y_b[:, None], (smoothing - 1) * (1 - own) if smoothing else own - 1)
    if smoothing:
        rows -= smoothing / rows.shape[1]


# From here on: what a second derivative needs.


def _target(like: Tensor, y_a: Tensor, y_b: Tensor, own: Tensor, smoothing: float) -> Tensor:
    """Return the (smoothed) mixed label as rows."""
    rows = torch.zeros_like(like)
    _subtract_target(rows, y_a, y_b, own, smoothing)
    return -rows


def _centred(p: Tensor, v: Tensor) -> Tensor:
    """Return (diag(p) - p p^T) v, the derivative of a softmax."""
    return p * (v - (p * v).sum(dim=1, keepdim=True))


def _of_gap(q: Tensor, y: Tensor, factor: Tensor) -> Tensor:
    """Return factor times the derivative of r - z_y: q, and -1 at y."""
    return (factor * q).scatter_add(1, y[:, None], -factor)


def _curvature(q: Tensor, gap: Tensor, y: Tensor, strength: Tensor, v: Tensor) -> Tensor:
    """Return strength times the Hessian of softplus(r - z_y), times v."""
    slope, along = torch.sigmoid(gap), (q * v).sum(dim=1, keepdim=True) - at(v, y)
    return strength * (slope * _centred(q, v) + _of_gap(q, y, slope * torch.sigmoid(-gap) * along))


def _probabilities(
    labelled: Tensor, q: Tensor, gaps: tuple[tuple[Tensor, Tensor], ...], strength: Tensor, both: bool
) -> Tensor:
    """Return p over all classes from the gradient of DM(CE) plus the label, which still has the pulls in it."""
    (gap_a, y_a), (gap_b, y_b) = gaps
    without_b = torch.where((y_a == y_b)[:, None], -torch.inf, -gap_b)
    rest = torch.cat([torch.zeros_like(gap_a), -gap_a, without_b], dim=1).softmax(dim=1)[:, :1]
    p_a = at(labelled, y_a) + torch.sigmoid(gap_a) * strength
    p_b = at(labelled, y_b) + (torch.sigmoid(gap_b) * strength if both else 0.0)
    return (q * rest).scatter(1, y_a[:, None], p_a).scatter(1, y_b[:, None], p_b)
