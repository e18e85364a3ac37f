"""The mixers against one torch.lerp of the batch with its partner, beside timm's and torchvision's."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn

from openmix_dm.analysis.benchmarks.timing import Timing, compare
from openmix_dm.mixers import Mixer, SMMix
from openmix_dm.mixers.automix.learned import LearnedMixer
from openmix_dm.registry import MIXERS
from openmix_dm.structures import Outputs, Want
from openmix_dm.utils.signatures import arguments_of

LIMIT = 'torch.lerp (limit)'
SHAPES = ((100, 3, 32, 32), (100, 3, 64, 64), (64, 3, 224, 224))
CLASSES = 1000
PER_SAMPLE = ', lam per sample'
LEARNED = ('AutoMix', 'SAMix', 'AdAutoMix')
# than any limit of a blend: a network, a saliency, a resize, masks
LONGER = ('AttentiveMix', 'SaliencyMix', 'ResizeMix', 'SnapMix', 'TokenMix', 'PuzzleMix', 'SMMix', 'MixPro', *LEARNED)
LEFT_OUT = ('NoMix', 'RandomMixer', 'TransMix')  # nothing, and what they wrap

MEASURED_WITH: dict[str, dict[str, Any]] = {
    'AttentiveMix': {'teacher': {'type': 'ThinResNet', 'depth': 8}, 'input_size': 32},
    'ManifoldMix': {'stages': ['input']},
    'RecursiveMix': {'alpha': 0.5},
    'MixPro': {'cell_size': 8},
}


def measure(rounds: int, shape: tuple[int, int, int, int]) -> list[Timing]:
    """Time each mixer on one batch."""
    torch.manual_seed(0)
    images, labels = torch.randn(shape), torch.randint(CLASSES, shape[:1])
    partners = images.roll(1, 0)
    functions: dict[str, Callable[[], object]] = {LIMIT: lambda: torch.lerp(images, partners, 0.3)}
    attention = GivenAttention(shape)
    for name, mixer in ours().items():
        if isinstance(mixer, LearnedMixer):
            with_given_features(mixer, shape)
        after_a_batch(mixer, images, labels)
        probe = attention if isinstance(mixer, SMMix) else None  # the others do without a network
        functions[name] = lambda mixer=mixer, probe=probe: mixer(images, labels, probe)  # type: ignore[misc]
    return compare(LIMIT, {**functions, **timms(images, labels), **torchvisions(images, labels)}, rounds)


def ours() -> dict[str, Mixer]:
    """Return our mixers by how they choose partners and lam, as far as they offer a choice."""
    MIXERS.import_from_location()
    names = [name for name in sorted(MIXERS.module_dict) if name not in LEFT_OUT]
    return {label: MIXERS.build(config) for name in names for label, config in _ways_of(name)}


def _ways_of(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Go through the ways of a mixer, with their labels; where it offers no choice, they are the same."""
    known = arguments_of(MIXERS.get(name)).known
    for partner, per_sample in product(('shift', 'permutation'), (False, True)):
        way = {'alpha': 1.0, 'partner': partner, 'per_sample': per_sample}
        offered = {key: value for key, value in way.items() if key in known}
        label = f'{name}, {partner}' if 'partner' in offered else name
        config = {'type': name, **offered, **MEASURED_WITH.get(name, {})}
        yield f'{label}{PER_SAMPLE if offered.get("per_sample") else ""}', config


def after_a_batch(mixer: Mixer, images: Tensor, labels: Tensor) -> None:
    """Let a mixer that remembers batches see one, so that it has something to mix with."""
    if type(mixer).history is not Mixer.history:
        mixer(images, labels).finish(Outputs(torch.zeros(len(images), CLASSES)))


def with_given_features(mixer: LearnedMixer, shape: tuple[int, int, int, int]) -> None:
    """Let a learned mixer draw masks of features at no cost, and learn nothing: its whole step is mixed_steps.py's."""
    model = nn.Module()
    model.backbone = GivenFeatures(shape)
    model.head = nn.Identity()
    mixer.attach(model)
    mixer.eval()


class GivenFeatures(nn.Module):
    """Answer with features of the third stage of a ResNet-18: a quarter of the side, or a sixteenth from 224 px on."""

    channels = 256

    def __init__(self, shape: tuple[int, int, int, int]) -> None:
        super().__init__()
        batch, _, *self.example_size = shape
        stride = 4 if shape[-1] < 224 else 16
        maps = torch.randn(batch, self.channels, *(side // stride for side in self.example_size))
        self.maps = nn.Parameter(maps, requires_grad=False)

    def stage(self, name: str) -> nn.Module:
        """Know every stage."""
        return self

    def feature_map(self, images: Tensor, stage: str) -> Tensor:
        """Return what was given."""
        return self.maps[: len(images)]


class GivenAttention:
    """Answer a mixer at no cost: attention on patches of a sixteenth of the side, as a ViT has them at 224 px."""

    def __init__(self, shape: tuple[int, int, int, int]) -> None:
        self._outputs = Outputs(torch.randn(shape[0], CLASSES), received=torch.rand(shape[0], 16, 16))

    def outputs(self, inputs: Tensor, wants: tuple[Want, ...] = ()) -> Outputs:
        """Return what was given."""
        return self._outputs


def target_of(name: str, size: int) -> float | None:
    """Return the ratio that we promise for a mixer of ours at an image size, None if none."""
    kind, _, way = name.partition(', ')
    if way.endswith(PER_SAMPLE) or kind in LONGER:
        return None  # promised as ratios to the per-batch form, or dominated by something else than the blend
    if way == 'permutation':
        return 2.0
    if kind == 'FMix':
        return {64: 1.7, 224: 1.2}.get(size)
    return {'shift': 1.6 if size < 64 else 1.1}.get(way)


def per_sample_targets(timings: list[Timing]) -> dict[str, float]:
    """Return what is promised for a lam of each sample: 1.1 of the form with one lam, except where masks are exempt."""
    ratios = {timing.name: timing.ratio for timing in timings}
    return {
        name: round(1.1 * ratios[name.removesuffix(PER_SAMPLE)], 2)
        for name in ratios
        if name.endswith(PER_SAMPLE) and not name.startswith(('FMix', 'SaliencyMix'))
    }


def timms(images: Tensor, labels: Tensor) -> dict[str, Callable[[], object]]:
    """Return timm's mixers; they write into the batch, so each call gets the same memory again."""
    from timm.data import Mixup as TimmMixup

    batch = images.clone()

    def runner(mixer: TimmMixup) -> Callable[[], object]:
        return lambda: mixer(batch, labels)

    return {
        f'timm {name}, {mode}': runner(TimmMixup(**alphas, mode=mode, num_classes=CLASSES))
        for mode in ('batch', 'pair', 'elem')
        for name, alphas in (
            ('mixup', {'mixup_alpha': 1.0, 'cutmix_alpha': 0.0}),
            ('cutmix', {'mixup_alpha': 0.0, 'cutmix_alpha': 1.0}),
        )
    }


def torchvisions(images: Tensor, labels: Tensor) -> dict[str, Callable[[], object]]:
    """Return torchvision's mixers."""
    from torchvision.transforms import v2

    mixup, cutmix = v2.MixUp(alpha=1.0, num_classes=CLASSES), v2.CutMix(alpha=1.0, num_classes=CLASSES)
    return {
        'torchvision v2.MixUp': lambda: mixup(images, labels),
        'torchvision v2.CutMix': lambda: cutmix(images, labels),
    }
