"""The mixing of MixMatch (arXiv:1905.02249) and ReMixMatch (arXiv:1911.09785)."""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F

from openmix_dm.registry import TERMS
from openmix_dm.semi.executor import Plan, view_of
from openmix_dm.semi.ramps import build_ramp
from openmix_dm.semi.step_parts import Finish, Guess, Outputs, Part, Step
from openmix_dm.semi.terms.base import Term
from openmix_dm.semi.terms.consistency import soft_ce, squared_error, trusted
from openmix_dm.semi.terms.mixing import fold_lam, image_mixer
from openmix_dm.utils.checks import non_negative, one_of

DISTANCES = {'mse': squared_error, 'soft': soft_ce}


@TERMS.register_module()
class MixAll(Term):
    """Mix labelled and unlabelled images with each other, and their labels and guesses alike.

    All rows [labelled; views of the unlabelled, in the order of `views`] meet the rows of one permutation of them, with
    lam >= 0.5 of the own row. Loss: cross-entropy on the rows that are labelled, plus weight times `distance` on the
    others: 'mse' of probabilities (MixMatch) or 'soft' cross-entropy (ReMixMatch).
    """

    def __init__(
        self,
        mixer: dict[str, Any],
        views: Sequence[int] = (0, 1),
        distance: str = 'mse',
        weight: float = 100.0,
        ramp: dict[str, Any] | None = None,
        where: str = 'main',
    ) -> None:
        super().__init__()
        self.mixer = image_mixer(mixer)
        self.views, self.where = tuple(views), where
        self.distance = one_of('distance', distance, DISTANCES)
        self.weight, self.ramp = non_negative('weight', weight), build_ramp(ramp)

    def plan(self, step: Step, plan: Plan) -> Finish:
        """Mix the images; the labels follow when they are known."""
        others = [view_of(step.others.views, view, 'unlabelled') for view in self.views]
        rows = torch.cat([view_of(step.labelled.views, 0, 'labelled'), *others])
        lam = fold_lam(self.mixer.draw_lam(len(rows), rows.device), 'max')
        order = torch.randperm(len(rows), device='cpu').to(rows.device, non_blocking=True)
        pair = self.mixer.pair(rows, rows[order], lam)
        images = plan.add('mixed', pair.inputs, self.where)

        def finish(outputs: Outputs, guess: Guess | None) -> dict[str, Part]:
            guess, logits = trusted(guess, self), outputs[images].logits.float()
            labels = F.one_hot(step.labelled.labels, logits.shape[1]).to(logits.dtype)
            targets = torch.cat([labels, *[guess.soft.to(logits.dtype)] * len(self.views)])
            mixed = torch.lerp(targets[order], targets, pair.lam[:, None].to(logits.dtype))
            size = len(labels)
            return {
                'labelled': Part(soft_ce(logits[:size], mixed[:size]).mean()),
                'unlabelled': Part(
                    DISTANCES[self.distance](logits[size:], mixed[size:]).mean(),
                    self.weight * self.ramp(step.progress),
                ),
            }

        return finish
