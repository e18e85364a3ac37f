"""Two views of an unlabelled image should be given one class."""

from collections.abc import Callable
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from openmix_dm.registry import SEMI_PARTS, TERMS
from openmix_dm.semi.executor import Plan
from openmix_dm.semi.ramps import build_ramp
from openmix_dm.semi.step_parts import Finish, Outputs, Part, PseudoLabels, Step
from openmix_dm.semi.terms.base import Term
from openmix_dm.utils.checks import non_negative, one_of


@TERMS.register_module()
class Consistency(Term):
    """Train the predictions for a view of the unlabelled images towards their pseudo-labels.

    The loss is the mean of mask * loss(logits, pseudo-label). It divides by all images, not by those that are trusted.
    It is the unlabelled loss of FixMatch (https://arxiv.org/abs/2001.07685), FlexMatch
    (https://arxiv.org/abs/2110.08263) and UDA (https://arxiv.org/abs/1904.12848).

    Args:
        view: index of the view of the unlabelled images; by default the second, the strong one. 0 is the view that was
            pseudo-labelled itself (Pseudo-Labeling). Default: 1.
        target: 'hard' (cross-entropy with the hard pseudo-label), 'soft' (cross-entropy with the soft, sharpened one)
            or 'mse' (squared difference of probabilities from the soft one, mean over classes too). Default: 'hard'.
        masked: leave out images whose pseudo-label is not trusted. Default: True.
        weight: of the term. Default: 1.0.
        ramp: config of how the weight grows with the training; None keeps it constant. Default: None.
        where: pass that the view goes through. Default: 'main'.

    Example:
        terms = dict(unlabelled=dict(type='Consistency', view=1, target='hard'))
    """

    builds = {'ramp': SEMI_PARTS}

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

        def finish(outputs: Outputs, pseudo: PseudoLabels | None) -> dict[str, Part]:
            pseudo = trusted(pseudo, self)
            losses = DISTANCES[self.target](outputs[images].logits.float(), pseudo)
            value = (losses * pseudo.mask if self.masked else losses).mean()
            return {'': Part(value, self.weight * self.ramp(step.progress))}

        return finish


def soft_ce(logits: Tensor, target: Tensor) -> Tensor:
    """Cross-entropy of each row with a distribution."""
    return -(target * logits.log_softmax(dim=1)).sum(dim=1)


def squared_error(logits: Tensor, target: Tensor) -> Tensor:
    """Squared difference of probabilities of each row, mean over classes."""
    return (logits.softmax(dim=1) - target).square().mean(dim=1)


DISTANCES: dict[str, Callable[[Tensor, PseudoLabels], Tensor]] = {
    'hard': lambda logits, pseudo: F.cross_entropy(logits, pseudo.hard, reduction='none'),
    'soft': lambda logits, pseudo: soft_ce(logits, pseudo.soft),
    'mse': lambda logits, pseudo: squared_error(logits, pseudo.soft),
}


def trusted(pseudo: PseudoLabels | None, term: Term) -> PseudoLabels:
    """Return the pseudo-labels that a term cannot do without."""
    if pseudo is None:
        raise ValueError(f'{type(term).__name__} needs pseudo-labels: give the model a labeler')
    return pseudo
