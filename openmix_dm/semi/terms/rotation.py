"""Say by how much an image was turned (ReMixMatch, arXiv:1911.09785)."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from openmix_dm.errors import ConfigError
from openmix_dm.registry import TERMS
from openmix_dm.semi.executor import Plan, view_of
from openmix_dm.semi.step_parts import Finish, Outputs, Part, PseudoLabels, Step
from openmix_dm.semi.terms.base import Term
from openmix_dm.utils.checks import non_negative
from openmix_dm.utils.transfers import to_device

QUARTERS = 4


@TERMS.register_module()
class Rotation(Term):
    """Turn each unlabelled image by a random quarter and classify which (ReMixMatch, https://arxiv.org/abs/1911.09785).

    A linear head of the term's own, on the features, tells 0, 90, 180 and 270 degrees anticlockwise apart. Images must
    be square.

    Args:
        view: index of the view of the unlabelled images. Default: 1.
        weight: of the term. Default: 0.5.
        where: pass of the turned images. Default: 'rotation'.

    Example:
        terms = dict(rotation=dict(type='Rotation', weight=0.5))
    """

    def __init__(self, view: int = 1, weight: float = 0.5, where: str = 'rotation') -> None:
        super().__init__()
        self.view, self.weight, self.where = view, non_negative('weight', weight), where

    def attach(self, model: Any) -> None:
        """Build the head."""
        self.head = nn.Linear(model.backbone.num_features, QUARTERS)

    def plan(self, step: Step, plan: Plan) -> Finish:
        """Turn the images."""
        images = view_of(step.others.views, self.view, 'unlabelled')
        quarters = to_device(torch.randint(QUARTERS, (len(images),), device='cpu'), images.device)
        request = plan.add('turned', turn(images, quarters), self.where)

        def finish(outputs: Outputs, pseudo: PseudoLabels | None) -> dict[str, Part]:
            logits = self.head(outputs[request].features).float()
            return {'': Part(F.cross_entropy(logits, quarters), self.weight)}

        return finish


def turn(images: Tensor, quarters: Tensor) -> Tensor:
    """Turn each square image anticlockwise by its number of quarters."""
    if images.shape[-1] != images.shape[-2]:
        raise ConfigError(f'only square images can be turned by a quarter, got {tuple(images.shape[-2:])}')
    turned = images
    for count in range(1, QUARTERS):
        turned = torch.where((quarters == count)[:, None, None, None], images.rot90(count, (2, 3)), turned)
    return turned
