"""Grad-CAM (https://arxiv.org/abs/1610.02391): where in an image the evidence for a class is."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from openmix_dm.backbones import Backbone
from openmix_dm.utils.modules import evaluating


def grad_cam(model: Any, inputs: Tensor, classes: Tensor) -> Tensor:
    """Return maps (N, K, H, W) of K classes (N, K) for normalised inputs (N, C, H, W); each has its maximum at 1.

    The map of a class is the sum of the channels, each weighed by the mean gradient of the class's logit, cut off
    at 0 and enlarged to the image. Channels are those of the last stage; for networks of tokens those before the last
    block, since after it only the class token reaches the logits. A map without any evidence is 0 everywhere.
    """
    with evaluating(model), torch.enable_grad(), _kept_stages(model.backbone) as kept:
        # not by a compiled forward, which sees no hooks
        logits = model.head(model.backbone._call_impl(inputs.detach().requires_grad_()))
        activations = _choose(kept)
        maps = []
        for column in classes.T:
            chosen = logits.gather(1, column[:, None]).sum()  # rows do not depend on each other
            (gradient,) = torch.autograd.grad(chosen, activations, retain_graph=True)
            maps.append(_weigh(*(as_map(each, model.backbone, inputs) for each in (activations, gradient))))
    cam = F.interpolate(torch.stack(maps, dim=1).detach(), inputs.shape[-2:], mode='bilinear', align_corners=False)
    return cam / cam.amax(dim=(2, 3), keepdim=True).clamp(min=torch.finfo(cam.dtype).tiny)


def as_map(features: Tensor, backbone: Any, inputs: Tensor) -> Tensor:
    """Return what a stage put out as (N, C, h, w), whatever the layout of the network."""
    network: Any = getattr(backbone, 'model', None)
    if features.ndim == 4:
        return features.movedim(3, 1) if getattr(network, 'output_fmt', 'NCHW') == 'NHWC' else features
    if features.ndim == 3 and hasattr(network, 'patch_embed'):
        height, width = network.patch_embed.dynamic_feat_size(inputs.shape[-2:])
        tokens = features[:, getattr(network, 'num_prefix_tokens', 0) :]
        return tokens.transpose(1, 2).unflatten(2, (height, width))
    raise ValueError(
        f'Grad-CAM needs a stage of shape (N, C, h, w), (N, h, w, C) or (N, tokens, C), got {tuple(features.shape)} '
        f'from {type(backbone).__name__}'
    )


def _weigh(activations: Tensor, gradient: Tensor) -> Tensor:
    weights = gradient.mean(dim=(2, 3), keepdim=True)
    return (weights * activations).sum(dim=1).relu()


def _choose(kept: list[Tensor]) -> Tensor:
    """Take the last stage, or the one before it for tokens (a network of one block has none: its stem then)."""
    return kept[-1] if kept[-1].ndim == 4 else kept[-2]


@contextmanager
def _kept_stages(backbone: Backbone) -> Iterator[list[Tensor]]:
    """Keep the outputs of the last two stages of the forward inside the context."""
    kept: list[Tensor] = []
    last = list(backbone.stages.values())[-2:]
    handles = [stage.register_forward_hook(lambda module, args, output: kept.append(output)) for stage in last]
    try:
        yield kept
    finally:
        for handle in handles:
            handle.remove()
