"""From the predictions for unlabelled images to their pseudo-labels."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from openmix_dm.datasets.streams import StreamFacts
from openmix_dm.registry import SEMI_PARTS
from openmix_dm.semi.executor import Plan
from openmix_dm.semi.step_parts import Outputs, PseudoLabels, Request, Step
from openmix_dm.semi.thresholds import Threshold
from openmix_dm.utils.checks import positive


@SEMI_PARTS.register_module()
class Labeler(nn.Module):
    """Make pseudo-labels of the network's own predictions: average over views, align, sharpen, and trust some.

    The soft pseudo-label is p ** (1 / temperature), renormalised; hard pseudo-label and confidence are those of p,
    which is averaged and aligned but not sharpened. Nothing carries a gradient.

    Args:
        views: views of the unlabelled stream to average over. Default: (0,).
        where: pass that they go through: 'main', where they share the forward of the loss, or 'guess', without gradient
            before it, or any other of the model. Default: 'main'.
        temperature: of the sharpening; 1 leaves p as it is, lower values sharpen. Default: 1.0.
        align: config of a DistributionAlignment; None leaves p as it is. Default: None.
        threshold: config of what says which pseudo-labels are trusted; None is a FixedThreshold of 0.95 for all
            classes. Default: None.

    Example:
        labeler = dict(type='Labeler', threshold=dict(type='FixedThreshold', tau=0.95))
    """

    builds = {'align': SEMI_PARTS, 'threshold': SEMI_PARTS}

    def __init__(
        self,
        views: Sequence[int] = (0,),
        where: str = 'main',
        temperature: float = 1.0,
        align: dict[str, Any] | None = None,
        threshold: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        if not views:
            raise ValueError('views must name at least one view of the unlabelled stream, got none')
        self.views, self.where, self.temperature = tuple(views), where, positive('temperature', temperature)
        self.align = None if align is None else SEMI_PARTS.build(align)
        self.threshold: Threshold = SEMI_PARTS.build(threshold or {'type': 'FixedThreshold'})

    def setup(self, facts: StreamFacts) -> None:
        """Tell the parts about the streams."""
        self.threshold.setup(facts)
        if self.align is not None:
            self.align.setup(facts)

    def plan(self, plan: Plan) -> list[Request]:
        """Ask for the views to go through the network."""
        return [plan.unlabelled(view, self.where) for view in self.views]

    @torch.no_grad()
    def label(self, step: Step, outputs: Outputs, requests: Sequence[Request]) -> PseudoLabels:
        """Make the pseudo-labels of a step; the state of threshold and alignment is updated by them."""
        views = [outputs[request].logits.detach().float().softmax(dim=1) for request in requests]
        probabilities = views[0] if len(views) == 1 else torch.stack(views).mean(dim=0)
        if self.align is not None:
            probabilities = self.align(probabilities)
        confidence, hard = probabilities.max(dim=1)
        levels = self.threshold.levels(probabilities.shape[1], probabilities.device)
        mask = (confidence >= (levels[hard] if levels.dim() else levels)).float()
        self.threshold.record(confidence, hard, step.others.index)
        return PseudoLabels(hard, sharpen(probabilities, self.temperature), confidence, mask, {'threshold': levels})


def sharpen(probabilities: Tensor, temperature: float) -> Tensor:
    """Return p ** (1 / T), renormalised."""
    if temperature == 1:
        return probabilities
    powers = probabilities ** (1 / temperature)
    return powers / powers.sum(dim=1, keepdim=True)
