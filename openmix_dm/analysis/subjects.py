"""The trained models that an analysis compares, and the images that it shows them."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from openmix_dm.engine.loading import TrainedModel, open_trained
from openmix_dm.errors import ConfigError

CENTRE = 4  # of TenCrop's crops: after the corners
Batch = tuple[list[int], Tensor, Tensor]  # places in the data set, images in [0, 1], labels


@dataclass(frozen=True)
class EvalData:
    """The test images of a config, asked for by their places."""

    dataset: Any
    batch_size: int
    num_workers: int
    config: dict[str, Any]

    def places(self, limit: int | None) -> list[int]:
        """Return all places, or `limit` of them spread evenly (image folders are sorted by class)."""
        size = len(self.dataset)
        return [i * size // limit for i in range(limit)] if limit and limit < size else list(range(size))

    def cut(self, places: Sequence[int]) -> list[list[int]]:
        """Cut places into batches."""
        return [list(places[i : i + self.batch_size]) for i in range(0, len(places), self.batch_size)]

    def read(self, batches: Sequence[Sequence[int]], device: torch.device, crops: bool = False) -> Iterator[Batch]:
        """Yield the images of each batch of places; of several crops the central one, or all with `crops`."""
        from torch.utils.data import DataLoader

        from openmix_dm.engine.dataloader import collate

        index = [list(places) for places in batches]
        loader = DataLoader(self.dataset, batch_sampler=index, num_workers=self.num_workers, collate_fn=collate)
        for places, data in zip(index, loader, strict=True):
            images = data['inputs'].to(device).float() / 255
            if images.dim() == 5 and not crops:
                images = images[:, CENTRE]
            yield places, images, data['labels'].to(device)

    @property
    def classes(self) -> list[str] | None:
        """Return the names of the classes, where there are any."""
        names = getattr(self.dataset, 'classes', None)
        return None if names is None else [str(name) for name in names]

    def name_of(self, label: int) -> str:
        """Return the name of a class, or its number."""
        return self.classes[label] if self.classes else str(label)


@dataclass(frozen=True)
class Subject:
    """One trained model under the name that figures give it."""

    name: str
    trained: TrainedModel
    data: EvalData

    @property
    def model(self) -> Any:
        """The model, in eval mode."""
        return self.trained.model

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return next(self.trained.model.parameters()).device

    def batches(self, limit: int | None, crops: bool = False) -> tuple[Iterator[Batch], int]:
        """Return the test images in batches, and how many batches there are."""
        cut = self.data.cut(self.data.places(limit))
        return self.data.read(cut, self.device, crops), len(cut)

    def describe(self) -> dict[str, Any]:
        """Say where the model is from, for the record."""
        return {
            'name': self.name,
            'config': str(self.trained.config.filename),
            'checkpoint': str(self.trained.checkpoint),
        }


def add_subject_arguments(parser: argparse.ArgumentParser, least: int = 1) -> None:
    """Add the models to a command line, and how many images they are shown."""
    plural = 'two or more of: ' if least > 1 else ''
    parser.add_argument(
        'runs',
        nargs='+' if least else '*',
        metavar='RUN',
        help=f'{plural}a run folder, a checkpoint in one, or CONFIG CHECKPOINT; several are compared',
    )
    parser.add_argument('--names', nargs='+', help='names for the figure, one for each run')
    parser.add_argument('--limit', type=int, help='look at so many test images only, spread evenly')
    parser.add_argument('--batch-size', type=int, help='images at a time (as the config says)')
    parser.add_argument('--ema', action='store_true', help='take the averaged weights of the checkpoints')
    parser.add_argument(
        '--cfg-options', nargs='+', default=[], metavar='KEY=VALUE', help='override values of all configs'
    )


def load_subjects(args: argparse.Namespace, least: int = 1) -> list[Subject]:
    """Load all models that the command line names; what is wrong with any shows before the first is used."""
    pairs = pair_up(args.runs)
    if len(pairs) < least:
        raise ConfigError(f'expected at least {least} runs, got {len(pairs)}')
    if args.names is not None and len(args.names) != len(pairs):
        raise ConfigError(f'--names must give one name for each of the {len(pairs)} runs, got {len(args.names)}')
    for name in ('limit', 'batch_size'):
        if getattr(args, name) is not None and getattr(args, name) < 1:
            raise ConfigError(f'--{name.replace("_", "-")} must be at least 1, got {getattr(args, name)}')
    trained = [open_trained(place, config, args.ema, tuple(args.cfg_options)) for config, place in pairs]
    names = args.names or distinct_names(trained)
    built: list[EvalData] = []
    for each in trained:
        built.append(eval_data(each, args.batch_size, built))
    return [Subject(name, each, data) for name, each, data in zip(names, trained, built, strict=True)]


def pair_up(runs: Sequence[str]) -> list[tuple[str | None, str]]:
    """Read `CONFIG CHECKPOINT` pairs and single folders or checkpoints from one list of arguments."""
    pairs: list[tuple[str | None, str]] = []
    rest = list(runs)
    while rest:
        first = rest.pop(0)
        if not first.endswith('.py'):
            pairs.append((None, first))
        elif rest:
            pairs.append((first, rest.pop(0)))
        else:
            raise ConfigError(f'expected a checkpoint after the config {first}')
    return pairs


def distinct_names(trained: Sequence[TrainedModel]) -> list[str]:
    """Name models by their configs, as far as that tells them apart."""
    places = [_name_parts(each) for each in trained]
    for depth in (1, 2, 3):
        names = ['/'.join(parts[:depth]) for parts in places]
        if len(set(names)) == len(names):
            return names
    return [f'{parts[0]} {number}' for number, parts in enumerate(places, start=1)]


def _name_parts(trained: TrainedModel) -> tuple[str, ...]:
    """Return config name, seed folder and checkpoint: ('r8_mixup', 'seed0', 'epoch_40')."""
    folder, config = trained.checkpoint.absolute().parent, Path(str(trained.config.filename))
    if config.absolute().parent == folder:  # .../r8_mixup/seed0/config.py
        name = folder.parent.name if folder.name.startswith('seed') else folder.name
        return name, folder.name, trained.checkpoint.stem
    return config.stem, folder.name, trained.checkpoint.stem


def eval_data(trained: TrainedModel, batch_size: int | None, built: Sequence[EvalData] = ()) -> EvalData:
    """Build the test data of a config, or take those of another model if they are the same."""
    from openmix_dm.engine.resolve import resolve
    from openmix_dm.engine.validate import refusing
    from openmix_dm.registry import DATASETS

    loader = resolve(trained.config, world_size=1, training=False).get('test_dataloader')
    if loader is None:
        raise ConfigError(f'{trained.config.filename} has neither a test_dataloader nor a val_dataloader')
    config = loader.dataset.to_dict()
    same = next((data.dataset for data in built if data.config == config), None)
    if same is None:
        with refusing('test_dataloader'):
            same = DATASETS.build(loader.dataset)
    return EvalData(same, batch_size or loader.get('batch_size', 100), loader.get('num_workers', 0), config)


def check_same_data(subjects: Sequence[Subject]) -> None:
    """Refuse models whose test images differ: what is compared image by image has to be the same images."""
    first = subjects[0]
    for other in subjects[1:]:
        if other.data.config != first.data.config:
            raise ConfigError(
                f'{first.name} and {other.name} are tested on different data or with different transforms: '
                f'{first.data.config} and {other.data.config}; compare runs of one data set'
            )


def trained_by_bce(model: nn.Module) -> bool:
    """Say whether a model's outputs are meant for a sigmoid instead of a softmax."""
    from openmix_dm.losses import DecoupledBCE, MixedBCE

    losses = [part for part in model.modules() if isinstance(part, MixedBCE | DecoupledBCE)]
    return bool(losses)
