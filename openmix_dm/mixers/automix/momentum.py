"""The momentum network: a slow copy of the model that makes the features for masks and judges what they show.

It is in the mode of the model around it, as in the released code: while the model trains, batch norm takes the
statistics of each batch, clean or mixed, and keeps running ones of its own, and stochastic depth is on. Evaluated, it
goes by its own running statistics.
"""

import copy
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from openmix_dm.backbones.attention import evaluating


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
    def follow(self, model: Any, share: Tensor) -> None:
        """Move each weight by a share of its distance towards the model's; buffers stay."""
        theirs = dict(self._parameters_of(model))
        mine = dict(self.named_parameters())
        torch._foreach_lerp_(list(mine.values()), [theirs[name].detach() for name in mine], [share] * len(mine))

    def _pairs(self, model: Any) -> Iterator[tuple[Tensor, Tensor]]:
        for mine, theirs in ((self.backbone, model.backbone), (self.head, model.head)):
            yield from zip(mine.parameters(), theirs.parameters(), strict=True)
            yield from zip(mine.buffers(), theirs.buffers(), strict=True)

    def _parameters_of(self, model: Any) -> Iterator[tuple[str, Tensor]]:
        for name in ('backbone', 'head'):
            for inner, parameter in getattr(model, name).named_parameters():
                yield f'{name}.{inner}', parameter
