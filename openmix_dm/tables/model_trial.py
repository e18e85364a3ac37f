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
from openmix_dm.mixers import Mixer
from openmix_dm.registry import MODELS
from openmix_dm.tables.config_values import resolution
from openmix_dm.tables.saved_memory import SavedMemory

IMAGES = 4  # of a trial batch

# Arguments of a model that change numbers, but neither what is run nor its size.
NUMBERS = {'alpha', 'eta', 't', 'xi', 'label_smoothing', 'pretrained', 'mean', 'std', 'momentum_end'}
OPTIMIZER_STATES = {'SGD': 1, 'AdamW': 2, 'Lamb': 2}  # numbers kept for each parameter


@dataclass(frozen=True)
class TrialStep:
    """What a step of a model has told."""

    parameters: int  # of the network that is evaluated
    gflops: float  # of one image forward through it; a multiplication and its addition are two
    weights: int  # numbers that are held in all, with those of the mixer's networks
    learned: int  # of these, the ones that are trained
    saved: float  # bytes of an image that backward needs


@dataclass(frozen=True)
class StreamShape:
    """What a semi-supervised batch is made of."""

    labelled_views: int
    unlabelled_views: int  # 0: none
    ratio: float  # unlabelled images for each labelled one
    studied: bool  # there is a view of the labelled images for methods that look at them before training

    @classmethod
    def of(cls, dataset: Mapping[str, Any]) -> 'StreamShape | None':
        """Read the config of a data set; None if it has no streams."""
        if 'labelled_views' not in dataset:
            return None
        unlabelled = () if dataset.get('unlabelled', 'all') is None else dataset.get('unlabelled_views', ())
        studied = dataset.get('study_view') is not None
        return cls(len(dataset['labelled_views']), len(unlabelled), dataset.get('ratio', 1), studied)


@dataclass(frozen=True)
class Kind:
    """A model that is worth a trial of its own: those with equal keys differ in numbers only."""

    key: str
    model: dict[str, Any]
    size: int
    streams: StreamShape | None = None
    policies: int = 1  # of a mixture; its probs say which is drawn


def kinds_of(config: Config) -> list[Kind]:
    """Return what has to be tried for a config: its model, or for a mixture one model for each policy."""
    model, size = config.model.to_dict(), resolution(config, 'train')
    streams = StreamShape.of(config.train_dataloader.dataset)
    count = len((model.get('mixer') or {}).get('mixers', ())) or 1
    kinds = []
    for policy in range(count):
        one = copy.deepcopy(model)
        if count > 1:
            one['mixer']['probs'] = [float(number == policy) for number in range(count)]
        key = json.dumps([_without_numbers(one), size, repr(streams)], sort_keys=True)
        kinds.append(Kind(key, one, size, streams, count))
    return kinds


def try_kind(kind: Kind) -> TrialStep:
    """Build the model of a kind, and run it forward and backward with its mixer."""
    torch.manual_seed(0)
    with torch.device('meta'):
        model = MODELS.build(kind.model)
        batch = make_batch(IMAGES, kind.size, kind.streams)
        if kind.streams is not None:
            set_up_streams(model, kind.streams)
    for module in model.modules():
        if isinstance(module, Mixer):
            module.check_size(kind.size, kind.size)
    memory = SavedMemory(model.train())
    with memory.counting():
        losses = model(**batch, mode='loss')
    sum(value for name, value in losses.items() if name.startswith('loss')).backward()
    _check_gradients(model, kind)
    return TrialStep(
        parameters=_count(model.backbone) + _count(model.head),
        gflops=_gflops(model, kind),
        weights=_count(model),
        learned=sum(weight.numel() for weight in model.parameters() if weight.requires_grad),
        saved=memory.peak / IMAGES,
    )


def memory_gb(trial: TrialStep, values: dict[str, Any]) -> float:
    """Estimate what training takes on one device in GB: weights, gradients, states, averages and saved tensors.

    Without what kernels need while they run, and what the allocator leaves over.
    """
    states = OPTIMIZER_STATES.get(values['optimiser'], 2)
    averages = trial.parameters if values['ema'] is not None else 0
    numbers = trial.weights + (1 + states) * trial.learned + averages
    return (4 * numbers + values['batch'] * trial.saved) / 1e9


def _check_gradients(model: nn.Module, kind: Kind) -> None:
    """Refuse a parameter that learned nothing, unless it belongs to a policy that was not drawn."""
    drawn = kind.model['mixer']['probs'].index(1.0) if kind.policies > 1 else None
    lost = [name for name, weight in model.named_parameters() if weight.requires_grad and weight.grad is None]
    if drawn is not None:
        lost = [name for name in lost if name.startswith(f'mixer.mixers.{drawn}.') or not name.startswith('mixer.')]
    if lost:
        raise ValueError(f'no gradient reaches {", ".join(lost[:3])}, and {len(lost)} parameters in all')


_GFLOPS: dict[str, float] = {}  # by network and size: mixers and losses do not count


def _gflops(model: nn.Module, kind: Kind) -> float:
    key = json.dumps([kind.model['backbone'], kind.model['head'].get('num_classes'), kind.size], sort_keys=True)
    if key not in _GFLOPS:
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            model.eval()(torch.empty(1, 3, kind.size, kind.size, device='meta'), mode='tensor')
        _GFLOPS[key] = counter.get_total_flops() / 1e9
    return _GFLOPS[key]


def _count(module: Any) -> int:
    return sum(weight.numel() for weight in module.parameters())


def _without_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_numbers(inner) for key, inner in value.items() if key not in NUMBERS}
    return [_without_numbers(inner) for inner in value] if isinstance(value, list | tuple) else value


ANY_NUMBER = 1000  # of unlabelled images


def make_batch(size: int, side: int, streams: StreamShape | None) -> dict[str, Any]:
    """Make the arguments of a training step: images with labels, or a labelled and an unlabelled stream."""

    def images(count: int) -> torch.Tensor:
        return torch.empty(count, 3, side, side)

    def numbers(count: int) -> torch.Tensor:
        return torch.empty(count, dtype=torch.long)

    if streams is None:
        return {'inputs': images(size), 'labels': numbers(size)}
    views, others = streams.labelled_views, streams.unlabelled_views
    batch: dict[str, Any] = {'labelled': {'inputs': tuple(images(size) for _ in range(views)), 'labels': numbers(size)}}
    if others:
        count = math.ceil(size * streams.ratio)
        batch['unlabelled'] = {'inputs': tuple(images(count) for _ in range(others)), 'index': numbers(count)}
    return batch


def set_up_streams(model: Any, streams: StreamShape) -> None:
    """Tell a semi-supervised model about its streams, as a training does before it starts: one label for each class."""
    facts = StreamFacts(
        class_counts=torch.ones(model.head.num_classes),
        unlabelled=ANY_NUMBER if streams.unlabelled_views else 0,
        labelled_views=streams.labelled_views,
        unlabelled_views=streams.unlabelled_views,
        ratio=streams.ratio,
        can_be_studied=streams.studied,
    )
    model.setup(facts)
