"""A linear classifier that owns its loss."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from openmix_dm.registry import HEADS, LOSSES
from openmix_dm.structures import MixTarget
from openmix_dm.utils.checks import one_of

INITS: dict[str, Callable[[Tensor], Any]] = {
    'trunc_normal': lambda weight: nn.init.trunc_normal_(weight, std=0.02),  # as timm does for transformers
    'normal': lambda weight: nn.init.normal_(weight, std=0.01),  # as Self-Tuning does for a new task
    'xavier': nn.init.xavier_normal_,  # as FixMatch does for its WRN
}


@HEADS.register_module()
class LinearHead(nn.Module):
    """Classify pooled features (N, in_features) by one linear layer, and own the loss on its logits.

    The loss is logged as `loss_cls`.

    Args:
        num_classes: number of classes, at least as many as the data sets have.
        in_features: width of the features; filled in by the classifier with that of its backbone.
        loss: the config of a loss over mixed labels.
        init: how the weights start: 'torch' (as nn.Linear does), 'trunc_normal' (std 0.02, as timm does for
            transformers), 'normal' (std 0.01, as Self-Tuning does) or 'xavier' (as FixMatch does). The latter three
            start with bias 0. Default: 'torch'.

    Example:
        head = dict(type='LinearHead', num_classes=10, loss=dict(type='MixedCE'))
    """

    builds = {'loss': LOSSES}

    def __init__(self, num_classes: int, in_features: int, loss: dict[str, Any], init: str = 'torch') -> None:
        super().__init__()
        if num_classes < 1:
            raise ValueError(f'num_classes must be at least 1, got {num_classes}')
        one_of('init', init, ('torch', *INITS))
        self.num_classes = num_classes
        self.fc = nn.Linear(in_features, num_classes)
        self.loss_fn = LOSSES.build(loss)
        if init in INITS:
            INITS[init](self.fc.weight)
            nn.init.zeros_(self.fc.bias)

    def forward(self, features: Tensor) -> Tensor:
        """Return logits."""
        return self.fc(features)

    def loss(self, features: Tensor, target: MixTarget) -> dict[str, Tensor]:
        """Return the classification loss under the key by which it is logged."""
        return {'loss_cls': self.loss_fn(self(features), target)}
