"""Loading, on one core: JPEGs against torchvision's Pillow pipeline, and batches of small images against Pillow's."""

import itertools
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from openmix_dm.analysis.benchmarks.timing import Timing, compare
from openmix_dm.datasets import (
    BatchEach,
    BatchFixMatchRandAugment,
    BatchRandAugment,
    BatchRandomCrop,
    BatchRandomFlip,
    HuggingFaceImages,
    ImageFolder,
    ResizeShortEdge,
    SampleIndex,
)
from openmix_dm.datasets.prepare.pack import pack_split
from openmix_dm.datasets.prepare.pack_encoding import Packing
from openmix_dm.datasets.reading.decode import BACKENDS, check_backend
from openmix_dm.errors import ConfigError
from openmix_dm.visualization.sample_images import sample_photographs

LIMIT, BATCH_LIMIT = 'torchvision: Pillow to bytes', 'torchvision: Pillow, one by one'
BATCH = 'batch in tensors'
PACKED = 'packed, short edge 256 (other pixels)'
# 1.8 times as fast with the same pixels, and three times where images were resized once before
TARGETS = {'cv2': 0.555, 'simplejpeg': 0.555, PACKED: 0.333}
FIXMATCH, TABLE_10 = 'BatchFixMatchRandAugment', 'BatchRandAugment, as in Table 10'
BATCH_TARGETS_MS = {BATCH: 1.5, FIXMATCH: 6.0, TABLE_10: 6.0}
PICTURES, WIDTH, HEIGHT, QUALITY = 32, 500, 375, 90  # as large as ImageNet's usually are


def measure_files(rounds: int) -> list[Timing]:
    """Time 32 JPEGs of 500 x 375 to 224 pixels, cropped and flipped at random, one after another as a worker does."""
    with jpegs() as folder:
        functions: dict[str, Callable[[], object]] = {LIMIT: torchvisions(folder)}
        for decoder in BACKENDS:
            try:
                functions[check_backend(decoder)] = ours(folder, decoder)
            except ConfigError:
                continue  # an optional package
        with suppress(ConfigError):  # without the package `datasets`
            functions[PACKED] = packed(folder)
        return compare(LIMIT, functions, rounds, seconds_each=8.0)


def measure_batch(rounds: int) -> list[Timing]:
    """Time the augmentation of 100 images of 32 pixels: pad by 4, crop, flip; and RandAugment, beside Pillow's."""
    from torchvision import transforms as tv

    generator = torch.Generator().manual_seed(0)
    images = torch.randint(256, (100, 3, 32, 32), dtype=torch.uint8, generator=generator)
    crop, flip = BatchRandomCrop(padding=4), BatchRandomFlip()
    pictures = [tv.functional.to_pil_image(image) for image in images]
    chain = tv.Compose([tv.RandomCrop(32, 4, padding_mode='reflect'), tv.RandomHorizontalFlip(), tv.PILToTensor()])
    policy = 'rand-m7-n2-mstd0.5'
    strong: dict[str, Callable[[torch.Tensor, torch.Generator], torch.Tensor]] = {
        FIXMATCH: BatchFixMatchRandAugment(),
        'FixMatchRandAugment, Pillow, one by one': BatchEach([{'type': 'FixMatchRandAugment'}]),
        TABLE_10: BatchRandAugment(policy),
        'RandAugment, Pillow, one by one': BatchEach([{'type': 'RandAugment', 'policy': policy}]),
    }
    functions: dict[str, Callable[[], object]] = {
        BATCH_LIMIT: lambda: torch.stack([chain(picture) for picture in pictures]),
        BATCH: lambda: flip(crop(images, generator), generator),
        **{name: partial(transform, images, generator) for name, transform in strong.items()},
    }
    return compare(BATCH_LIMIT, functions, rounds)


@contextmanager
def jpegs() -> Iterator[Path]:
    """Make a folder of JPEGs out of parts of real photographs, and remove it afterwards."""
    import cv2

    cv2.setNumThreads(0)
    draw = np.random.RandomState(0)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / 'train' / 'photographs'
        place.mkdir(parents=True)
        for number, image in zip(range(PICTURES), itertools.cycle(sample_photographs()), strict=False):
            large = ResizeShortEdge(HEIGHT + 60 + 4 * number)(image)
            top, left = (draw.randint(0, room + 1) for room in (large.shape[0] - HEIGHT, large.shape[1] - WIDTH))
            part = large[top : top + HEIGHT, left : left + WIDTH, ::-1]
            cv2.imwrite(str(place / f'{number:02d}.jpg'), part, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
        yield Path(name)


STEPS: list[dict[str, Any]] = [{'type': 'RandomResizedCrop', 'size': 224}, {'type': 'RandomFlip'}]


def ours(folder: Path, decoder: str) -> Callable[[], object]:
    """Return the loading of all pictures as the configs do it: to bytes, which the device normalises."""
    return loading(ImageFolder(str(folder), 'train', STEPS, imdecode_backend=decoder))


def packed(folder: Path) -> Callable[[], object]:
    """Return the loading of the pictures as `prepare_data.py pack --short-edge 256` keeps them."""
    pack_split(ImageFolder(str(folder), 'train'), 'train', folder / 'packed', Packing(short_edge=256))
    return loading(HuggingFaceImages(str(folder / 'packed'), 'train', transforms=STEPS))


def loading(dataset: Any) -> Callable[[], object]:
    """Return the loading of all pictures of a data set, each time with other draws."""
    keys = itertools.count()
    return lambda: [dataset[SampleIndex(number, next(keys))] for number in range(PICTURES)]


def torchvisions(folder: Path) -> Callable[[], object]:
    """Return the loading of all pictures as torchvision's reference does it, to bytes: what ours gives, too."""
    from torchvision import datasets
    from torchvision import transforms as tv

    steps = [tv.RandomResizedCrop(224), tv.RandomHorizontalFlip(), tv.PILToTensor()]
    dataset = datasets.ImageFolder(str(folder / 'train'), tv.Compose(steps))
    return lambda: [dataset[number] for number in range(PICTURES)]
