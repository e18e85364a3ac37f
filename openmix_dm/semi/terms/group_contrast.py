"""Pseudo group contrast, the loss of Self-Tuning (https://arxiv.org/abs/2102.12903)."""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from openmix_dm.registry import TERMS
from openmix_dm.semi.class_queue import ClassQueue
from openmix_dm.semi.executor import Plan, view_of
from openmix_dm.semi.momentum_teacher import MomentumTeacher
from openmix_dm.semi.step_parts import Finish, Outputs, Part, PseudoLabels, Step
from openmix_dm.semi.terms.base import Term
from openmix_dm.semi.terms.consistency import trusted
from openmix_dm.utils.checks import non_negative, positive
from openmix_dm.utils.modules import full_precision


@TERMS.register_module()
class GroupContrast(Term):
    """Apply pseudo group contrast, the loss of Self-Tuning (https://arxiv.org/abs/2102.12903).

    Each image is brought close to its other view and to the keys of its class, away from those of all other classes.
    The first view is the query; the second goes through a network that follows the model slowly and gives the key, so
    both streams need two views. The class of an unlabelled image is its hard pseudo-label, whatever its confidence.
    Keys of both streams enter one queue, those of the labelled images first; similarities are those to the queue before
    the keys of the call.

    Args:
        width: of the projection of the features. Default: 1024.
        length: keys that the queue holds for each class. Default: 32.
        temperature: that similarities are divided by. Default: 0.07.
        decay: of the key network, which follows at each of the two calls of a step, as released. Default: 0.999.
        weight: of the part of the labelled images. Default: 1.0.
        unlabelled_weight: of the part of the unlabelled images. Default: 1.0.
        where: pass of the labelled queries. Default: 'main'.
        where_unlabelled: pass of the unlabelled queries. The default has to be added to the model's passes:
            passes=dict(unlabelled=dict()). Default: 'unlabelled'.

    Example:
        terms = dict(contrast=dict(type='GroupContrast', width=1024, length=32))
    """

    def __init__(
        self,
        width: int = 1024,
        length: int = 32,
        temperature: float = 0.07,
        decay: float = 0.999,
        weight: float = 1.0,
        unlabelled_weight: float = 1.0,
        where: str = 'main',
        where_unlabelled: str = 'unlabelled',
    ) -> None:
        super().__init__()
        self.width, self.length, self.decay = width, length, decay
        self.temperature = positive('temperature', temperature)
        self.weight = non_negative('weight', weight)
        self.unlabelled_weight = non_negative('unlabelled_weight', unlabelled_weight)
        self.where, self.where_unlabelled = where, where_unlabelled

    def attach(self, model: Any) -> None:
        """Build projection, key network and queue."""
        self.projector = nn.Linear(model.backbone.num_features, self.width)
        self.queue = ClassQueue(model.head.num_classes, self.length, self.width)
        self.key_backbone = MomentumTeacher(model.backbone, self.decay)
        self.key_projector = MomentumTeacher(self.projector, self.decay)
        self._backbone = (model.backbone,)  # in a tuple, so that the model is not registered as a part of its own term

    def init_weights(self, model: Any) -> None:
        """Start the key network as the model starts."""
        self.key_backbone.copy_from(model.backbone)
        self.key_projector.copy_from(self.projector)

    def plan(self, step: Step, plan: Plan) -> Finish:
        """Ask for the queries; keys come from a network of the term's own."""
        others = step.others.views
        key_views = view_of(step.labelled.views, 1, 'labelled'), view_of(others, 1, 'unlabelled')
        labelled, unlabelled = plan.labelled(0, self.where), plan.unlabelled(0, self.where_unlabelled)

        def finish(outputs: Outputs, pseudo: PseudoLabels | None) -> dict[str, Part]:
            classes = trusted(pseudo, self).hard
            near = self.contrast(outputs[labelled].features, key_views[0], step.labelled.labels)
            far = self.contrast(outputs[unlabelled].features, key_views[1], classes)
            return {'labelled': Part(near, self.weight), 'unlabelled': Part(far, self.unlabelled_weight)}

        return finish

    def contrast(self, features: Tensor, others: Tensor, labels: Tensor) -> Tensor:
        """Return the loss of queries with these features, and let the keys of the other views into the queue."""
        self.key_backbone.follow(self._backbone[0])
        self.key_projector.follow(self.projector)
        keys = self.key_projector(self.key_backbone(others))
        with full_precision(features.device):
            queries = F.normalize(self.projector(features.float()), dim=1)
            keys = F.normalize(keys.float(), dim=1)
            # A clone, because `add` writes into the queue, and the backward pass needs the keys as they were.
            loss = group_contrast(queries, keys, self.queue.keys.clone(), labels, self.temperature)
        self.queue.add(keys, labels)
        return loss


def group_contrast(queries: Tensor, keys: Tensor, queue: Tensor, labels: Tensor, temperature: float) -> Tensor:
    """Return the mean of KL(uniform over own key and the keys of the class || softmax of all similarities).

    queries, keys: (N, D) unit vectors; queue: (C, L, D).
    """
    own = (queries * keys).sum(dim=1) / temperature
    others = torch.einsum('nd,cld->ncl', queries, queue) / temperature
    group = others.gather(1, labels[:, None, None].expand(-1, 1, others.shape[2]))[:, 0]
    size = 1 + group.shape[1]
    total = torch.logsumexp(torch.cat([own[:, None], others.flatten(1)], dim=1), dim=1)
    return (total - (own + group.sum(dim=1)) / size).mean() - math.log(size)
