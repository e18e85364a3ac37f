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
    """Classify pooled features.

    in_features: filled in by the classifier with its backbone's width.
    loss: the config of a loss over mixed labels.
    init: 'torch' (that of nn.Linear), 'trunc_normal', 'normal' or 'xavier'; the latter three start with bias 0.
    """

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
