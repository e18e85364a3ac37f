"""Mixup and Decoupled Mixup as an addition to any method: "+Mixup" and "+DM" of the paper."""

from typing import Any

from openmix_dm.errors import ConfigError
from openmix_dm.losses import DecoupledCE
from openmix_dm.registry import TERMS
from openmix_dm.semi.executor import Plan, view_of
from openmix_dm.semi.ramps import build_ramp
from openmix_dm.semi.step_parts import Finish, Guess, Outputs, Part, Step
from openmix_dm.semi.terms.base import Term
from openmix_dm.semi.terms.consistency import trusted
from openmix_dm.semi.terms.mixing import FOLDS, fold_lam, image_mixer
from openmix_dm.structures import MixTarget
from openmix_dm.utils.checks import non_negative, one_of


@TERMS.register_module()
class MixBranch(Term):
    """Mix labelled images with each other (ll) and with unlabelled ones (lu), and classify the mixtures.

    ll: the mixer's own mixing, loss DM(CE) with `eta`. lu: x_a labelled, x_b the first unlabelled images with their
    hard guesses, lam folded to the side that `fold` names ('min': the asymmetric strategy), loss DM(CE) of which the
    regulariser keeps the labelled side only; a guess that is not trusted leaves its row out (masked).
    eta 0 is plain MCE: +Mixup is fold None and eta 0, +DM is fold 'min' and eta 1.

    view: of the unlabelled images to mix, by default the weak one. ll_weight, lu_weight: of the parts; `ramp` is that
    of lu alone. where: the mixtures have a pass of their own that moves no statistics, so that the method that they are
    added to stays as it is.
    """

    def __init__(
        self,
        mixer: dict[str, Any],
        eta: float,
        fold: str | None = 'min',
        ll_weight: float = 1.0,
        lu_weight: float = 1.0,
        ramp: dict[str, Any] | None = None,
        view: int = 0,
        masked: bool = True,
        where: str = 'mix',
    ) -> None:
        super().__init__()
        self.mixer = image_mixer(mixer)
        self.both, self.own = DecoupledCE(eta), DecoupledCE(eta, sides='a')
        self.fold = None if fold is None else one_of('fold', fold, FOLDS)
        self.ll_weight = non_negative('ll_weight', ll_weight)
        self.lu_weight, self.ramp = non_negative('lu_weight', lu_weight), build_ramp(ramp)
        self.view, self.masked, self.where = view, masked, where

    def plan(self, step: Step, plan: Plan) -> Finish:
        """Mix the images; the guesses are needed for the loss alone."""
        images, labels = view_of(step.labelled.views, 0, 'labelled'), step.labelled.labels
        others = view_of(step.others.views, self.view, 'unlabelled')[: len(images)]
        if len(others) < len(images):
            raise ConfigError(
                f'{len(images)} labelled images are mixed with as many unlabelled ones, got {len(others)}; '
                'ratio must be at least 1'
            )
        among = self.mixer(images, labels)
        across = self.mixer.pair(images, others, fold_lam(self.mixer.draw_lam(len(images), images.device), self.fold))
        ll = plan.add('ll', among.inputs, self.where)
        lu = plan.add('lu', across.inputs, self.where)

        def finish(outputs: Outputs, guess: Guess | None) -> dict[str, Part]:
            guess = trusted(guess, self)
            target = MixTarget(labels, guess.hard[: len(labels)], across.lam)
            weight = guess.mask[: len(labels)] if self.masked else None
            return {
                'll': Part(self.both(outputs[ll].logits, among.target), self.ll_weight),
                'lu': Part(self.own(outputs[lu].logits, target, weight), self.lu_weight * self.ramp(step.progress)),
            }

        return finish
