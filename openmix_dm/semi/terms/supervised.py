"""The loss of the labelled images."""

from typing import Any

from openmix_dm.registry import TERMS
from openmix_dm.semi.executor import Plan
from openmix_dm.semi.step_parts import Finish, Guess, Outputs, Part, Step
from openmix_dm.semi.terms.base import Term
from openmix_dm.structures import MixTarget


@TERMS.register_module()
class Supervised(Term):
    """The loss of the model's head on a view of the labelled images, unmixed."""

    def __init__(self, view: int = 0, where: str = 'main') -> None:
        super().__init__()
        self.view, self.where = view, where

    def attach(self, model: Any) -> None:
        """Take the loss of the head."""
        self.loss = model.head.loss_fn

    def plan(self, step: Step, plan: Plan) -> Finish:
        """Ask for the labelled images."""
        images = plan.labelled(self.view, self.where)

        def finish(outputs: Outputs, guess: Guess | None) -> dict[str, Part]:
            return {'': Part(self.loss(outputs[images].logits, MixTarget.hard(step.labelled.labels)))}

        return finish
