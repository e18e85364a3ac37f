"""The command behind tools/browse_mix.py."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from openmix_dm.analysis import browse, sources
from openmix_dm.engine import config as configs
from openmix_dm.engine.checkpoints import load_file, weights_in
from openmix_dm.engine.command import run_command
from openmix_dm.engine.signatures import arguments_of
from openmix_dm.errors import CheckpointError, ConfigError
from openmix_dm.mixers import Mixer
from openmix_dm.registry import LOSSES, MIXERS, MODELS
from openmix_dm.structures import MixedBatch, Probe
from openmix_dm.suggest import did_you_mean

# What a mixer is shown with when it is named alone and cannot do without.
SHOWN_WITH: dict[str, dict[str, Any]] = {
    'RandomMixer': {'mixers': [{'type': 'Mixup', 'alpha': 1.0}, {'type': 'CutMix', 'alpha': 1.0}]},
    'AttentiveMix': {'teacher': {'type': 'ThinResNet', 'depth': 8}, 'input_size': 64},
    'ManifoldMix': {'stages': ['input']},
    'TokenMix': {'patch_size': 4, 'minimum_tokens': 4},
    'TransMix': {'mixer': {'type': 'CutMix', 'alpha': 1.0}},
    'AutoMix': {'stage': 'stage2'},
    'SAMix': {'stage': 'stage2'},
}
# Mixers that learn along with a model; named alone, they are shown as they start, beside this one.
LEARNED = ('AutoMix', 'SAMix')
SMALL_MODEL: dict[str, Any] = {
    'type': 'MixClassifier',
    'backbone': {'type': 'ThinResNet', 'depth': 8},
    'head': {'type': 'LinearHead', 'num_classes': 10, 'loss': {'type': 'MixedCE'}},
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw what a mixer does; return the exit code."""
    parser = argparse.ArgumentParser(prog='browse_mix.py', description='Draw own image, partner, mask and mixed image.')
    parser.add_argument('what', metavar='CONFIG_OR_MIXER', help='a config, the name of a mixer, or all')
    parser.add_argument('--images', help='a folder of images, `digits` (default) or `photos` (inside scikit-learn)')
    parser.add_argument('--out', type=Path, default=Path('mix.png'))
    parser.add_argument('--checkpoint', type=Path, help='with a config: what its mixer does in this state of a run')
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
        batches = {name: _mixed(Shown(named_mixer(name)), images, args.seed, args.lam) for name in names}
        figure = browse.draw_overview(images[0], batches)
    else:
        shown = load_mixer(args.what, args.checkpoint)
        images = (shown.normalise(images[0]), *images[1:])
        batch = _mixed(shown, images, args.seed, args.lam)
        panels = browse.panels(images[0], batch, shown.loss, images[2], show=shown.probe.denormalise)
        figure = browse.draw(panels, _title(shown.mixer))
    figure.savefig(args.out)
    print(f'wrote {args.out}')


def load_images(source: str | None, count: int) -> sources.Images:
    """Return images from where the command line says."""
    if source in (None, 'digits'):
        return sources.digits(count)
    return sources.photographs(count) if source == 'photos' else sources.folder(Path(source), count)


def load_mixer(what: str, checkpoint: Path | None = None) -> 'Shown':
    """Return the mixer of a config, in the state of a checkpoint if there is one, or a mixer by its name."""
    if not what.endswith('.py'):
        if checkpoint is not None:
            raise ConfigError(f'--checkpoint belongs to a config, got the mixer {what}')
        return Shown(named_mixer(what))
    config = configs.load_config(what).model
    if not config.get('mixer'):
        return _shown_of_terms(what, config, checkpoint)
    model = MODELS.build(config).eval()
    model.mixer.init_weights()  # a teacher looks at the images as it does in training
    if checkpoint is None:
        return Shown(model.mixer, model.head.loss_fn)
    missing, unexpected = model.load_state_dict(weights_in(load_file(checkpoint)), strict=False)
    if unexpected or any(not key.startswith('mixer.teacher') for key in missing):
        raise CheckpointError(f'{checkpoint} does not fit the model of {what}: {[*missing, *unexpected][:3]}')
    return Shown(model.mixer, model.head.loss_fn, model.probe, lambda pixels: _normalised(model, pixels))


def _shown_of_terms(what: str, config: Any, checkpoint: Path | None) -> 'Shown':
    """Return the mixer that a term of a semi-supervised loss has."""
    found = [term.mixer for term in (config.get('terms') or {}).values() if term and term.get('mixer')]
    if not found or checkpoint is not None:
        reason = 'mixes nothing' if not found else 'has a mixer in a term of its loss, which no checkpoint changes'
        raise ConfigError(f'{what} {reason}; name a config with a mixer, or a mixer such as Mixup')
    mixer = MIXERS.build(found[-1])
    mixer.init_weights()
    return Shown(mixer, LOSSES.build(config.head.loss))


def named_mixer(name: str) -> Mixer:
    """Build a mixer by its name, with alpha 1 where it takes one."""
    names = all_mixers()
    if name not in names:
        raise ConfigError(f'there is no mixer {name!r}{did_you_mean(name, names)}')
    settings = SHOWN_WITH.get(name, {})
    alpha = {'alpha': 1.0} if 'alpha' in arguments_of(MIXERS.get(name)).known else {}
    config = {'type': name, **alpha, **settings}
    return MODELS.build({**SMALL_MODEL, 'mixer': config}).mixer.eval() if name in LEARNED else MIXERS.build(config)


def all_mixers() -> list[str]:
    """Return the names of the registry."""
    MIXERS.import_from_location()
    return sorted(MIXERS.module_dict)


def _title(mixer: Mixer) -> str:
    """Return the settings of a mixer, without the networks that it owns."""
    return f'{type(mixer).__name__}({mixer.extra_repr()})'


@torch.no_grad()
def _mixed(shown: 'Shown', images: sources.Images, seed: int, lam: float | None) -> MixedBatch:
    torch.manual_seed(seed)
    if lam is not None and not 0 <= lam <= 1:
        raise ConfigError(f'--lam must be in [0, 1], got {lam}')
    batch = shown.mixer(images[0], images[1], shown.probe, lam)
    # what is mixed inside a network is shown as it would look in the images
    return replace(batch, inputs=batch.hidden.mix(batch.inputs)) if batch.hidden else batch


def _normalised(model: Any, pixels: torch.Tensor) -> torch.Tensor:
    return model.data_preprocessor({'inputs': pixels * 255})['inputs']


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


@dataclass(frozen=True)
class Shown:
    """A mixer, the loss of its config, whom it asks, and how images get to it."""

    mixer: Mixer
    loss: Any = None
    probe: Probe = field(default_factory=PixelProbe)
    normalise: Callable[[torch.Tensor], torch.Tensor] = lambda pixels: pixels
