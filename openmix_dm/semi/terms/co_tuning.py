"""Co-Tuning (https://proceedings.neurips.cc/paper/2020/hash/c8067ad1937f728f51288b3eb986afaa): keep the source head."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from openmix_dm.backbones.pretrained import classifier_in
from openmix_dm.errors import ConfigError
from openmix_dm.registry import TERMS
from openmix_dm.semi.executor import Plan
from openmix_dm.semi.relation import direct_relation, reverse_relation
from openmix_dm.semi.step_parts import Finish, Outputs, Part, PseudoLabels, Step
from openmix_dm.semi.terms.base import Term
from openmix_dm.semi.terms.consistency import soft_ce
from openmix_dm.utils.checks import non_negative, one_of, positive

RELATIONS = {'direct': direct_relation, 'reverse': reverse_relation}
# Of torchvision's first weights of ResNet-50, as released with the reverse relation.
RESNET50_V1 = 0.8840456604957581


@TERMS.register_module()
class CoTuning(Term):
    """Let the classifier of the source task learn p(source class | target class) of each labelled image (Co-Tuning).

    The paper is https://proceedings.neurips.cc/paper/2020/hash/c8067ad1937f728f51288b3eb986afaa. The loss is a
    cross-entropy with that distribution. The distribution is fixed before training from the labelled images as
    `study_view` of the data set shows them, in eval mode. The backbone must be pretrained, and its file must hold the
    classifier of its task too.

    Args:
        source_classes: number of classes of the classifier in the pretrained file, which is read along with the
            backbone. Default: 1000.
        kind: how the relation is made: 'direct', the mean source probabilities of each class, or 'reverse', by Bayes'
            rule from a calibrated classifier from source to target. Default: 'direct'.
        weight: of the term. Default: 2.3.
        calibration: factor of the source logits before the reverse relation. The value is that of torchvision's first
            weights of ResNet-50, as released; refit it for other networks. Default: 0.8840456604957581.
        view: index of the view of the labelled images. Default: 0.
        where: pass that they go through. Default: 'main'.

    Example:
        terms = dict(source=dict(type='CoTuning', kind='direct'))
    """

    relation: Tensor

    def __init__(
        self,
        source_classes: int = 1000,
        kind: str = 'direct',
        weight: float = 2.3,
        calibration: float = RESNET50_V1,
        view: int = 0,
        where: str = 'main',
    ) -> None:
        super().__init__()
        if source_classes < 2:
            raise ValueError(f'source_classes must be at least 2, got {source_classes}')
        self.source_classes, self.kind = source_classes, one_of('kind', kind, RELATIONS)
        self.weight, self.calibration = non_negative('weight', weight), positive('calibration', calibration)
        self.view, self.where = view, where

    def attach(self, model: Any) -> None:
        """Build the source head; `source`, not `head`: it learns as slowly as the backbone."""
        self.source = nn.Linear(model.backbone.num_features, self.source_classes)
        self.register_buffer('relation', torch.zeros(model.head.num_classes, self.source_classes))
        if model.backbone.pretrained is None:
            raise ConfigError(
                'CoTuning needs a pretrained backbone whose file also holds the classifier of its task; set '
                "model.backbone.pretrained to a file, or to 'timm'"
            )

    def init_weights(self, model: Any) -> None:
        """Take the classifier out of the pretrained file."""
        weight, bias = classifier_in(model.backbone.pretrained_weights(), model.backbone.pretrained)
        if weight.shape != self.source.weight.shape:
            raise ConfigError(
                f'the classifier of {model.backbone.pretrained} is {tuple(weight.shape)}, expected '
                f'{tuple(self.source.weight.shape)}; set source_classes'
            )
        with torch.no_grad():
            self.source.weight.copy_(weight)
            self.source.bias.copy_(bias)

    @torch.no_grad()
    def study(self, model: Any, batches: Iterator[tuple[Tensor, Tensor]]) -> None:
        """Fix the relation."""
        factor = self.calibration if self.kind == 'reverse' else 1.0
        predictions, labels = [], []
        for images, classes in batches:
            predictions.append((factor * self.source(model.backbone(images)).float()).softmax(dim=1).cpu())
            labels.append(classes.cpu())
        relation = RELATIONS[self.kind](torch.cat(predictions), torch.cat(labels), len(self.relation))
        self.relation.copy_(relation)

    def plan(self, step: Step, plan: Plan) -> Finish:
        """Ask for the labelled images."""
        images = plan.labelled(self.view, self.where)

        def finish(outputs: Outputs, pseudo: PseudoLabels | None) -> dict[str, Part]:
            logits = self.source(outputs[images].features).float()
            return {'': Part(soft_ce(logits, self.relation[step.labelled.labels]).mean(), self.weight)}

        return finish
