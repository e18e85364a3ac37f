"""One example of every registered mixer, for the tests that hold the whole registry to its promises."""

from itertools import product

import torch
from torch import Tensor, nn

from openmix_dm.backbones import Backbone
from openmix_dm.mixers import Mixer
from openmix_dm.registry import MIXERS
from openmix_dm.structures import Outputs
from openmix_dm.utils.signatures import arguments_of

# Where the mixer's own `example` is too large, or leaves something out that is to be tested.
OTHERWISE: dict[str, dict] = {
    'ManifoldMix': {},
    'AttentiveMix': {'teacher': {'type': 'ThinResNet', 'depth': 8}, 'input_size': 16},
    'MixPro': {'cell_size': 4},
    'RandomMixer': {'mixers': [{'type': 'Mixup', 'alpha': 0.8}, {'type': 'CutMix', 'alpha': 1.0}], 'probs': [0.5, 0.5]},
}

# Settings that make something else of a mixer, which keeps the promises too.
FURTHER: dict[str, list[dict]] = {'GuidedMixup': [{'saliency': 'gradient'}], 'AdAutoMix': [{'images': 3}]}
WAYS = {'per_sample': (False, True), 'partner': ('shift', 'permutation')}


def example(name: str) -> dict:
    """Arguments of a mixer: those that it gives itself, and alpha 1 where it takes one."""
    cls = MIXERS.get(name)
    alpha = {'alpha': 1.0} if 'alpha' in arguments_of(cls).known else {}
    return {**alpha, **OTHERWISE.get(name, cls.example)}


LEARNED = ('AdAutoMix', 'AutoMix', 'SAMix')  # have networks that they train
REMEMBERING = ('RecursiveMix',)  # mix with the batch before


def registered() -> list[str]:
    MIXERS.import_from_location()
    # not those of the tests: whether they are there depends on what was imported before
    return sorted(name for name, cls in MIXERS.module_dict.items() if not cls.__module__.startswith('support.'))


def variants(name: str) -> list[dict]:
    """The example alone, and with each way of drawing lam and partners that the mixer offers."""
    offered = [key for key in WAYS if key in arguments_of(MIXERS.get(name)).known]
    ways = [dict(zip(offered, values, strict=True)) for values in product(*(WAYS[key] for key in offered))]
    return [{**example(name), **more, **way} for more in ({}, *FURTHER.get(name, [])) for way in ways]


def build(name: str, settings: dict) -> Mixer:
    """The mixer, ready for a batch: one that learns is attached to a small model."""
    mixer = MIXERS.build({'type': name, **settings})
    if mixer.needs_model:
        mixer.attach(AnyModel())
    return mixer


def remember(mixer: Mixer, inputs: Tensor, labels: Tensor) -> Mixer:
    """Show a mixer that mixes with the batch before such a batch, of zeros; others as they are."""
    if type(mixer).__name__ in REMEMBERING:
        first = mixer(torch.zeros_like(inputs), labels)
        first.finish(Outputs(torch.zeros(len(labels), CLASSES, device=inputs.device)))
    return mixer


CLASSES = 50


class AnyModel(nn.Module):
    """A network in two stages for images of any size and with any number of channels, and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone, self.head = AnyBackbone(), nn.Linear(8, CLASSES)
        self.head.num_classes = CLASSES


class AnyBackbone(Backbone):
    def __init__(self) -> None:
        super().__init__(num_features=8)
        self.stage1 = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU())
        self.stage2 = nn.Sequential(nn.Conv2d(4, 8, 3, stride=2, padding=1), nn.ReLU())

    @property
    def stages(self) -> dict[str, nn.Module]:
        return {'stage1': self.stage1, 'stage2': self.stage2}

    def forward(self, inputs: Tensor) -> Tensor:
        return self.stage2(self.stage1(inputs.mean(dim=1, keepdim=True))).mean(dim=(2, 3))


def cases() -> list[tuple[str, dict]]:
    return [(name, settings) for name in registered() for settings in variants(name)]


def case_id(case: tuple[str, dict]) -> str:
    name, settings = case
    return '-'.join(
        [name, *(str(settings[k]) for k in ('saliency', 'images', 'per_sample', 'partner') if k in settings)]
    )
