"""The command behind tools/browse_mix.py."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from openmix_dm.analysis import browse, sources
from openmix_dm.engine import config as configs
from openmix_dm.engine.command import run_command
from openmix_dm.engine.signatures import arguments_of
from openmix_dm.errors import ConfigError
from openmix_dm.mixers import Mixer
from openmix_dm.registry import LOSSES, MIXERS
from openmix_dm.structures import MixedBatch
from openmix_dm.suggest import did_you_mean

# What a mixer is shown with when it is named alone and cannot do without.
SHOWN_WITH: dict[str, dict[str, Any]] = {
    'RandomMixer': {'mixers': [{'type': 'Mixup', 'alpha': 1.0}, {'type': 'CutMix', 'alpha': 1.0}]},
    'AttentiveMix': {'teacher': {'type': 'ThinResNet', 'depth': 8}, 'input_size': 64},
    'ManifoldMix': {'stages': ['input']},
    'TokenMix': {'patch_size': 4, 'minimum_tokens': 4},
    'TransMix': {'mixer': {'type': 'CutMix', 'alpha': 1.0}},
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw what a mixer does; return the exit code."""
    parser = argparse.ArgumentParser(prog='browse_mix.py', description='Draw own image, partner, mask and mixed image.')
    parser.add_argument('what', metavar='CONFIG_OR_MIXER', help='a config, the name of a mixer, or all')
    parser.add_argument('--images', help='a folder of images, `digits` (default) or `photos` (inside scikit-learn)')
    parser.add_argument('--out', type=Path, default=Path('mix.png'))
    parser.add_argument('--n', type=int, default=8, help='how many images')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--lam', type=float, help='show this lam instead of a drawn one')
    return run_command(browse_mix, parser.parse_args(arguments))


def browse_mix(args: argparse.Namespace) -> None:
    """Draw one mixer, or all side by side."""
    if args.n < 2:
        raise ConfigError(f'--n must be at least 2, got {args.n}: one image has no partner')
    images = load_images(args.images, args.n)
    if args.what == 'all':
        names = [name for name in all_mixers() if name not in ('NoMix', 'RandomMixer')]
        batches = {name: _mixed(named_mixer(name), images, args.seed, args.lam) for name in names}
        figure = browse.draw_overview(images[0], batches)
    else:
        mixer, loss = load_mixer(args.what)
        figure = browse.draw(
            browse.panels(images[0], _mixed(mixer, images, args.seed, args.lam), loss, images[2]), _title(mixer)
        )
    figure.savefig(args.out)
    print(f'wrote {args.out}')


def load_images(source: str | None, count: int) -> sources.Images:
    """Return images from where the command line says."""
    if source in (None, 'digits'):
        return sources.digits(count)
    return sources.photographs(count) if source == 'photos' else sources.folder(Path(source), count)


def load_mixer(what: str) -> tuple[Mixer, Any]:
    """Return the mixer and the loss of a config, or a mixer by its name."""
    if not what.endswith('.py'):
        return named_mixer(what), None
    model = configs.load_config(what).model
    terms = [term for term in (model.get('terms') or {}).values() if term]  # of a semi-supervised loss
    found = [part.mixer for part in (model, *terms) if part.get('mixer')]
    if not found:
        raise ConfigError(f'{what} mixes nothing; name a config with a mixer, or a mixer such as Mixup')
    mixer = MIXERS.build(found[-1])
    mixer.init_weights()  # a teacher looks at the images as it does in training
    return mixer, LOSSES.build(model.head.loss)


def named_mixer(name: str) -> Mixer:
    """Build a mixer by its name, with alpha 1 where it takes one."""
    names = all_mixers()
    if name not in names:
        raise ConfigError(f'there is no mixer {name!r}{did_you_mean(name, names)}')
    settings = SHOWN_WITH.get(name, {})
    alpha = {'alpha': 1.0} if 'alpha' in arguments_of(MIXERS.get(name)).known else {}
    return MIXERS.build({'type': name, **alpha, **settings})


def all_mixers() -> list[str]:
    """Return the names of the registry."""
    MIXERS.import_from_location()
    return sorted(MIXERS.module_dict)


def _title(mixer: Mixer) -> str:
    """Return the settings of a mixer, without the networks that it owns."""
    return f'{type(mixer).__name__}({mixer.extra_repr()})'


def _mixed(mixer: Mixer, images: sources.Images, seed: int, lam: float | None) -> MixedBatch:
    torch.manual_seed(seed)
    if lam is not None and not 0 <= lam <= 1:
        raise ConfigError(f'--lam must be in [0, 1], got {lam}')
    batch = mixer(images[0], images[1], PixelProbe(), lam)
    # what is mixed inside a network is shown as it would look in the images
    return replace(batch, inputs=batch.hidden.mix(batch.inputs)) if batch.hidden else batch


class PixelProbe:
    """Answer a mixer that has no model: images are shown as they are, and their gradients stand for saliency."""

    def saliency(self, inputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return how much each pixel differs from the mean of its image."""
        return (inputs - inputs.mean(dim=(2, 3), keepdim=True)).abs()

    def features(self, inputs: torch.Tensor, stage: str) -> torch.Tensor:
        """Return the pixels of an eighth of the size."""
        return torch.nn.functional.avg_pool2d(inputs, 8)

    def attention(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the brightness of patches."""
        return torch.nn.functional.adaptive_avg_pool2d(inputs.mean(dim=1, keepdim=True), 14)[:, 0]

    def denormalise(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the images themselves."""
        return inputs
