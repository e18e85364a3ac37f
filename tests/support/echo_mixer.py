"""A mixer that uses all that the contract offers: labels beyond pairs, a callback, a head and a history of its own."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from openmix_dm.mixers import Mixer
from openmix_dm.mixers.base import Lam, per_row, weight_for
from openmix_dm.mixers.partner import Partner
from openmix_dm.registry import MIXERS
from openmix_dm.structures import AfterForward, Finished, FurtherBatch, MixedPair, MixTarget, Outputs, Probe


@MIXERS.register_module(force=True)
class EchoMix(Mixer):
    """Blend each image with the one before it in its row, as it was mixed, and ask a head of its own for its class."""

    label_from = 'drawn'
    label_fields = frozenset({'rows_b'})
    needs_model = True

    def __init__(self, alpha: float = 1.0, per_sample: bool = False, partner: str = 'shift') -> None:
        super().__init__(alpha, per_sample, partner)
        self.own_head: nn.Linear | None = None
        self._before: dict[str, Tensor] = {}

    @property
    def rests(self) -> bool:
        return True  # the first batch of an epoch has no echo

    def attach(self, model: nn.Module) -> None:
        whole: Any = model
        if self.own_head is None:
            self.classes = getattr(whole.head, 'num_classes', 50)
            self.own_head = nn.Linear(whole.backbone.num_features, self.classes)

    def begin_epoch(self) -> None:
        self._before = {}

    def history(self) -> dict[str, Any]:
        return dict(self._before)

    def restore_history(self, history: dict[str, Any]) -> None:
        self._before = dict(history)

    def mix(
        self, inputs: Tensor, partner: Partner, lam: Lam, labels: Tensor | None = None, probe: Probe | None = None
    ) -> MixedPair:
        if labels is None:
            raise ValueError('EchoMix mixes with what it saw before: it has no pairs')
        lam = lam if self._before else 1.0
        echo = self._before.get('images', inputs).to(inputs)
        rows_b = self._before.get('rows', MixTarget.hard(labels).dense(self.classes)).to(inputs.device)
        common = min(len(echo), len(inputs))
        lam = per_row(lam, inputs)
        lam = torch.where(torch.arange(len(inputs), device=lam.device) < common, lam, 1.0)
        echo, rows_b = (fitted(each, len(inputs)) for each in (echo, rows_b))
        mixed = torch.lerp(echo, inputs, weight_for(lam, inputs))
        target = MixTarget(labels, labels, lam, rows_b=rows_b)

        def finish(outputs: Outputs) -> Finished:
            self._before = {'images': mixed.detach(), 'rows': target.dense(self.classes)}
            if self.own_head is None:
                raise ValueError('EchoMix needs a model')
            said = self.own_head(outputs.get('map').mean(dim=(2, 3)))
            return Finished(losses={'loss_echo': F.cross_entropy(said, labels)})

        further = (FurtherBatch('plain', inputs, MixTarget.hard(labels), 0.5),)
        return MixedPair(
            mixed, lam, rows_b=rows_b, partners=echo, after=AfterForward(finish, ('map',)), further=further
        )


def fitted(values: Tensor, size: int) -> Tensor:
    """Cut off rows, or add rows of zeros."""
    return torch.cat([values[:size], values.new_zeros(max(0, size - len(values)), *values.shape[1:])])
