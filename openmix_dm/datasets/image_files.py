"""Images that are decoded from their files one by one."""

import os
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
from openmix_dm.datasets.samplers.sample_index import SampleIndex, index_of, key_of, seed_draws
from openmix_dm.datasets.transforms.image import to_tensor
from openmix_dm.errors import DataError
from openmix_dm.registry import TRANSFORMS
from openmix_dm.utils.checks import positive

SKIP_LIMIT = 100


class ImageFiles(Dataset):
    """Serve images that are decoded from their files one by one.

    Args:
        files: where the images are.
        paths: of the images below its root, as one array of bytes (N,) or as strings.
        labels: of the images, (N,).
        classes: names of the classes, in the order of the labels.
        transforms: configs of transforms of one RGB uint8 array (H, W, 3), applied in order. The last may give several
            crops, (crops, H, W, 3). Default: ().
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
        self.files, self.labels, self.classes = files, labels, classes
        self.folder, self.paths = files.folder, encode_paths(paths)
        self.transforms = [TRANSFORMS.build(transform) for transform in transforms]
        self.imdecode_backend, self.max_pixels = (
            check_backend(imdecode_backend),
            int(positive('max_pixels', max_pixels)),
        )
        self.damaged = Damaged(on_error, skip_limit, len(paths))

    @property
    def num_classes(self) -> int:
        """How many classes there are."""
        return len(self.classes)

    def full_init(self) -> None:
        """Do nothing: all is there. mmengine's ConcatDataset and its other wrappers ask for it."""

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, sample: SampleIndex | int) -> dict[str, Tensor]:
        key = key_of(sample)
        index, image = self._read(index_of(sample), may_skip=key is not None)
        pixels = self.transform(image, key)
        # not torch.tensor, which takes as long as a tenth of the decoding
        return {'inputs': pixels, 'labels': torch.from_numpy(np.array(self.labels[index]))}

    def decode(self, index: int) -> np.ndarray:
        """Return an image as it is in its file, RGB uint8 (H, W, 3)."""
        return self._read(index, may_skip=False)[1]

    def transform(self, image: np.ndarray, draw_key: int | None) -> Tensor:
        """Return a decoded image as this data set serves it; what its transforms draw is a function of the key."""
        if draw_key is not None:
            seed_draws(draw_key)
        for transform in self.transforms:
            image = transform(image)
        return to_tensor(image)

    def path(self, index: int) -> str:
        """Return the whole name of the file of an image."""
        return self.files.path(os.fsdecode(self.paths[index]))

    def decode_row(self, index: int) -> np.ndarray:
        """Decode the image at a place."""
        name = os.fsdecode(self.paths[index])
        content = self.files.read(name)
        return decode_image(content, self.files.path(name), self.imdecode_backend, self.max_pixels)

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
        raise DataError(f'none of the {len(self)} images in {self.files.root} can be decoded')
