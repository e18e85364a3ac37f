"""Batch Spectral Shrinkage (https://proceedings.neurips.cc/paper/2019/hash/c6bff625bdb0393992c9d4db0c6bbe45)."""

import torch
from torch import Tensor

from openmix_dm.registry import TERMS
from openmix_dm.semi.executor import Plan
from openmix_dm.semi.step_parts import Finish, Outputs, Part, PseudoLabels, Step
from openmix_dm.semi.terms.base import Term
from openmix_dm.utils.checks import non_negative
from openmix_dm.utils.modules import full_precision


@TERMS.register_module()
class Spectral(Term):
    """Shrink the smallest singular values of the labelled features: Batch Spectral Shrinkage (BSS).

    The paper is https://proceedings.neurips.cc/paper/2019/hash/c6bff625bdb0393992c9d4db0c6bbe45. The term is the sum of
    the squares of the `k` smallest, in float32. They belong to directions that do not transfer. Each rank takes its own
    part of the batch: the spectrum of the whole one would need the features of all ranks.

    Args:
        k: number of singular values; at most the images of a rank and the width of the features. Default: 1.
        weight: of the term. Default: 0.001.
        view: index of the view of the labelled images. Default: 0.
        where: pass that they go through. Default: 'main'.

    Example:
        terms = dict(spectral=dict(type='Spectral', k=1, weight=1e-3))
    """

    def __init__(self, k: int = 1, weight: float = 1e-3, view: int = 0, where: str = 'main') -> None:
        super().__init__()
        if k < 1:
            raise ValueError(f'k must be at least 1 singular value, got {k}')
        self.k, self.weight = k, non_negative('weight', weight)
        self.view, self.where = view, where

    def plan(self, step: Step, plan: Plan) -> Finish:
        """Ask for the labelled images."""
        images = plan.labelled(self.view, self.where)

        def finish(outputs: Outputs, pseudo: PseudoLabels | None) -> dict[str, Part]:
            return {'': Part(smallest_energy(outputs[images].features, self.k), self.weight)}

        return finish


def smallest_energy(features: Tensor, k: int) -> Tensor:
    """Return the sum of the squares of the k smallest singular values of a matrix, in float32."""
    if k > min(features.shape):
        raise ValueError(f'k={k} singular values are asked for, features {tuple(features.shape)} have fewer')
    with full_precision(features.device):
        return torch.linalg.svdvals(features.float())[-k:].square().sum()
