"""A mixer by its name alone, without a config: what it is shown with, and whom it asks."""

from typing import Any

import torch

from openmix_dm.errors import ConfigError
from openmix_dm.mixers import Mixer
from openmix_dm.registry import MIXERS, MODELS
from openmix_dm.structures import Outputs, Want
from openmix_dm.utils.signatures import arguments_of
from openmix_dm.utils.suggest import did_you_mean

# Mixers that learn along with a model are shown as they start, beside this one.
SMALL_MODEL: dict[str, Any] = {
    'type': 'MixClassifier',
    'backbone': {'type': 'ThinResNet', 'depth': 8},
    'head': {'type': 'LinearHead', 'num_classes': 10, 'loss': {'type': 'MixedCE'}},
}
CLASSES = 1000  # that logits are given for where there is no model: more than there are images to be shown


def named_mixer(name: str) -> Mixer:
    """Build a mixer by its name, with alpha 1 where it takes one, and with the rest of its own example."""
    names = all_mixers()
    if name not in names:
        raise ConfigError(f'there is no mixer {name!r}{did_you_mean(name, names)}')
    mixer: Any = MIXERS.get(name)
    alpha = {'alpha': 1.0} if 'alpha' in arguments_of(mixer).known else {}
    config = {'type': name, **alpha, **mixer.example}
    return MODELS.build({**SMALL_MODEL, 'mixer': config}).mixer.eval() if mixer.needs_model else MIXERS.build(config)


def all_mixers() -> list[str]:
    """Return the names of the registry."""
    MIXERS.import_from_location()
    return sorted(MIXERS.module_dict)


class PixelProbe:
    """Answer a mixer that has no model: images are shown as they are, and their gradients stand for saliency."""

    shows: tuple[Want, ...] = ('attention', 'received')

    def saliency(self, inputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return how much each pixel differs from the mean of its image."""
        return (inputs - inputs.mean(dim=(2, 3), keepdim=True)).abs()

    def features(self, inputs: torch.Tensor, stage: str) -> torch.Tensor:
        """Return the pixels of an eighth of the size."""
        return torch.nn.functional.avg_pool2d(inputs, 8)

    def attention(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the brightness of patches."""
        return torch.nn.functional.adaptive_avg_pool2d(inputs.mean(dim=1, keepdim=True), 14)[:, 0]

    def outputs(self, inputs: torch.Tensor, wants: tuple[Want, ...] = ()) -> Outputs:
        """Return the brightness of patches for every kind of attention, and logits that know nothing."""
        kinds = {'attention': self.attention(inputs), 'received': self.attention(inputs)}
        return Outputs(inputs.new_zeros(len(inputs), CLASSES), **{want: kinds[want] for want in wants})

    def class_map(self, inputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return how much each place differs from the mean of its image."""
        return torch.nn.functional.avg_pool2d(self.saliency(inputs, labels).mean(dim=1), 8)

    def denormalise(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the images themselves."""
        return inputs
