"""One example of every registered mixer, for the tests that hold the whole registry to its promises.

A new mixer adds its line here; without it the tests fail.
"""

from torch import Tensor, nn

from openmix_dm.backbones import Backbone
from openmix_dm.mixers import Mixer
from openmix_dm.registry import MIXERS

EXAMPLES: dict[str, dict] = {
    'NoMix': {},
    'Mixup': {'alpha': 1.0},
    'CutMix': {'alpha': 1.0},
    'FMix': {'alpha': 1.0},
    'GridMix': {'alpha': 1.0},
    'ManifoldMix': {'alpha': 1.0},
    'ResizeMix': {'alpha': 1.0},
    'SaliencyMix': {'alpha': 1.0},
    'SmoothMix': {'alpha': 1.0},
    'AttentiveMix': {'alpha': 1.0, 'teacher': {'type': 'ThinResNet', 'depth': 8}, 'input_size': 16},
    'TokenMix': {'alpha': 1.0, 'patch_size': 4, 'minimum_tokens': 4},
    'TransMix': {'mixer': {'type': 'CutMix', 'alpha': 1.0}},
    'PuzzleMix': {'alpha': 1.0},
    'AutoMix': {'alpha': 1.0, 'stage': 'stage2'},
    'SAMix': {'alpha': 1.0, 'stage': 'stage2'},
    'RandomMixer': {'mixers': [{'type': 'Mixup', 'alpha': 0.8}, {'type': 'CutMix', 'alpha': 1.0}], 'probs': [0.5, 0.5]},
}


LEARNED = ('AutoMix', 'SAMix')  # need a model before the first batch


def registered() -> list[str]:
    MIXERS.import_from_location()
    return sorted(MIXERS.module_dict)


def variants(name: str) -> list[dict]:
    """The example alone, and with each way of drawing lam and partners that the mixer offers."""
    example = EXAMPLES[name]
    if 'alpha' not in example:
        return [example]
    ways = [(False, 'shift'), (True, 'shift'), (False, 'permutation'), (True, 'permutation')]
    return [{**example, 'per_sample': per_sample, 'partner': partner} for per_sample, partner in ways]


def build(name: str, settings: dict) -> Mixer:
    """The mixer, ready for a batch: one that learns is attached to a small model."""
    mixer = MIXERS.build({'type': name, **settings})
    if name in LEARNED:
        mixer.attach(AnyModel())
    return mixer


class AnyModel(nn.Module):
    """A network in two stages for images of any size and with any number of channels, and a head for 50 classes."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone, self.head = AnyBackbone(), nn.Linear(8, 50)


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
    return [(name, settings) for name in registered() if name in EXAMPLES for settings in variants(name)]


def case_id(case: tuple[str, dict]) -> str:
    name, settings = case
    return '-'.join([name, *(str(settings[k]) for k in ('per_sample', 'partner') if k in settings)])
