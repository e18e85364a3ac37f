"""The trained models that an analysis compares, and the images that it shows them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from openmix_dm.config.plain import building_from
from openmix_dm.errors import ConfigError
from openmix_dm.evaluation.pixels import logits_of
from openmix_dm.evaluation.predictions import SavedPredictions
from openmix_dm.runs.model import TrainedModel, open_trained
from openmix_dm.utils.progress import track

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

        from openmix_dm.engine.loader import collate

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
class NamedModel:
    """One trained model under the name that figures give it."""

    name: str
    trained: TrainedModel
    data: EvalData

    @property
    def network(self) -> Any:
        """The model itself, in eval mode."""
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


@dataclass(frozen=True)
class ModelSelection:
    """Which trained models an analysis looks at, and how many images it shows them.

    Args:
        runs: run folders, checkpoints in them, or a config followed by a checkpoint.
        names: for figures, one for each model; None takes those of their configs.
        limit: look at so many test images only, spread evenly.
        batch_size: images at a time; None: as the config says.
        ema: take the averaged weights.
        cfg_options: `key.path=value` overrides of all configs.
        imports: packages that register what the configs name.
    """

    runs: Sequence[str]
    names: Sequence[str] | None = None
    limit: int | None = None
    batch_size: int | None = None
    ema: bool = False
    cfg_options: Sequence[str] = ()
    imports: Sequence[str] = ()


def load_models(selection: ModelSelection, least: int = 1) -> list[NamedModel]:
    """Load all models of a selection; what is wrong with any shows before the first is used."""
    pairs = pair_up(selection.runs)
    if len(pairs) < least:
        raise ConfigError(f'expected at least {least} runs, got {len(pairs)}')
    if selection.names is not None and len(selection.names) != len(pairs):
        raise ConfigError(f'--names must give one name for each of the {len(pairs)} runs, got {len(selection.names)}')
    for name, value in (('limit', selection.limit), ('batch-size', selection.batch_size)):
        if value is not None and value < 1:
            raise ConfigError(f'--{name} must be at least 1, got {value}')
    options, imports = tuple(selection.cfg_options), selection.imports
    trained = [open_trained(place, config, selection.ema, options, imports=imports) for config, place in pairs]
    names = selection.names or distinct_names(trained)
    built: list[EvalData] = []
    for each, (config, _) in zip(trained, pairs, strict=True):
        with building_from(each.config.filename, given=config is not None):
            built.append(eval_data(each, selection.batch_size, built))
    return [NamedModel(name, each, data) for name, each, data in zip(names, trained, built, strict=True)]


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


def full_name(trained: TrainedModel) -> str:
    """Name a model that stands alone: r8_mixup/seed0."""
    return '/'.join(dict.fromkeys(_name_parts(trained)[:2]))


def _name_parts(trained: TrainedModel) -> tuple[str, ...]:
    """Return config name, seed folder and checkpoint: ('r8_mixup', 'seed0', 'epoch_40')."""
    folder, config = trained.checkpoint.absolute().parent, Path(str(trained.config.filename))
    if config.absolute().parent == folder:  # .../r8_mixup/seed0/config.py
        name = folder.parent.name if folder.name.startswith('seed') else folder.name
        return name, folder.name, trained.checkpoint.stem
    return config.stem, folder.name, trained.checkpoint.stem


def eval_data(trained: TrainedModel, batch_size: int | None, built: Sequence[EvalData] = ()) -> EvalData:
    """Build the test data of a config, or take those of another model if they are the same."""
    from openmix_dm.config.check_built import refusing
    from openmix_dm.config.resolve import resolve
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


def check_same_data(models: Sequence[NamedModel]) -> None:
    """Refuse models whose test images differ: what is compared image by image has to be the same images."""
    first = models[0]
    for other in models[1:]:
        if other.data.config != first.data.config:
            raise ConfigError(
                f'{first.name} and {other.name} are tested on different data or with different transforms: '
                f'{first.data.config} and {other.data.config}; compare runs of one data set'
            )


def predict_all(model: NamedModel, limit: int | None = None) -> SavedPredictions:
    """Return the best class of each of a model's test images."""
    batches, total = model.batches(limit, crops=True)
    best, true = [], []
    for _, shown, labels in track(batches, total, f'test {model.name}'):
        with torch.no_grad():
            best.append(logits_of(model.network, shown).argmax(dim=1).cpu().numpy())
        true.append(labels.cpu().numpy())
    return SavedPredictions(np.concatenate(best), np.concatenate(true))
