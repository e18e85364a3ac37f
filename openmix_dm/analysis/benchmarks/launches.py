"""What a training step asks of a GPU, counted on a pretended one: operations, waits of the host, mixed devices."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn

from openmix_dm.analysis.benchmarks.device_record import DeviceRecord
from openmix_dm.analysis.benchmarks.device_training import DeviceTraining, image_batch, pinned
from openmix_dm.analysis.benchmarks.mixed_steps import GivenSaliency, always_aligned
from openmix_dm.analysis.benchmarks.pretended_device import pretended_gpu
from openmix_dm.datasets.streams import StreamFacts
from openmix_dm.mixers import AdAutoMix, PuzzleMix
from openmix_dm.registry import BACKBONES, MIXERS, MODELS, OPTIMIZERS

CLASSES, PIXELS, BATCH, LARGE_BATCH = 1000, 224, 2, 256
PREPROCESSOR = {'type': 'Normalise', 'mean': [128.0] * 3, 'std': [64.0] * 3}
RESNET50, DEIT = 'resnet50', 'deit_small_patch16_224'
ADAMW = {'type': 'MixOptimWrapper', 'optimizer': {'type': 'AdamW', 'lr': 1e-3}, 'clip_grad': {'max_norm': 1.0}}
RESNET_MIXERS: dict[str, dict[str, Any]] = {
    'NoMix': {},
    **{name: {'alpha': 1.0} for name in ('Mixup', 'CutMix', 'FMix', 'ResizeMix', 'ManifoldMix', 'SmoothMix')},
    'GridMix': {'alpha': 1.0},
    'AttentiveMix': {'alpha': 1.0, 'teacher': {'type': 'TimmBackbone', 'name': RESNET50}},
    'SaliencyMix': {'alpha': 1.0},
    'PuzzleMix': {'alpha': 1.0},
    'AutoMix': {'alpha': 2.0},
    'SAMix': {'alpha': 2.0},
    'AdAutoMix': {},
    'AlignMixup': {},
    'SnapMix': {},
    'GuidedMixup': {},
    'GuidedMixup, gradient': {'type': 'GuidedMixup', 'saliency': 'gradient'},
    'RecursiveMix, MCE': {'type': 'RecursiveMix'},  # whose labels have no DM
}
TOKEN_MIXERS: dict[str, dict[str, Any]] = {
    'TransMix': {'mixer': {'type': 'CutMix', 'alpha': 1.0}},
    'TokenMix': {'alpha': 1.0},
    'SMMix': {},
    'MixPro': {'cell_size': 64},
}
_VIEWS, _STREAM = 3, 64  # of the unlabelled images, and how many of them there are
_DM = {'type': 'MixBranch', 'mixer': {'type': 'Mixup', 'alpha': 1.0}, 'eta': 1.0}
_SUPERVISED = {'labelled': {'type': 'Supervised'}}
STREAM_METHODS: dict[str, dict[str, Any]] = {
    'FixMatch + DM': {
        'labeler': {'type': 'Labeler'},
        'terms': {**_SUPERVISED, 'unlabelled': {'type': 'Consistency'}, 'mix': _DM},
    },
    'ReMixMatch': {
        'labeler': {
            'type': 'Labeler',
            'where': 'guess',
            'temperature': 0.5,
            'align': {'type': 'DistributionAlignment'},
        },
        'passes': {'main': {'interleave': True}},
        'terms': {
            'mixed': {'type': 'MixAll', 'mixer': {'type': 'Mixup', 'alpha': 0.75}, 'views': (1, 2, 0)},
            'anchor': {'type': 'Consistency', 'target': 'soft', 'where': 'apart'},
            'rotation': {'type': 'Rotation'},
        },
    },
    'Self-Tuning + DM': {
        'labeler': {'type': 'Labeler', 'where': 'unlabelled'},
        'passes': {'unlabelled': {}},
        'terms': {**_SUPERVISED, 'contrast': {'type': 'GroupContrast'}, 'mix': _DM},
    },
    'BSS': {'terms': {**_SUPERVISED, 'spectral': {'type': 'Spectral'}}},
}
LAMB, EMA = 'LAMB, the step alone', 'EMA, the update alone'
SALIENCY, PUZZLE = f'SaliencyMix, mixing {LARGE_BATCH} images', 'PuzzleMix, mixing without its two passes'
GUIDED = f'GuidedMixup, mixing {LARGE_BATCH} images'
TARGETS = {
    LAMB: 150,
    EMA: 20,
    SALIENCY: 300,
    PUZZLE: 600,
    GUIDED: 900,
    'AutoMix': 1600,
    'SAMix': 1600,
    'AdAutoMix': 1700,
}


@dataclass(frozen=True)
class Launches:
    """What one step asked of the device."""

    case: str
    name: str
    operations: int
    trouble: list[str]  # what makes the host wait, or mixes devices
    target: int | None = None


def measure(pixels: int | None = None) -> list[Launches]:
    """Count a training step with each mixer, and the parts that a step is made of, on images of so many pixels."""
    pixels = pixels or PIXELS
    counted = [*_steps(f'ResNet-50, {pixels} px, SGD: a step with DM(CE)', RESNET50, RESNET_MIXERS, None, pixels)]
    counted += _steps('DeiT-S, 224 px, AdamW, clipped: a step with DM(CE)', DEIT, TOKEN_MIXERS, ADAMW, 224)
    counted += _stream_steps('WRN-28-2, 32 px, SGD: a semi-supervised step')
    counted += _parts(pixels)
    return counted


def count(prepare: Callable[[], Callable[[], object]]) -> DeviceRecord:
    """Return the record of the second call of what `prepare` returns: the first one makes state that stays."""
    with pretended_gpu() as record:
        work = prepare()
        work()
        record.clear()
        record.next_step()
        work()
    return record


def _row(case: str, name: str, record: DeviceRecord) -> Launches:
    return Launches(case, name, record.launched, record.trouble, TARGETS.get(name))


def _steps(
    case: str, backbone: str, mixers: dict[str, dict[str, Any]], optim_wrapper: dict[str, Any] | None, pixels: int
) -> Iterator[Launches]:
    for name, settings in mixers.items():
        torch.manual_seed(0)
        model = classifier(backbone, {'type': name, **settings})
        batch = image_batch(BATCH, pixels, CLASSES)

        def prepare(model: Any = model, batch: Any = batch) -> Callable[[], object]:
            training, ready = DeviceTraining(model, optim_wrapper), pinned(batch)
            return lambda: training.step(ready)

        yield _row(case, name, count(prepare))


def classifier(backbone: str, mixer: dict[str, Any]) -> Any:
    """Return a classifier for ImageNet with DM(CE), or with MCE where labels are of many classes.

    Mixers with several ways take the longest: PuzzleMix its finest grid, AlignMixup that by features, AdAutoMix the
    step against the classifier.
    """
    of_many = 'rows_b' in MIXERS.get(mixer['type']).label_fields
    loss = {'type': 'MixedCE'} if of_many else {'type': 'DecoupledCE', 'eta': 0.1}
    model = MODELS.build(
        {
            'type': 'MixClassifier',
            'backbone': {'type': 'TimmBackbone', 'name': backbone},
            'head': {'type': 'LinearHead', 'num_classes': CLASSES, 'loss': loss},
            'mixer': mixer,
            'data_preprocessor': PREPROCESSOR,
        }
    )
    always_aligned(model)
    return _adversarial(_finest(model))


def _stream_steps(case: str) -> Iterator[Launches]:
    for name, method in STREAM_METHODS.items():
        torch.manual_seed(0)
        model = MODELS.build(
            {
                'type': 'SemiClassifier',
                'backbone': {'type': 'WideResNet', 'depth': 28, 'widen_factor': 2},
                'head': {'type': 'LinearHead', 'num_classes': 10, 'loss': {'type': 'MixedCE'}},
                'data_preprocessor': PREPROCESSOR,
                **method,
            }
        )
        model.setup(StreamFacts(torch.full((10,), 4), _STREAM, labelled_views=2, unlabelled_views=_VIEWS))

        def prepare(model: Any = model) -> Callable[[], object]:
            training, ready = DeviceTraining(model), pinned(stream_batch(4, 32, 10))
            return lambda: training.step(ready)

        yield _row(case, name, count(prepare))


def stream_batch(size: int, pixels: int, classes: int) -> dict[str, Any]:
    """Draw a batch of both streams as a loader gives it."""
    labelled, other, *further = (image_batch(size, pixels, classes) for _ in range(2 + _VIEWS))
    return {
        'labelled': {'inputs': (labelled['inputs'], other['inputs']), 'labels': labelled['labels']},
        'unlabelled': {'inputs': tuple(view['inputs'] for view in further), 'index': torch.randperm(_STREAM)[:size]},
        'truth': further[0]['labels'],
        'progress': 0.5,
    }


def _finest(whole: nn.Module) -> Any:
    for module in whole.modules():
        if isinstance(module, PuzzleMix):
            module.grids = partial(_last, module.grids)  # type: ignore[method-assign]
    return whole


def _adversarial(whole: Any) -> Any:
    """Let the second step, which is counted, be one against the classifier."""
    for module in whole.modules():
        if isinstance(module, AdAutoMix):
            module.progress.step = 1
    return whole


def _last(grids: Callable[[], list[int]]) -> list[int]:
    return grids()[-1:]


def _parts(pixels: int) -> Iterator[Launches]:
    case = 'parts of a step'
    network = BACKBONES.build({'type': 'TimmBackbone', 'name': RESNET50})
    yield _row(case, LAMB, count(lambda: optimiser_step(network)))
    yield _row(case, EMA, count(lambda: averaging(network)))
    saliency = MIXERS.build({'type': 'SaliencyMix', 'alpha': 1.0})
    yield _row(case, SALIENCY, count(lambda: mixing(saliency, LARGE_BATCH, 64)))
    yield _row(case, GUIDED, count(lambda: mixing(MIXERS.build({'type': 'GuidedMixup'}), LARGE_BATCH, 64)))
    puzzle = _finest(MIXERS.build({'type': 'PuzzleMix', 'alpha': 1.0}))
    yield _row(case, PUZZLE, count(lambda: mixing(puzzle, BATCH, pixels)))


def optimiser_step(network: nn.Module) -> Callable[[], object]:
    """Return a step of LAMB with the groups of the RSB recipe: norms and biases do not decay."""
    parameters = list(network.to('cuda').parameters())
    groups = [
        {'params': [parameter for parameter in parameters if (parameter.dim() > 1) == decays], 'weight_decay': decay}
        for decays, decay in ((True, 0.02), (False, 0.0))
    ]
    optimizer = OPTIMIZERS.build({'type': 'Lamb', 'params': groups})
    optimizer.found_inf = parameters[0].new_zeros(())  # as the guard of finite losses gives it
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    return optimizer.step


def averaging(network: nn.Module) -> Callable[[], object]:
    """Return an update of averaged weights."""
    from openmix_dm.engine.hooks.ema import averaged_copy, update

    model = network.to('cuda')
    average = averaged_copy(model)
    return lambda: update(average, model, 0.999, average_buffers=False)


def mixing(mixer: Any, batch: int, pixels: int) -> Callable[[], object]:
    """Return the mixing of a batch that is on the device already, with a saliency that costs nothing."""
    data = {name: value.to('cuda') for name, value in image_batch(batch, pixels, CLASSES).items()}
    images = data['inputs'].float() / 255
    probe = GivenSaliency(images)
    return lambda: mixer(images, data['labels'], probe)
