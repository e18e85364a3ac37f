"""White-box attacks in pixel space: FGSM (arXiv:1412.6572) and PGD (arXiv:1706.06083).

Both raise the clean cross-entropy of the true label, with the model in eval mode, by at most `eps` in each pixel of
[0, 1]; the model normalises the pixels itself. No parameter gets a gradient. The paper's Table A7 is FGSM with 8/255.
"""

from collections.abc import Callable, Iterable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from openmix_dm.evaluation.pixels import check_pixels, logits_of
from openmix_dm.utils.checks import non_negative, positive
from openmix_dm.utils.modules import evaluating
from openmix_dm.utils.transfers import to_device

EPS = 8 / 255
Attack = Callable[[nn.Module, Tensor, Tensor], Tensor]


def fgsm(model: nn.Module, images01: Tensor, labels: Tensor, eps: float = EPS) -> Tensor:
    """Return images (N, C, H, W) one step of `eps` up the sign of the gradient, cut off at 0 and 1."""
    non_negative('eps', eps)
    return step_up(images01, ascent_sign(model, images01, labels), eps)


def pgd(
    model: nn.Module,
    images01: Tensor,
    labels: Tensor,
    eps: float = EPS,
    step: float = 2 / 255,
    steps: int = 10,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Return images after `steps` steps of size `step`, each brought back to within `eps` and to [0, 1].

    Args:
        model: the network that is attacked; it normalises the pixels itself.
        images01: images (N, C, H, W) in [0, 1].
        labels: their true classes (N,).
        eps: how far a pixel may move. Default: 0.03137254901960784, 8/255.
        step: how far it moves in a step. Default: 0.00784313725490196, 2/255.
        steps: number of steps. Default: 10.
        generator: starts at a random place within eps, drawn on the CPU; None starts at the images themselves.
            Default: None.
    """
    non_negative('eps', eps)
    positive('step', step)
    if steps < 1:
        raise ValueError(f'steps must be at least 1, got {steps}')
    check_pixels(images01)
    attacked = images01
    if generator is not None:
        noise = to_device(torch.rand(images01.shape, generator=generator), images01.device)
        attacked = step_up(images01, 2 * noise - 1, eps)
    for _ in range(steps):
        moved = attacked + step * ascent_sign(model, attacked, labels)
        attacked = (images01 + (moved - images01).clamp(-eps, eps)).clamp(0, 1)
    return attacked


def ascent_sign(model: nn.Module, images01: Tensor, labels: Tensor) -> Tensor:
    """Return the sign of d cross-entropy / d pixel: the direction in which a small step raises the loss most."""
    check_pixels(images01)
    with evaluating(model), torch.enable_grad():
        pixels = images01.detach().requires_grad_()
        logits = logits_of(model, pixels).float()
        # summed: an image's gradient does not depend on the batch that it is in
        loss = F.cross_entropy(logits, labels.to(logits.device, non_blocking=True), reduction='sum')
        (gradient,) = torch.autograd.grad(loss, pixels)
    return gradient.sign()


def step_up(images01: Tensor, direction: Tensor, eps: float) -> Tensor:
    """Return images moved by eps times a direction, cut off at 0 and 1."""
    return (images01.detach() + eps * direction).clamp(0, 1)


def error_percent(model: nn.Module, batches: Iterable[tuple[Tensor, Tensor]], attack: Attack | None = fgsm) -> float:
    """Return the error in percent on attacked (images01, labels) batches; without an attack the clean error."""
    wrong: list[Tensor] = []  # on the device: nobody waits for it before the end
    images = 0
    for images01, labels in batches:
        shown = images01 if attack is None else attack(model, images01, labels)
        with evaluating(model), torch.no_grad():
            predicted = logits_of(model, shown).argmax(dim=1)
        wrong.append((predicted != labels.to(predicted.device, non_blocking=True)).sum())
        images += len(labels)
    if not images:
        raise ValueError('error_percent needs at least one image, got none')
    return 100 * int(torch.stack(wrong).sum()) / images
