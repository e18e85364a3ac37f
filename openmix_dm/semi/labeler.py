"""From what the network says about unlabelled images to what is believed about them."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from openmix_dm.datasets.streams import StreamFacts
from openmix_dm.registry import SEMI_PARTS
from openmix_dm.semi.executor import Plan
from openmix_dm.semi.step_parts import Guess, Outputs, Request, Step
from openmix_dm.semi.thresholds import Threshold
from openmix_dm.utils.checks import positive


@SEMI_PARTS.register_module()
class Labeler(nn.Module):
    """Guess classes by the network itself: average over views, align, sharpen, and trust some.

    views: views of the unlabelled stream to average over. where: the pass that they go through: 'main', where they
    share the forward of the loss, or 'guess', without gradient before it. temperature: the soft guess is p ** (1 / T),
    renormalised; hard guess and confidence are those of p. align: config of a DistributionAlignment.
    threshold: config of a threshold; by default 0.95 for all classes.
    """

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

    def meet(self, facts: StreamFacts) -> None:
        """Tell the parts about the streams."""
        self.threshold.meet(facts)
        if self.align is not None:
            self.align.meet(facts)

    def plan(self, plan: Plan) -> list[Request]:
        """Ask for the views to go through the network."""
        return [plan.unlabelled(view, self.where) for view in self.views]

    @torch.no_grad()
    def guess(self, step: Step, outputs: Outputs, requests: Sequence[Request]) -> Guess:
        """Make the guesses of a step; thresholds and alignment follow them."""
        views = [outputs[request].logits.detach().float().softmax(dim=1) for request in requests]
        probabilities = views[0] if len(views) == 1 else torch.stack(views).mean(dim=0)
        if self.align is not None:
            probabilities = self.align(probabilities)
        confidence, hard = probabilities.max(dim=1)
        levels = self.threshold.levels(probabilities.shape[1], probabilities.device)
        mask = (confidence >= (levels[hard] if levels.dim() else levels)).float()
        self.threshold.record(confidence, hard, step.others.index)
        return Guess(hard, sharpen(probabilities, self.temperature), confidence, mask, {'threshold': levels})


def sharpen(probabilities: Tensor, temperature: float) -> Tensor:
    """Return p ** (1 / T), renormalised."""
    if temperature == 1:
        return probabilities
    powers = probabilities ** (1 / temperature)
    return powers / powers.sum(dim=1, keepdim=True)
