"""Mixup and Decoupled Mixup as an addition to any method: "+Mixup" and "+DM" of the paper."""

import copy
from typing import Any

from torch import Tensor, nn

from openmix_dm.errors import ConfigError
from openmix_dm.losses.base import MixLoss
from openmix_dm.registry import LOSSES, MIXERS, SEMI_PARTS, TERMS
from openmix_dm.semi.executor import Plan, view_of
from openmix_dm.semi.ramps import build_ramp
from openmix_dm.semi.step_parts import Finish, Output, Outputs, Part, PseudoLabels, Step
from openmix_dm.semi.terms.base import Term
from openmix_dm.semi.terms.consistency import trusted
from openmix_dm.semi.terms.mixing import FOLDS, fold_lam, image_mixer
from openmix_dm.structures import MixTarget
from openmix_dm.utils.checks import non_negative, one_of


@TERMS.register_module()
class MixBranch(Term):
    """Add Mixup or Decoupled Mixup (https://arxiv.org/abs/2203.10761) to any method: its "+Mixup" and "+DM".

    Labelled images (their first view) are mixed with each other (part ll) and with unlabelled ones (part lu), and the
    mixtures are classified. ll is the mixer's own mixing, with the loss DM(CE). In lu, x_a are the labelled images and
    x_b as many of the unlabelled ones, the first of the batch, with their hard pseudo-labels; the regulariser of DM(CE)
    keeps the labelled side only. +Mixup is fold None and eta 0, +DM is fold 'min' and eta 1.

    Args:
        mixer: config of a mixer that makes an image of two images without help of the network, such as Mixup.
        eta: weight of the decoupled regulariser of DM(CE); 0 is plain mixed cross-entropy (MCE). None takes `loss`.
            Default: None.
        fold: side of one half to which lam of the labelled image is folded in lu: 'min' (the asymmetric strategy),
            'max', or None to leave lam as it was drawn. Default: 'min'.
        ll_weight: of the part ll. Default: 1.0.
        lu_weight: of the part lu. Default: 1.0.
        ramp: config of how the weight of lu alone grows with the training; None keeps it constant. Default: None.
        ll_ramp: the same for the weight of ll alone. Default: None.
        view: index of the view of the unlabelled images to mix; by default the weak one. Default: 0.
        masked: leave out rows of lu whose pseudo-label is not trusted; the mean still divides by all rows.
            Default: True.
        where: pass of the mixtures. The default is one of their own that moves no statistics, so that the method that
            they are added to stays as it is. A method without pseudo-labels gets a `Labeler` with where='guess', which
            moves none either. Default: 'mix'.
        own_head: classify the mixtures by a head of the term's own, which starts as a copy of the model's and is not
            evaluated, as the released DMixMatch does; the paper names none. Default: False.
        loss: config of another loss over mixed labels, instead of eta; lu has its `own_side`. Default: None.

    Example:
        terms = dict(mix=dict(type='MixBranch', mixer=dict(type='Mixup', alpha=1.0), eta=1.0))
    """

    builds = {'mixer': MIXERS, 'ramp': SEMI_PARTS, 'll_ramp': SEMI_PARTS, 'loss': LOSSES}

    def __init__(
        self,
        mixer: dict[str, Any],
        eta: float | None = None,
        fold: str | None = 'min',
        ll_weight: float = 1.0,
        lu_weight: float = 1.0,
        ramp: dict[str, Any] | None = None,
        ll_ramp: dict[str, Any] | None = None,
        view: int = 0,
        masked: bool = True,
        where: str = 'mix',
        own_head: bool = False,
        loss: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.mixer = image_mixer(mixer)
        if (eta is None) == (loss is None):
            raise ValueError(f'MixBranch takes either eta or loss, got eta={eta!r} and loss={loss!r}')
        self.both: MixLoss = LOSSES.build(loss or {'type': 'DecoupledCE', 'eta': eta})
        self.own = self.both.own_side()
        self.fold = None if fold is None else one_of('fold', fold, FOLDS)
        self.ll_weight, self.ll_ramp = non_negative('ll_weight', ll_weight), build_ramp(ll_ramp)
        self.lu_weight, self.ramp = non_negative('lu_weight', lu_weight), build_ramp(ramp)
        self.view, self.masked, self.where = view, masked, where
        self.own_head = own_head
        self.head: nn.Module | None = None

    def attach(self, model: Any) -> None:
        """Build the head of the mixtures, if they have one."""
        # A copy takes no random draws: all else starts as it does without this head.
        self.head = copy.deepcopy(model.head) if self.own_head else None

    def init_weights(self, model: Any) -> None:
        """Start the head as the model's starts."""
        if self.head is not None:
            self.head.load_state_dict(model.head.state_dict())

    def logits(self, output: Output) -> Tensor:
        """Return what the head of the mixtures says."""
        return output.logits if self.head is None else self.head(output.features)

    def plan(self, step: Step, plan: Plan) -> Finish:
        """Mix the images; the pseudo-labels are needed for the loss alone."""
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

        def finish(outputs: Outputs, pseudo: PseudoLabels | None) -> dict[str, Part]:
            pseudo = trusted(pseudo, self)
            target = MixTarget(labels, pseudo.hard[: len(labels)], across.lam)
            weight = pseudo.mask[: len(labels)] if self.masked else None
            return {
                'll': Part(
                    self.both(self.logits(outputs[ll]), among.target), self.ll_weight * self.ll_ramp(step.progress)
                ),
                'lu': Part(
                    self.own(self.logits(outputs[lu]), target, weight), self.lu_weight * self.ramp(step.progress)
                ),
            }

        return finish
