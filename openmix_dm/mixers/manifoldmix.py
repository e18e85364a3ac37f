"""ManifoldMix (https://arxiv.org/abs/1806.05236): Mixup of the features after a random stage of the network.

Differs from released code in where it lives: a forward hook at a named stage, which works for any backbone, instead of
a second version of each backbone class. The mixing itself is theirs: one stage a batch, the images among them.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from openmix_dm.mixers.base import Lam, Mixer, per_row, weight_for
from openmix_dm.mixers.mixup import Mixup
from openmix_dm.mixers.partner import Partner
from openmix_dm.registry import MIXERS
from openmix_dm.structures import HiddenMix, MixedPair, Probe

INPUT = 'input'


@MIXERS.register_module()
class ManifoldMix(Mixer):
    """Mix the features after a random stage of the network as Mixup mixes images (https://arxiv.org/abs/1806.05236).

    Shows lam of the own features and 1 - lam of the partner's after one of `stages`, drawn anew for each batch. A
    forward hook at the named stage does it in any backbone; released code has a second version of each backbone class
    instead. `pair` always mixes the images: its second batch goes through no network.

    Args:
        alpha: lam is drawn from Beta(alpha, alpha).
        stages: names of the backbone's stages to draw from; 'input' stands for the images. The default is that of the
            paper's tables. Default: ('input', 'stage1', 'stage2').
        per_sample: draw lam for each sample instead of once for the batch. Default: False.
        partner: who is mixed with whom: 'shift' (a random cyclic shift: no sample is mixed with itself, nothing is
            gathered) or 'permutation' (a random permutation). Default: 'shift'.

    Example:
        mixer = dict(type='ManifoldMix', alpha=0.2, stages=('input', 'stage1', 'stage2'))
    """

    example = {'stages': ['input']}

    def __init__(
        self,
        alpha: float,
        stages: Sequence[str] = (INPUT, 'stage1', 'stage2'),
        per_sample: bool = False,
        partner: str = 'shift',
    ) -> None:
        super().__init__(alpha, per_sample, partner)
        if not stages or isinstance(stages, str):
            raise ValueError(f'stages must list at least one stage, got {stages!r}')
        self.stages = tuple(stages)

    def attach(self, model: nn.Module) -> None:
        """Refuse stages that the backbone does not have."""
        backbone: Any = getattr(model, 'backbone', None)
        for name in self.stages:
            if backbone is not None and name != INPUT:
                backbone.stage(name)  # raises with the names that there are

    def mix(
        self, inputs: Tensor, partner: Partner, lam: Lam, labels: Tensor | None = None, probe: Probe | None = None
    ) -> MixedPair:
        """Mix inputs with their partners, or leave that to be done at the drawn stage."""
        rows = per_row(lam, inputs)
        stage = self.stages[int(torch.randint(len(self.stages), (), device='cpu'))]
        if stage == INPUT:
            return MixedPair(partner.blend(inputs, weight_for(lam, inputs)), rows)
        return MixedPair(
            inputs, rows, hidden=HiddenMix(stage, lambda features: partner.blend(features, weight_for(lam, features)))
        )

    def pair(self, x_a: Tensor, x_b: Tensor, lam: Lam) -> MixedPair:
        """Mix two aligned batches as images: the second goes through no network, so it has no features to mix with."""
        return Mixup(self.alpha).pair(x_a, x_b, lam)

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        return f'{super().extra_repr()}, stages={self.stages}'
