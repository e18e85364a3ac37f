"""The loss of the labelled images."""

from typing import Any

from openmix_dm.registry import TERMS
from openmix_dm.semi.executor import Plan
from openmix_dm.semi.step_parts import Finish, Outputs, Part, PseudoLabels, Step
from openmix_dm.semi.terms.base import Term
from openmix_dm.structures import MixTarget


@TERMS.register_module()
class Supervised(Term):
    """Apply the loss of the model's head to a view of the labelled images, unmixed.

    Args:
        view: index of the view of the labelled images. Default: 0.
        where: pass that they go through. Default: 'main'.

    Example:
        terms = dict(labelled=dict(type='Supervised'))
    """

    def __init__(self, view: int = 0, where: str = 'main') -> None:
        super().__init__()
        self.view, self.where = view, where

    def attach(self, model: Any) -> None:
        """Take the loss of the head."""
        self.loss = model.head.loss_fn

    def plan(self, step: Step, plan: Plan) -> Finish:
        """Ask for the labelled images."""
        images = plan.labelled(self.view, self.where)

        def finish(outputs: Outputs, pseudo: PseudoLabels | None) -> dict[str, Part]:
            return {'': Part(self.loss(outputs[images].logits, MixTarget.hard(step.labelled.labels)))}

        return finish
