"""Two views of an unlabelled image should be given one class."""

from collections.abc import Callable
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from openmix_dm.registry import TERMS
from openmix_dm.semi.executor import Plan
from openmix_dm.semi.ramps import build_ramp
from openmix_dm.semi.step_parts import Finish, Guess, Outputs, Part, Step
from openmix_dm.semi.terms.base import Term
from openmix_dm.utils.checks import non_negative, one_of


@TERMS.register_module()
class Consistency(Term):
    """Ask a view of the unlabelled images for the guess: mean over the batch of mask * loss(logits, guess).

    The mean divides by all images, not by those that are trusted.

    view: by default the second, the strong one; 0 asks the guessed view itself (Pseudo-Labeling).
    target: 'hard' (cross-entropy with the guessed class), 'soft' (with the sharpened guess), 'mse' (squared difference
    of probabilities, mean over classes too). masked: leave out what is not trusted.
    """

    def __init__(
        self,
        view: int = 1,
        target: str = 'hard',
        masked: bool = True,
        weight: float = 1.0,
        ramp: dict[str, Any] | None = None,
        where: str = 'main',
    ) -> None:
        super().__init__()
        self.view, self.where, self.masked = view, where, masked
        self.target = one_of('target', target, DISTANCES)
        self.weight, self.ramp = non_negative('weight', weight), build_ramp(ramp)

    def plan(self, step: Step, plan: Plan) -> Finish:
        """Ask for the view."""
        images = plan.unlabelled(self.view, self.where)

        def finish(outputs: Outputs, guess: Guess | None) -> dict[str, Part]:
            guess = trusted(guess, self)
            losses = DISTANCES[self.target](outputs[images].logits.float(), guess)
            value = (losses * guess.mask if self.masked else losses).mean()
            return {'': Part(value, self.weight * self.ramp(step.progress))}

        return finish


def soft_ce(logits: Tensor, target: Tensor) -> Tensor:
    """Cross-entropy of each row with a distribution."""
    return -(target * logits.log_softmax(dim=1)).sum(dim=1)


def squared_error(logits: Tensor, target: Tensor) -> Tensor:
    """Squared difference of probabilities of each row, mean over classes."""
    return (logits.softmax(dim=1) - target).square().mean(dim=1)


DISTANCES: dict[str, Callable[[Tensor, Guess], Tensor]] = {
    'hard': lambda logits, guess: F.cross_entropy(logits, guess.hard, reduction='none'),
    'soft': lambda logits, guess: soft_ce(logits, guess.soft),
    'mse': lambda logits, guess: squared_error(logits, guess.soft),
}


def trusted(guess: Guess | None, term: Term) -> Guess:
    """Return the guess that a term cannot do without."""
    if guess is None:
        raise ValueError(f'{type(term).__name__} needs guesses: give the model a labeler')
    return guess
