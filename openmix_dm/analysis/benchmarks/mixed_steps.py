"""What each mixer adds to a training step: forward, backward and SGD of a CIFAR ResNet-18, or a small ViT, at 32 px."""

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from openmix_dm.analysis.benchmarks.timing import Timing, compare
from openmix_dm.mixers import AlignMixup
from openmix_dm.registry import MIXERS, MODELS
from openmix_dm.utils.signatures import arguments_of

VANILLA, MIXING = 'vanilla (limit)', 'PuzzleMix, mixing alone'
WHOLE: dict[str, dict[str, Any]] = {  # mixers that run networks: measured by whole steps
    'PuzzleMix': {'alpha': 1.0, 'block_num': 5, 't_size': 4},
    'AutoMix': {'alpha': 2.0, 'stage': 'stage3'},
    'SAMix': {'alpha': 2.0, 'stage': 'stage3'},
    'AdAutoMix': {'stage': 'stage3'},
    'AdAutoMix, three images': {'type': 'AdAutoMix', 'stage': 'stage3', 'images': 3},
    'AlignMixup, by features': {'type': 'AlignMixup'},
    'SnapMix': {},
    'GuidedMixup, gradient': {'type': 'GuidedMixup', 'saliency': 'gradient'},
    'RecursiveMix': {},
}
STATIC = ('Mixup', 'CutMix', 'ManifoldMix', 'FMix', 'GridMix', 'ResizeMix', 'SaliencyMix', 'SmoothMix', 'GuidedMixup')
TARGETS = {
    'PuzzleMix': 1.65, MIXING: 0.06, 'AutoMix': 3.0, 'SAMix': 3.0, 'AdAutoMix': 3.7, 'AdAutoMix, three images': 5.0,
    'AlignMixup, by features': 1.15, 'SnapMix': 1.4, 'GuidedMixup, gradient': 1.7, 'RecursiveMix': 1.05,
    **dict.fromkeys(STATIC, 1.01),
}  # fmt: skip
CIFAR_RESNET = {'type': 'CifarResNet', 'depth': 18}
TOKEN_VANILLA, COIN = 'vanilla ViT (limit)', 'SMMix, in turns with Mixup'
TOKEN_WHOLE: dict[str, dict[str, Any]] = {
    'SMMix, every batch': {'type': 'SMMix'},
    'MixPro': {'cell_size': 8},
}
TOKEN_TARGETS = {'SMMix, every batch': 1.3, COIN: 1.3, 'MixPro': 1.1}
BATCH, WHOLE_BATCH = 100, 25  # whole steps have the same ratios at a quarter of the batch, in a quarter of the time


def measure(rounds: int, batch: int = BATCH, whole_batch: int = WHOLE_BATCH, size: int = 32) -> list[Timing]:
    """Return the time of a step with each mixer relative to one without.

    A static mixer adds its mixing and nothing else, far less than steps differ by chance: its time is measured by
    itself and added to that of a vanilla step. That of PuzzleMix without its saliency is measured in the same way, over
    all grids that it draws.
    """
    torch.set_num_threads(1)
    steps = {VANILLA: training_step({'type': 'NoMix'}, whole_batch, size)}
    steps |= {name: training_step({'type': name, **settings}, whole_batch, size) for name, settings in WHOLE.items()}
    timings = compare(VANILLA, steps, rounds, seconds_each=float('inf'))
    vanilla = seconds(training_step({'type': 'NoMix'}, batch, size), rounds)
    puzzle = statistics.mean(mixing_alone(grid, batch, size, 4 * rounds) for grid in (2, 4, 8, 16) if grid <= size // 2)
    timings.append(Timing(MIXING, puzzle * 1e3, puzzle / vanilla))
    for name in STATIC:
        alpha = {'alpha': 1.0} if 'alpha' in arguments_of(MIXERS.get(name)).known else {}
        mixing = seconds(mixed_batch(MIXERS.build({'type': name, **alpha}), batch, size), 20 * rounds)
        timings.append(Timing(name, (vanilla + mixing) * 1e3, 1 + mixing / vanilla))
    return timings


def measure_tokens(rounds: int, batch: int = WHOLE_BATCH, size: int = 32) -> list[Timing]:
    """Return the time of a step of a small ViT with each mixer of transformers relative to one without.

    SMMix's authors toss a coin between it and Mixup for each batch: two steps, one by each, are halved.
    """
    vit = {'type': 'TimmBackbone', 'name': 'vit_tiny_patch16_224', 'img_size': size}
    vit['options'] = {'patch_size': 4, 'depth': 6}
    steps = {TOKEN_VANILLA: training_step({'type': 'NoMix'}, batch, size, vit)}
    steps |= {name: training_step({'type': name, **mixer}, batch, size, vit) for name, mixer in TOKEN_WHOLE.items()}
    coin = [training_step(mixer, batch, size, vit) for mixer in ({'type': 'Mixup', 'alpha': 0.8}, {'type': 'SMMix'})]
    steps[COIN] = lambda: [step() for step in coin]
    timings = compare(TOKEN_VANILLA, steps, rounds, seconds_each=float('inf'))
    return [
        replace(timing, milliseconds=timing.milliseconds / 2, ratio=timing.ratio / 2) if timing.name == COIN else timing
        for timing in timings
    ]


def training_step(
    mixer: dict[str, Any], batch: int, size: int, backbone: dict[str, Any] | None = None
) -> Callable[[], object]:
    """Return a function that trains a network, a CIFAR ResNet-18 if none is given, for one step."""
    torch.manual_seed(0)
    model = MODELS.build(
        {
            'type': 'MixClassifier',
            'backbone': backbone or CIFAR_RESNET,
            'head': {'type': 'LinearHead', 'num_classes': 100, 'loss': {'type': 'MixedCE'}},
            'mixer': mixer,
            'data_preprocessor': {'type': 'Normalise', 'mean': [128.0] * 3, 'std': [64.0] * 3},
        }
    ).train()
    always_aligned(model)
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.SGD(learning, lr=0.01, momentum=0.9, weight_decay=1e-4)
    images, labels = torch.randn(batch, 3, size, size), torch.randint(100, (batch,))

    def step() -> None:
        loss: Any = sum(model.loss(images, labels).values())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        model.mixer.after_step(model)

    return step


def always_aligned(model: nn.Module) -> None:
    """Let AlignMixup mix features in every batch; every second one, on average, is a plain Mixup of images."""
    for module in model.modules():
        if isinstance(module, AlignMixup):
            module.draw_way = lambda: (False, True)  # type: ignore[method-assign]


def mixed_batch(mixer: Any, batch: int, size: int) -> Callable[[], object]:
    """Return a function that mixes a batch, or the widest features of a ResNet-18 if a stage was drawn."""
    images, labels = torch.randn(batch, 3, size, size), torch.randint(100, (batch,))
    features = torch.randn(batch, 64, size, size)

    def mix() -> None:
        mixed = mixer(images, labels)
        if mixed.hidden is not None:
            mixed.hidden.mix(features)

    return mix


def mixing_alone(grid: int, batch: int, size: int, rounds: int) -> float:
    """Return the seconds that PuzzleMix takes on one of its grids, given the saliency."""
    mixer: Any = MIXERS.build({'type': 'PuzzleMix', **WHOLE['PuzzleMix']})
    mixer.draw_grid = lambda height, width: grid
    images, labels = torch.rand(batch, 3, size, size), torch.randint(100, (batch,))
    probe = GivenSaliency(torch.randn(batch, 3, size, size).abs() ** 3)
    return seconds(lambda: mixer(images, labels, probe), rounds)


class GivenSaliency:
    """Answer a mixer at no cost."""

    def __init__(self, saliency: torch.Tensor) -> None:
        self._saliency = saliency

    def saliency(self, inputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return what was given."""
        return self._saliency

    def denormalise(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the images themselves."""
        return inputs


def seconds(function: Callable[[], object], rounds: int) -> float:
    """Return the median CPU time of a function, after a call that does not count."""
    function()
    times = []
    for _ in range(rounds):
        start = time.thread_time()
        function()
        times.append(time.thread_time() - start)
    return statistics.median(times)
