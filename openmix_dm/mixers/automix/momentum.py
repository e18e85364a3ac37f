"""The momentum network: a slow copy of the model that makes the features for masks and judges what they show.

It is in the mode of the model around it, as in the released code: while the model trains, batch norm takes the
statistics of each batch, clean or mixed, and keeps running ones of its own, and stochastic depth is on. Evaluated, it
goes by its own running statistics.
"""

import copy
import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from openmix_dm.utils.modules import evaluating


class MomentumNetwork(nn.Module):
    """Hold a copy of a backbone and its head that moves towards them and that no gradient reaches."""

    def __init__(self, backbone: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.backbone: Any = copy.deepcopy(backbone)
        self.head = copy.deepcopy(head)
        self.requires_grad_(False)

    def forward(self, images: Tensor) -> Tensor:
        """Return logits."""
        return self.head(self.backbone(images))

    @torch.no_grad()
    def features(self, images: Tensor, stage: str) -> Tensor:
        """Return the feature map after a stage, (N, C, h, w); the network runs no further."""
        return self.backbone.feature_map(images, stage)

    @torch.no_grad()
    def features_and_logits(self, images: Tensor, stage: str) -> tuple[Tensor, Tensor]:
        """Return the feature map after a stage and the logits, of one pass."""
        found: list[Tensor] = []
        with self.backbone.stage(stage).register_forward_hook(lambda module, args, output: found.append(output)):
            logits = self.head(self.backbone._call_impl(images))  # not a compiled forward, which sees no hooks
        return self.backbone.as_map(found[0], stage, (images.shape[-2], images.shape[-1])), logits

    def map_shape(self, stage: str, size: tuple[int, int]) -> torch.Size:
        """Return the shape (C, h, w) of the feature map after a stage for an image of a size (height, width)."""
        like = next(self.parameters())
        image = torch.zeros(1, 3, *size, device=like.device, dtype=like.dtype)
        with evaluating(self):
            return self.features(image, stage).shape[1:]

    @torch.no_grad()
    def copy_from(self, model: Any) -> None:
        """Take the weights and the buffers of a model as they are."""
        for mine, theirs in self._pairs(model):
            mine.copy_(theirs)

    @torch.no_grad()
    def follow(self, model: Any, share: float) -> None:
        """Move each weight by a share of its distance towards the model's; buffers stay."""
        theirs = dict(self._parameters_of(model))
        mine = dict(self.named_parameters())
        torch._foreach_lerp_(list(mine.values()), [theirs[name].detach() for name in mine], share)

    def _pairs(self, model: Any) -> Iterator[tuple[Tensor, Tensor]]:
        for mine, theirs in ((self.backbone, model.backbone), (self.head, model.head)):
            yield from zip(mine.parameters(), theirs.parameters(), strict=True)
            yield from zip(mine.buffers(), theirs.buffers(), strict=True)

    def _parameters_of(self, model: Any) -> Iterator[tuple[str, Tensor]]:
        for name in ('backbone', 'head'):
            for inner, parameter in getattr(model, name).named_parameters():
                yield f'{name}.{inner}', parameter


class Progress(nn.Module):
    """Count optimiser steps and follow a cosine over all of them.

    The count is a number of the host, so that what follows from it is known there; it is saved as a tensor.
    """

    def __init__(self) -> None:
        super().__init__()
        self.step = 0
        self.steps: int | None = None  # of the whole run; part of its config, so not of its state

    def advance(self) -> None:
        """Count a step."""
        self.step += 1

    def cosine(self) -> float:
        """Return a number that falls from 1 at the start to 0 at the end, or stays 1 if the end is not known."""
        if self.steps is None:
            return 1.0
        # in float32, in which runs have always computed it
        share = torch.tensor(self.step, device='cpu').div(self.steps).clamp(max=1)
        return ((1 + torch.cos(math.pi * share)) / 2).item()

    def between(self, start: float, end: float) -> float:
        """Return a number that goes from start to end along the cosine."""
        return (end + (start - end) * torch.tensor(self.cosine(), device='cpu')).item()

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        destination[prefix + 'step'] = torch.tensor(self.step, device='cpu')

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        key = prefix + 'step'
        if key not in state_dict:
            missing_keys.extend([key] if strict else [])
        elif state_dict[key].numel() == 1:
            self.step = int(state_dict[key])
        else:
            error_msgs.append(f'{key} is the number of a step, got a tensor of shape {tuple(state_dict[key].shape)}')
