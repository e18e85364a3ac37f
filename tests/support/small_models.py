"""Small parts out of which the tests make classifiers."""

import torch
from torch import nn

from openmix_dm.backbones import Backbone
from openmix_dm.classifiers import MixClassifier
from openmix_dm.mixers import Mixer
from openmix_dm.registry import BACKBONES, MIXERS
from openmix_dm.structures import AfterForward, Finished, HiddenMix, MixedPair

PREPROCESSOR = {'type': 'Normalise', 'mean': [10.0] * 3, 'std': [20.0] * 3}


@BACKBONES.register_module(force=True)
class TinyBackbone(Backbone):
    """Two stages, batch norm, dropout, a token a pixel, and attention anybody can compute: the mean of the channels."""

    def __init__(self, width: int = 4, dropout: float = 0.0) -> None:
        super().__init__(num_features=width)
        self.stage1 = nn.Conv2d(3, width, 3, padding=1)
        self.stage2 = nn.Sequential(nn.BatchNorm2d(width), nn.ReLU(), nn.Dropout(dropout))
        self.norm = nn.Identity()

    @property
    def stages(self):
        return {'stage1': self.stage1, 'stage2': self.stage2}

    def forward(self, inputs):
        return self.norm(self.stage2(self.stage1(inputs)).flatten(2).mT).mean(dim=1)

    @property
    def token_norm(self):
        return self.norm, 0

    def capture_attention(self, kind='class'):
        return CapturedMean(self)


class CapturedMean:
    def __init__(self, backbone):
        self.backbone = backbone

    def __enter__(self):
        self.handle = self.backbone.register_forward_hook(self.keep)
        return self

    def keep(self, module, args, output):
        self.map = args[0].mean(dim=1)

    def __exit__(self, *_):
        self.handle.remove()


class HiddenDouble(Mixer):
    """Double the output of stage1, and name a loss of its own."""

    def mix(self, inputs, partner, lam, labels=None, probe=None):
        own = torch.tensor(0.25, requires_grad=True)
        return MixedPair(
            inputs,
            torch.ones(len(inputs)),
            hidden=HiddenMix('stage1', lambda features: 2 * features),
            losses={'loss_mixer': own * 4},
        )


def by_attention(outputs):
    return Finished(outputs.attention.mean(dim=(1, 2)))


class HalfByAttention(Mixer):
    """Set lam to the mean attention."""

    label_from = 'attention'

    def mix(self, inputs, partner, lam, labels=None, probe=None):
        return MixedPair(inputs, torch.ones(len(inputs)), after=AfterForward(by_attention, wants=('attention',)))


def classifier(mixer=None, loss=None, **backbone) -> MixClassifier:
    model = MixClassifier(
        backbone={'type': 'TinyBackbone', **backbone},
        head={'type': 'LinearHead', 'num_classes': 5, 'loss': loss or {'type': 'MixedCE'}},
        mixer=mixer if isinstance(mixer, dict) else None,
        data_preprocessor=PREPROCESSOR,
    )
    if isinstance(mixer, Mixer):
        model.mixer = mixer
    return model


def batch(size=6):
    return torch.randn(size, 3, 8, 8), torch.randint(5, (size,))


assert MIXERS  # imported for its side effect: the mixers register themselves
