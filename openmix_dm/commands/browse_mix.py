"""The command behind tools/browse_mix.py."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from openmix_dm.commands.command_line import run_command
from openmix_dm.commands.parser import CommandParser, user_path
from openmix_dm.config.load import load_config
from openmix_dm.config.shipped import is_config
from openmix_dm.errors import CheckpointError, ConfigError
from openmix_dm.invocation import command
from openmix_dm.mixers import Mixer
from openmix_dm.registry import LOSSES, MIXERS, MODELS
from openmix_dm.runs.checkpoints import load_file, weights_in
from openmix_dm.structures import MixedBatch, Probe
from openmix_dm.visualization import mix_panels, transform_panels
from openmix_dm.visualization.charts import check_out
from openmix_dm.visualization.lone_mixers import PixelProbe, all_mixers, named_mixer
from openmix_dm.visualization.sample_images import Images, load_images
from openmix_dm.visualization.style import write_figure

IMAGES = 8  # that a mixer gets


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw what a mixer does, or what transforms do; return the exit code."""
    parser = CommandParser(
        prog=command('mix'),
        description='Draw own image, partner, mask and mixed image; or what each transform makes of one image.',
    )
    parser.add_argument('what', metavar='WHAT', help='a config, the name of a mixer, all (mixers), or transforms')
    parser.add_argument(
        '--images',
        help='a folder of images, `digits` (default: mixers) or `photos` (inside scikit-learn; default: transforms)',
    )
    parser.add_argument('--out', type=user_path, help='a .png, .svg or .pdf (default: mix.png, or transforms.png)')
    parser.add_argument(
        '--checkpoint', type=user_path, help='with a config: what its mixer does in this state of a run'
    )
    parser.add_argument('--n', type=int, help=f'how many images a mixer gets (default: {IMAGES})')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--lam', type=float, help='show this lam instead of a drawn one')
    return run_command(browse_mix, parser.parse_args(arguments))


def browse_mix(args: argparse.Namespace) -> None:
    """Draw one mixer, all side by side, or all transforms."""
    out = args.out or Path('transforms.png' if args.what == 'transforms' else 'mix.png')
    check_out(out)
    figure = _drawn_transforms(args) if args.what == 'transforms' else _drawn_mixers(args)
    write_figure(out, figure)
    print(f'wrote {out}')


def _drawn_transforms(args: argparse.Namespace) -> Any:
    for option in ('n', 'lam', 'checkpoint'):
        if getattr(args, option) is not None:
            raise ConfigError(f'--{option} belongs to mixers; transforms are shown on one image')
    return transform_panels.draw(transform_panels.read_photograph(args.images), args.seed)


def _drawn_mixers(args: argparse.Namespace) -> Any:
    count = IMAGES if args.n is None else args.n
    if count < 2:
        raise ConfigError(f'--n must be at least 2, got {count}: one image has no partner')
    images = load_images(args.images, count)
    if args.what == 'all':
        names = [name for name in all_mixers() if name not in ('NoMix', 'RandomMixer')]
        batches = {name: _mixed(Shown(named_mixer(name)), images, args.seed, args.lam) for name in names}
        return mix_panels.draw_overview(images[0], batches)
    shown = load_mixer(args.what, args.checkpoint)
    images = (shown.normalise(images[0]), *images[1:])
    batch = _mixed(shown, images, args.seed, args.lam)
    panels = mix_panels.panels(images[0], batch, shown.loss, images[2], show=shown.probe.denormalise)
    return mix_panels.draw(panels, _title(shown.mixer))


def load_mixer(what: str, checkpoint: Path | None = None) -> 'Shown':
    """Return the mixer of a config, in the state of a checkpoint if there is one, or a mixer by its name."""
    if not is_config(what) and '/' not in what:  # of a misspelt config, the nearest is told
        if checkpoint is not None:
            raise ConfigError(f'--checkpoint belongs to a config, got the mixer {what}')
        return Shown(named_mixer(what))
    config = load_config(what).get('model')
    if config is None:
        raise ConfigError(f'{what} has no model; name a config with a mixer, or a mixer such as Mixup')
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


def _title(mixer: Mixer) -> str:
    """Return the settings of a mixer, without the networks that it owns."""
    return f'{type(mixer).__name__}({mixer.extra_repr()})'


@torch.no_grad()
def _mixed(shown: 'Shown', images: Images, seed: int, lam: float | None) -> MixedBatch:
    torch.manual_seed(seed)
    if lam is not None and not 0 <= lam <= 1:
        raise ConfigError(f'--lam must be in [0, 1], got {lam}')
    if type(shown.mixer).history is not Mixer.history:
        _show_a_batch_before(shown, images)
    batch = shown.mixer(images[0], images[1], shown.probe, lam)
    # what is mixed inside a network is shown as it would look in the images
    return replace(batch, inputs=batch.hidden.mix(batch.inputs)) if batch.hidden else batch


def _show_a_batch_before(shown: 'Shown', images: Images) -> None:
    """Let a mixer that remembers batches see one: the same images, each in the place of the next."""
    batch = shown.mixer(images[0].roll(1, 0), images[1].roll(1, 0), shown.probe)
    without_model = isinstance(shown.probe, PixelProbe)
    if batch.after is not None and not (without_model and set(batch.after.wants) - set(PixelProbe.shows)):
        batch.finish(shown.probe.outputs(batch.inputs, batch.after.wants))


def _normalised(model: Any, pixels: torch.Tensor) -> torch.Tensor:
    return model.data_preprocessor({'inputs': pixels * 255})['inputs']


@dataclass(frozen=True)
class Shown:
    """A mixer, the loss of its config, whom it asks, and how images get to it."""

    mixer: Mixer
    loss: Any = None
    probe: Probe = field(default_factory=PixelProbe)
    normalise: Callable[[torch.Tensor], torch.Tensor] = lambda pixels: pixels
