"""The mixing of MixMatch (arXiv:1905.02249) and ReMixMatch (arXiv:1911.09785)."""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F

from openmix_dm.registry import MIXERS, SEMI_PARTS, TERMS
from openmix_dm.semi.executor import Plan, view_of
from openmix_dm.semi.ramps import build_ramp
from openmix_dm.semi.step_parts import Finish, Outputs, Part, PseudoLabels, Step
from openmix_dm.semi.terms.base import Term
from openmix_dm.semi.terms.consistency import soft_ce, squared_error, trusted
from openmix_dm.semi.terms.mixing import fold_lam, image_mixer
from openmix_dm.utils.checks import non_negative, one_of
from openmix_dm.utils.transfers import to_device

DISTANCES = {'mse': squared_error, 'soft': soft_ce}


@TERMS.register_module()
class MixAll(Term):
    """Mix labelled and unlabelled images, and their (pseudo-)labels alike (MixMatch, https://arxiv.org/abs/1905.02249).

    All rows [labelled; views of the unlabelled, in the order of `views`] are mixed with the rows of one permutation of
    them, with lam >= 0.5 of the own row. All views of an image have its soft pseudo-label, and none is masked. The loss
    is the cross-entropy on the rows that are labelled, plus weight times `distance` on the others. ReMixMatch
    (https://arxiv.org/abs/1911.09785) mixes in the same way.

    Args:
        mixer: config of a mixer that makes an image of two images without help of the network, such as Mixup.
        views: indices of the views of the unlabelled images that are mixed. Default: (0, 1).
        distance: of the unlabelled rows: 'mse' of probabilities (MixMatch) or 'soft' cross-entropy (ReMixMatch).
            Default: 'mse'.
        weight: of the part of the unlabelled rows. Default: 100.0.
        ramp: config of how that weight grows with the training; None keeps it constant. Default: None.
        where: pass of the mixtures. Default: 'main'.

    Example:
        terms = dict(mixed=dict(type='MixAll', mixer=dict(type='Mixup', alpha=0.5), weight=100.0))
    """

    builds = {'mixer': MIXERS, 'ramp': SEMI_PARTS}

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
        order = to_device(torch.randperm(len(rows), device='cpu'), rows.device)
        pair = self.mixer.pair(rows, rows[order], lam)
        images = plan.add('mixed', pair.inputs, self.where)

        def finish(outputs: Outputs, pseudo: PseudoLabels | None) -> dict[str, Part]:
            pseudo, logits = trusted(pseudo, self), outputs[images].logits.float()
            labels = F.one_hot(step.labelled.labels, logits.shape[1]).to(logits.dtype)
            targets = torch.cat([labels, *[pseudo.soft.to(logits.dtype)] * len(self.views)])
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
