"""Images that are decoded one by one, from files or from wherever else their bytes are."""

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from openmix_dm.datasets.reading.damaged import Damaged
from openmix_dm.datasets.reading.decode import MAX_PIXELS, check_backend, decode_image
from openmix_dm.datasets.reading.file_source import FileSource
from openmix_dm.datasets.reading.index_cache import encode_paths
from openmix_dm.datasets.samplers.sample_index import BatchDraws, SampleIndex, index_of, key_of, seed_draws
from openmix_dm.datasets.tensor_images import transform_batch
from openmix_dm.datasets.transforms.image import to_tensor
from openmix_dm.errors import ConfigError, DataError
from openmix_dm.registry import TRANSFORMS
from openmix_dm.utils.checks import positive

SKIP_LIMIT = 100
MOST_CLASSES = 10**7
Batch = dict[str, Tensor]


class DecodedImages(Dataset, ABC):
    """Serve images that are decoded one by one; `read_bytes` of a subclass says where their bytes come from.

    Transforms are all of one image, or all of whole batches. For the latter the decoded images of a batch, which must
    have one size, are stacked first, so that small images may be served as `TensorImages` serves them.

    Args:
        where: what holds the images, for messages.
        labels: of the images, (N,).
        classes: names of the classes, in the order of the labels.
        transforms: configs of transforms of one RGB uint8 array (H, W, 3), applied in order. The last may give several
            crops, (crops, H, W, 3). Or configs of batch transforms. Default: ().
        imdecode_backend: 'cv2', 'pillow', 'turbojpeg' or 'simplejpeg'. The last two need packages of their own, refuse
            JPEGs that are damaged inside, and leave what is no JPEG to cv2. Default: 'cv2'.
        max_pixels: an image whose header promises more is refused. Default: 178956970.
        on_error: 'raise', or 'skip' to take the next image for one that cannot be decoded. Only training skips: a test
            over other images is another test. Default: 'raise'.
        skip_limit: number of different images that may be skipped; one more is an error. Each rank counts for itself.
            Default: 100.
    """

    metainfo: dict[str, Any] = {}  # mmengine asks for it
    builds = {'transforms': TRANSFORMS}
    takes_samples = True  # asked by SampleIndex, with the key of its draws

    def __init__(
        self,
        where: str,
        labels: np.ndarray,
        classes: list[str],
        transforms: Sequence[dict[str, Any]] = (),
        imdecode_backend: str = 'cv2',
        max_pixels: int = MAX_PIXELS,
        on_error: str = 'raise',
        skip_limit: int = SKIP_LIMIT,
    ) -> None:
        self.where, self.labels, self.classes = where, labels, classes
        self.transforms = [TRANSFORMS.build(transform) for transform in transforms]
        self.imdecode_backend = check_backend(imdecode_backend)
        self.max_pixels = int(positive('max_pixels', max_pixels))
        self.damaged = Damaged(on_error, skip_limit, len(labels))

    @property
    def num_classes(self) -> int:
        """How many classes there are."""
        return len(self.classes)

    @property
    def transforms(self) -> list[Any]:
        """What is done to the images, in order."""
        return self._transforms

    @transforms.setter
    def transforms(self, transforms: list[Any]) -> None:
        self._transforms, self.takes_batches = transforms, take_batches(transforms)

    @abstractmethod
    def read_bytes(self, index: int) -> tuple[bytes, str]:
        """Return the encoded image, and what it is called in messages."""

    def file_name(self, index: int) -> str:
        """Return what an image is called within the data set; '' if it has no name."""
        return ''

    def full_init(self) -> None:
        """Do nothing: all is there. mmengine's ConcatDataset and its other wrappers ask for it."""

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, sample: SampleIndex | int) -> Batch:
        if self.takes_batches:
            return {name: values[0] for name, values in self._whole_batch([sample]).items()}
        key = key_of(sample)
        index, image = self._read(index_of(sample), may_skip=key is not None)
        pixels = self.transform(image, key)
        # not torch.tensor, which takes as long as a tenth of the decoding
        return {'inputs': pixels, 'labels': torch.from_numpy(np.array(self.labels[index]))}

    def __getitems__(self, samples: Sequence[SampleIndex | int]) -> Batch:
        """Return a whole batch; torch's loader calls this instead of __getitem__ where it exists."""
        if self.takes_batches:
            return self._whole_batch(samples)
        items = [self[sample] for sample in samples]
        first = items[0]['inputs'].shape
        for sample, item in zip(samples, items, strict=True):
            if item['inputs'].shape != first:
                self._refuse_sizes([(index_of(samples[0]), first), (index_of(sample), item['inputs'].shape)])
        return {name: torch.stack([item[name] for item in items]) for name in items[0]}

    def _refuse_sizes(self, found: Sequence[tuple[int, Sequence[int]]]) -> None:
        sizes = [f'{self.read_bytes(index)[1]} ({shape[-1]} x {shape[-2]} pixels)' for index, shape in found]
        raise DataError(
            f'the images of a batch have different sizes: {" and ".join(sizes)}; end the transforms of the data set '
            "with one that gives all of them one size: dict(type='RandomResizedCrop', size=224) for training, "
            "dict(type='ResizeShortEdge', size=256) and dict(type='CenterCrop', size=224) for tests"
        )

    def decode(self, index: int) -> np.ndarray:
        """Return an image as it is stored, RGB uint8 (H, W, 3)."""
        return self._read(index, may_skip=False)[1]

    def transform(self, image: np.ndarray, draw_key: int | None) -> Tensor:
        """Return a decoded image as this data set serves it; what its transforms draw is a function of the key."""
        if draw_key is not None:
            seed_draws(draw_key)
        for transform in self.transforms:
            image = transform(image)
        return to_tensor(image)

    def decode_row(self, index: int) -> np.ndarray:
        """Decode the image at a place."""
        content, label = self.read_bytes(index)
        return decode_image(content, label, self.imdecode_backend, self.max_pixels)

    def _whole_batch(self, samples: Sequence[SampleIndex | int]) -> Batch:
        keys = [key for sample in samples if (key := key_of(sample)) is not None]
        read = [self._read(index_of(sample), may_skip=bool(keys)) for sample in samples]
        first, shape = read[0][0], read[0][1].shape
        for index, image in read:
            if image.shape != shape:
                self._refuse_sizes([(first, shape[:2]), (index, image.shape[:2])])
        images = torch.stack([to_tensor(image) for _, image in read])
        images = transform_batch(self.transforms, images, BatchDraws(keys) if keys else None)
        return {'inputs': images, 'labels': torch.from_numpy(self.labels[[index for index, _ in read]])}

    def _read(self, index: int, may_skip: bool) -> tuple[int, np.ndarray]:
        """Decode an image, or the first good one after it, the same in each run."""
        for candidate in range(index, index + len(self)):
            place = candidate % len(self)
            try:
                return place, self.decode_row(place)
            except DataError as error:
                if not may_skip:
                    raise
                self.damaged.note(place, error)
        raise DataError(f'none of the {len(self)} images in {self.where} can be decoded')


def numbered_classes(count: int, where: str) -> list[str]:
    """Return names for classes that have none; refuse more than any head has, as one damaged label makes them."""
    if count > MOST_CLASSES:
        raise DataError(f'{where}: the label {count - 1} makes {count:,} classes, expected at most {MOST_CLASSES:,}')
    return [str(label) for label in range(count)]


def take_batches(transforms: Sequence[Any]) -> bool:
    """Say whether transforms are of whole batches; both kinds in one list are refused."""
    kinds = {type(each).__name__: getattr(each, 'takes_batches', False) for each in transforms}
    batch, single = ([name for name, kind in kinds.items() if kind is wanted] for wanted in (True, False))
    if batch and single:
        raise ConfigError(
            f'transforms has some of whole batches ({", ".join(batch)}) and some of one image ({", ".join(single)}); '
            "put the latter into one of batches: dict(type='BatchEach', transforms=[...])"
        )
    return bool(batch)


class ImageFiles(DecodedImages):
    """Serve images that are decoded from their files one by one.

    Args:
        files: where the images are.
        paths: of the images below its root, as one array of bytes (N,) or as strings.
        labels: of the images, (N,).
        classes: names of the classes, in the order of the labels.
        transforms: configs of transforms of one RGB uint8 array (H, W, 3), applied in order. The last may give several
            crops, (crops, H, W, 3). Or configs of batch transforms. Default: ().
        imdecode_backend: 'cv2', 'pillow', 'turbojpeg' or 'simplejpeg'. The last two need packages of their own, refuse
            JPEGs that are damaged inside, and leave what is no JPEG to cv2. Default: 'cv2'.
        max_pixels: an image whose header promises more is refused. Default: 178956970.
        on_error: 'raise', or 'skip' to take the next image for one that cannot be decoded. Only training skips: a test
            over other images is another test. Default: 'raise'.
        skip_limit: number of different images that may be skipped; one more is an error. Each rank counts for itself.
            Default: 100.
    """

    def __init__(
        self,
        files: FileSource,
        paths: np.ndarray | Sequence[str],
        labels: np.ndarray,
        classes: list[str],
        transforms: Sequence[dict[str, Any]] = (),
        imdecode_backend: str = 'cv2',
        max_pixels: int = MAX_PIXELS,
        on_error: str = 'raise',
        skip_limit: int = SKIP_LIMIT,
    ) -> None:
        reading = (imdecode_backend, max_pixels, on_error, skip_limit)
        super().__init__(files.root, labels, classes, transforms, *reading)
        self.files, self.folder, self.paths = files, files.folder, encode_paths(paths)

    def read_bytes(self, index: int) -> tuple[bytes, str]:
        """Return the content of an image's file, and its path."""
        name = self.file_name(index)
        return self.files.read(name), self.files.path(name)

    def file_name(self, index: int) -> str:
        """Return the path of an image below the root."""
        return os.fsdecode(self.paths[index])

    def path(self, index: int) -> str:
        """Return the whole name of the file of an image."""
        return self.files.path(self.file_name(index))
