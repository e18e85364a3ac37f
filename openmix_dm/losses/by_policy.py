"""A loss for each policy of a mixture."""

from collections.abc import Sequence
from typing import Any, cast

from torch import Tensor, nn

from openmix_dm.losses.base import MixLoss
from openmix_dm.registry import LOSSES
from openmix_dm.structures import MixTarget


@LOSSES.register_module()
class ByPolicy(MixLoss):
    """Use the i-th loss for the batches that the i-th policy of a `RandomMixer` made.

    So a mixture can follow the paper's rules policy by policy: eta 0.1 for a Mixup batch, 1 for a PuzzleMix one. A
    batch of a policy without a loss is refused.

    Args:
        losses: losses or their configs, one for each mixer of the `RandomMixer`, in the same order.

    Example:
        loss = dict(type='ByPolicy', losses=[dict(type='DecoupledCE', eta=0.1), dict(type='DecoupledCE', eta=1.0)])
    """

    builds = {'losses': LOSSES}

    def __init__(self, losses: Sequence[MixLoss | dict[str, Any]]) -> None:
        super().__init__()
        if not losses:
            raise ValueError('losses must name at least one loss, got an empty list')
        self.losses = nn.ModuleList(LOSSES.build(loss) if isinstance(loss, dict) else loss for loss in losses)
        # whatever one of them can use; each says for itself what it cannot when it gets such a batch
        self.label_fields = frozenset().union(*(cast(MixLoss, loss).label_fields for loss in self.losses))

    def per_sample(self, logits: Tensor, target: MixTarget) -> Tensor:
        """Return the loss of each sample, (N,)."""
        if not 0 <= target.policy < len(self.losses):
            raise ValueError(
                f'the batch was made by policy {target.policy} (counted from 0), but ByPolicy has {len(self.losses)} '
                f'losses; give one loss for each mixer of the RandomMixer'
            )
        loss = cast(MixLoss, self.losses[target.policy])
        loss.check_target(target)
        return loss.per_sample(logits, target)

    def probabilities(self, logits: Tensor) -> Tensor:
        """Return what the first loss makes of logits: the losses of a mixture train one head."""
        return cast(MixLoss, self.losses[0]).probabilities(logits)
