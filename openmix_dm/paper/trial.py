"""One training step of a model without data, memory or GPU: on meta tensors, which have shapes and nothing else."""

import copy
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from mmengine.config import Config
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from openmix_dm.datasets.streams import StreamFacts
from openmix_dm.paper.memory import SavedMemory
from openmix_dm.paper.values import resolution
from openmix_dm.registry import MODELS

IMAGES = 4  # of a trial batch
# Arguments of a model that change numbers, but neither what is run nor its size.
NUMBERS = {'alpha', 'eta', 't', 'xi', 'label_smoothing', 'pretrained', 'mean', 'std', 'momentum_end'}
OPTIMIZER_STATES = {'SGD': 1, 'AdamW': 2, 'Lamb': 2}  # numbers kept for each parameter


@dataclass(frozen=True)
class Streams:
    """What a semi-supervised batch is made of."""

    labelled_views: int
    unlabelled_views: int  # 0: none
    ratio: float  # unlabelled images for each labelled one

    @classmethod
    def of(cls, dataset: Mapping[str, Any]) -> 'Streams | None':
        """Read the config of a data set; None if it has no streams."""
        if 'labelled_views' not in dataset:
            return None
        unlabelled = () if dataset.get('unlabelled', 'all') is None else dataset.get('unlabelled_views', ())
        return cls(len(dataset['labelled_views']), len(unlabelled), dataset.get('ratio', 1))

    def facts(self, num_classes: int) -> StreamFacts:
        """Return what the model is told of such streams: one label for each class."""
        images = IMAGES if self.unlabelled_views else 0
        return StreamFacts(torch.ones(num_classes), images, self.labelled_views, self.unlabelled_views, self.ratio)


@dataclass(frozen=True)
class Trial:
    """What a step of a model has told."""

    parameters: int  # of the network that is evaluated
    gflops: float  # of one image forward through it; a multiplication and its addition are two
    weights: int  # numbers that are held in all, with those of the mixer's networks
    learned: int  # of these, the ones that are trained
    saved: float  # bytes of an image that backward needs


@dataclass(frozen=True)
class Kind:
    """A model that is worth a trial of its own: those with equal keys differ in numbers only."""

    key: str
    model: dict[str, Any]
    size: int
    streams: Streams | None = None


def kinds_of(config: Config) -> list[Kind]:
    """Return what has to be tried for a config: its model, or for a mixture one model for each policy."""
    model, size = config.model.to_dict(), resolution(config, 'train')
    streams = Streams.of(config.train_dataloader.dataset)
    count = len((model.get('mixer') or {}).get('mixers', ())) or 1
    kinds = []
    for policy in range(count):
        one = copy.deepcopy(model)
        if count > 1:
            one['mixer']['probs'] = [float(number == policy) for number in range(count)]
        key = json.dumps([_without_numbers(one), size, repr(streams)], sort_keys=True)
        kinds.append(Kind(key, one, size, streams))
    return kinds


def try_kind(kind: Kind) -> Trial:
    """Build the model of a kind, and run it forward and backward with its mixer."""
    torch.manual_seed(0)
    with torch.device('meta'):
        model = MODELS.build(kind.model)
        batch = make_batch(kind)
        if kind.streams is not None:
            model.meet(kind.streams.facts(model.head.num_classes))
        image = torch.empty(1, 3, kind.size, kind.size)
    gflops = _gflops(model, image)
    memory = SavedMemory(model.train())
    with memory.counting():
        losses = model(**batch, mode='loss')
    sum(value for name, value in losses.items() if name.startswith('loss')).backward()
    lost = [name for name, weight in model.named_parameters() if weight.requires_grad and weight.grad is None]
    if lost:
        raise ValueError(f'no gradient reaches {", ".join(lost[:3])}, and {len(lost)} parameters in all')
    return Trial(
        parameters=_count(model.backbone) + _count(model.head),
        gflops=gflops,
        weights=_count(model),
        learned=sum(weight.numel() for weight in model.parameters() if weight.requires_grad),
        saved=memory.peak / IMAGES,
    )


def make_batch(kind: Kind) -> dict[str, Any]:
    """Make the arguments of a training step: a few images with labels, or a labelled and an unlabelled stream."""

    def images(count: int) -> torch.Tensor:
        return torch.empty(count, 3, kind.size, kind.size)

    def numbers(count: int) -> torch.Tensor:
        return torch.empty(count, dtype=torch.long)

    if kind.streams is None:
        return {'inputs': images(IMAGES), 'labels': numbers(IMAGES)}
    views, others = kind.streams.labelled_views, kind.streams.unlabelled_views
    batch: dict[str, Any] = {
        'labelled': {'inputs': tuple(images(IMAGES) for _ in range(views)), 'labels': numbers(IMAGES)}
    }
    if others:
        count = math.ceil(IMAGES * kind.streams.ratio)
        batch['unlabelled'] = {'inputs': tuple(images(count) for _ in range(others)), 'index': numbers(count)}
    return batch


def memory_gb(trial: Trial, values: dict[str, Any]) -> float:
    """Estimate what training takes on one device in GB: weights, gradients, states, averages and saved tensors.

    Without what kernels need while they run, and what the allocator leaves over.
    """
    states = OPTIMIZER_STATES.get(values['optimiser'], 2)
    averages = trial.parameters if values['ema'] is not None else 0
    numbers = trial.weights + (1 + states) * trial.learned + averages
    return (4 * numbers + values['batch'] * trial.saved) / 1e9


def _gflops(model: nn.Module, image: torch.Tensor) -> float:
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model.eval()(image, mode='tensor')
    return counter.get_total_flops() / 1e9


def _count(module: Any) -> int:
    return sum(weight.numel() for weight in module.parameters())


def _without_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_numbers(inner) for key, inner in value.items() if key not in NUMBERS}
    return [_without_numbers(inner) for inner in value] if isinstance(value, list | tuple) else value
