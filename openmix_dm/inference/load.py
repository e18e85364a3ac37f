"""`openmix_dm.load`: a trained model, its transform and the names of its classes."""

import json
from pathlib import Path
from typing import NamedTuple

import torch
from mmengine.config import Config
from torch import nn

from openmix_dm.engine.loading import open_trained
from openmix_dm.errors import CheckpointError, Failure
from openmix_dm.inference.transform import ImageTransform, transform_of
from openmix_dm.registry import DATASETS

CARD = 'model.json'  # of a published model


class LoadedModel(NamedTuple):
    """A model in eval mode, what to do to an image before, and what its outputs are called."""

    model: nn.Module
    transform: ImageTransform
    classes: list[str]


def load(
    place: str | Path,
    config: str | Path | None = None,
    ema: bool = False,
    device: str | torch.device | None = None,
) -> LoadedModel:
    """Load a run folder, a published folder or a checkpoint; see openmix_dm.load."""
    trained = open_trained(place, config, ema, device=device)
    classes = class_names(trained.config, trained.model, trained.checkpoint.parent)
    return LoadedModel(trained.model, transform_of(trained.config, trained.model), classes)


def class_names(config: Config, model: nn.Module, folder: Path) -> list[str]:
    """Return names from the card of a published model, from the data set if it is there, or plain numbers."""
    outputs = model.head.num_classes  # type: ignore[union-attr]
    names = _names_on_card(folder / CARD) or _names_of_data(config) or []
    return names if len(names) == outputs else [str(label) for label in range(outputs)]  # type: ignore[arg-type]


def _names_on_card(path: Path) -> list[str] | None:
    try:
        return [str(name) for name in json.loads(path.read_text()).get('classes', [])]
    except FileNotFoundError:
        return None
    except (ValueError, AttributeError) as error:
        raise CheckpointError(f'{path} is damaged: {error}') from None


def _names_of_data(config: Config) -> list[str] | None:
    loader = config.get('val_dataloader') or config.get('test_dataloader')
    if loader is None:
        return None
    cls = DATASETS.get(loader.dataset.type)
    names = getattr(cls, 'classes', None)
    if not isinstance(names, list | tuple):
        try:
            names = getattr(DATASETS.build(loader.dataset), 'classes', None)
        except Failure:  # a model can be used where its data are not
            return None
    return None if names is None else [str(name) for name in names]
