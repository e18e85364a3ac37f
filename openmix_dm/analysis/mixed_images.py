"""Mixed test images for analyses: the same for all models, a function of the seed and of the places alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from openmix_dm.analysis.mix_blocks import FLAG, NamedBlock
from openmix_dm.errors import ConfigError
from openmix_dm.mixers import Mixer
from openmix_dm.structures import MixedPair
from openmix_dm.utils.keys import key
from openmix_dm.visualization.lone_mixers import named_mixer


@dataclass(frozen=True)
class Pairs:
    """Places of own images and of their partners, all of two different classes."""

    own: list[int]
    partner: list[int]

    def cut(self, size: int) -> list[list[int]]:
        """Return batches of places: own images first, then their partners."""
        starts = range(0, len(self.own), size)
        return [[*self.own[i : i + size], *self.partner[i : i + size]] for i in starts]


def draw_pairs(labels: Sequence[int] | Tensor, places: Sequence[int], seed: int = 0) -> Pairs:
    """Pair places by a permutation that the seed fixes; pairs of one class are left out."""
    order = torch.randperm(len(places), generator=torch.Generator().manual_seed(key(seed))).tolist()
    partners = [places[i] for i in order]
    kept = [(a, b) for a, b in zip(places, partners, strict=True) if int(labels[a]) != int(labels[b])]
    if not kept:
        raise ConfigError(f'none of {len(places)} random pairs of test images shows two classes; look at more images')
    return Pairs([a for a, _ in kept], [b for _, b in kept])


def pixel_mixer(name: str) -> Mixer:
    """Build a mixer that mixes pixels by what the images show, without asking any model."""
    mixer = named_mixer(name)
    if mixer.needs_model:
        raise ConfigError(f'{name} learns its masks along with a model; `mixed-accuracy {FLAG} RUN` can show them')
    if mixer.label_from != 'pixels':
        raise ConfigError(f'{name} takes lam from {mixer.label_from}: it cannot make the same images for all models')
    return mixer


@torch.no_grad()
def mix_pixels(mixer: Mixer | NamedBlock, images: Tensor, lam: float, *draw: int) -> MixedPair:
    """Mix a batch of own images and partners, (2N, C, H, W) in [0, 1], by a draw of its own; masks differ by sample.

    Pixels, not normalised inputs: weights and masks mean the same in both, and models may normalise differently.
    """
    half = len(images) // 2
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(key(*draw))
        pair = mixer.pair(images[:half], images[half:], images.new_full((half,), lam))
    if pair.hidden is None:
        return pair
    raise ConfigError(f'{type(mixer).__name__} mixes features, which differ from model to model; choose another mixer')
