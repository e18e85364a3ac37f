"""A mixture of policies: one of several mixers, drawn anew for each batch (the RSB, DeiT and "+RSB" recipes)."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import torch
from torch import Tensor, nn

from openmix_dm.mixers.base import Lam, Mixer
from openmix_dm.mixers.partner import Partner
from openmix_dm.registry import MIXERS
from openmix_dm.structures import MixedBatch, MixedPair, Probe
from openmix_dm.utils.dist import common_draws


@MIXERS.register_module()
class RandomMixer(Mixer):
    """Draw one of several mixers for each batch.

    The number of the drawn mixer is stamped on the target as its policy, which the loss `ByPolicy` follows. Each mixer
    draws lam and partners by its own settings. Of several ranks all draw the same policy, so that they run the same
    networks, and lam and partners of their own. Mixtures cannot be nested.

    Args:
        mixers: the mixers to draw from, or their configs; their place in the list is the number of their policy.
        probs: probability of each mixer, summing to 1. None: all alike. Default: None.

    Example:
        mixer = dict(type='RandomMixer', mixers=[dict(type='Mixup', alpha=0.8), dict(type='CutMix', alpha=1.0)])
    """

    example = {'mixers': [{'type': 'Mixup', 'alpha': 1.0}, {'type': 'CutMix', 'alpha': 1.0}]}
    builds = {'mixers': MIXERS}

    def __init__(self, mixers: Sequence[Mixer | dict[str, Any]], probs: Sequence[float] | None = None) -> None:
        super().__init__(alpha=1.0)  # never drawn from: each policy has its own
        self.mixers = nn.ModuleList(MIXERS.build(mixer) if isinstance(mixer, dict) else mixer for mixer in mixers)
        if not len(self.mixers):
            raise ValueError('mixers must name at least one mixer, got an empty list')
        if any(isinstance(mixer, RandomMixer) for mixer in self.mixers):
            raise ValueError('a RandomMixer inside a RandomMixer would hide which policy was drawn: list them flat')
        if any(mixer.label_from != 'pixels' for mixer in self.policies):
            self.label_from = 'drawn'  # the weakest of their promises is what the mixture can keep
        self.label_fields = frozenset().union(*(mixer.label_fields for mixer in self.policies))
        self.probs = _check_probs(probs, len(self.mixers))
        self._bounds = torch.tensor(self.probs, dtype=torch.float64, device='cpu').cumsum(0)

    @property
    def policies(self) -> list[Mixer]:
        """The mixers, in the order of their policy numbers."""
        return [cast(Mixer, mixer) for mixer in self.mixers]

    def draw(self) -> int:
        """Draw the number of a policy, on the CPU: nothing waits for a device."""
        share = torch.rand((), generator=common_draws.generator, dtype=torch.float64, device='cpu')
        drawn = torch.searchsorted(self._bounds, share, right=True)
        return min(int(drawn), len(self.mixers) - 1)  # the sum of the probabilities may round to just below 1

    def forward(self, inputs: Tensor, labels: Tensor, probe: Probe | None = None, lam: Lam | None = None) -> MixedBatch:
        """Mix a batch by the drawn policy."""
        policy = self.draw()
        return _stamp(self.policies[policy](inputs, labels, probe, lam), policy)

    def mix(
        self, inputs: Tensor, partner: Partner, lam: Lam, labels: Tensor | None = None, probe: Probe | None = None
    ) -> MixedPair:
        """Mix inputs with their partners by the drawn policy."""
        return self.policies[self.draw()].mix(inputs, partner, lam, labels, probe)

    def init_weights(self) -> None:
        """Load the pretrained weights of every policy."""
        for mixer in self.policies:
            mixer.init_weights()

    def attach(self, model: nn.Module) -> None:
        """Prepare every policy."""
        for mixer in self.policies:
            mixer.attach(model)

    def begin(self, steps: int) -> None:
        """Tell every policy."""
        for mixer in self.policies:
            mixer.begin(steps)

    def begin_epoch(self) -> None:
        """Tell every policy."""
        for mixer in self.policies:
            mixer.begin_epoch()

    def history(self) -> dict[str, Any]:
        """Return what the policies carry from batch to batch, by their numbers."""
        return {str(number): kept for number, mixer in enumerate(self.policies) if (kept := mixer.history())}

    def restore_history(self, history: dict[str, Any]) -> None:
        """Hand every policy its own."""
        for number, mixer in enumerate(self.policies):
            mixer.restore_history(history.get(str(number), {}))

    def after_step(self, model: nn.Module) -> None:
        """Let every policy follow the model."""
        for mixer in self.policies:
            mixer.after_step(model)

    @property
    def rests(self) -> bool:
        """Whether a policy that is not drawn leaves its parameters without a gradient."""
        return len(self.mixers) > 1 and any(parameter.requires_grad for parameter in self.parameters())

    def classifiers(self) -> dict[str, nn.Module]:
        """Name the networks of all policies; of two by the same name, the later policy's has its number."""
        named: dict[str, nn.Module] = {}
        for number, mixer in enumerate(self.policies):
            for name, network in mixer.classifiers().items():
                named[f'{name}{number}' if name in named else name] = network
        return named

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        return f'probs={self.probs}'


def _check_probs(probs: Sequence[float] | None, count: int) -> list[float]:
    if probs is None:
        return [1 / count] * count
    if len(probs) != count:
        raise ValueError(f'probs must have one probability for each of the {count} mixers, got {list(probs)}')
    if not all(prob >= 0 for prob in probs) or not math.isclose(sum(probs), 1, abs_tol=1e-6):
        raise ValueError(f'probs must be at least 0 and sum to 1, got {list(probs)} with sum {sum(probs)}')
    return [float(prob) for prob in probs]


def _stamp(batch: MixedBatch, policy: int) -> MixedBatch:
    return replace(
        batch,
        target=replace(batch.target, policy=policy),
        further=tuple(replace(each, target=replace(each.target, policy=policy)) for each in batch.further),
    )
