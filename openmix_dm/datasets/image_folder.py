"""Images in folders, one folder a class, as ImageNet is unpacked."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from openmix_dm.datasets.picks import Pick, index_of, seed_draws
from openmix_dm.errors import DataError
from openmix_dm.registry import DATASETS, TRANSFORMS

DATA_VARIABLE = 'OPENMIX_DM_DATA'
EXTENSIONS = ('.jpg', '.jpeg', '.png', '.bmp', '.webp')


@DATASETS.register_module()
class ImageFolder(Dataset):
    """Serve root/split/<class>/<image>; classes are numbered by the sorted names of their folders.

    root: as it is if absolute, else below the folder that the environment variable OPENMIX_DM_DATA names (./data if it
    is not set). transforms: configs of transforms of one RGB uint8 array (H, W, 3); the last may give several crops,
    (crops, H, W, 3).
    """

    name = 'this data set'
    metainfo: dict[str, Any] = {}  # mmengine asks for it

    def __init__(self, root: str, split: str, transforms: Sequence[dict[str, Any]] = ()) -> None:
        self.folder = resolve_root(root) / split
        self.classes = self._list_classes()
        # Paths as one array of bytes: a million Python strings would be copied into every worker, page by page.
        paths, self.labels = self._list_images()
        self.paths = np.array(paths, dtype=np.bytes_)
        self.transforms = [TRANSFORMS.build(transform) for transform in transforms]

    @property
    def num_classes(self) -> int:
        """How many folders there are."""
        return len(self.classes)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, pick: Pick | int) -> dict[str, Tensor]:
        if isinstance(pick, Pick):
            seed_draws(pick.key)
        index = index_of(pick)
        image = read_image(self.folder / self.paths[index].decode())
        for transform in self.transforms:
            image = transform(image)
        pixels = torch.from_numpy(np.ascontiguousarray(np.moveaxis(image, -1, -3)))
        return {'inputs': pixels, 'labels': torch.tensor(int(self.labels[index]))}

    def _list_classes(self) -> list[str]:
        names = sorted(entry.name for entry in self.folder.iterdir() if entry.is_dir()) if self.folder.is_dir() else []
        if not names:
            raise DataError(f'{self.folder} has no folders of images; {self.how_to_prepare()}')
        return names

    def _list_images(self) -> tuple[list[str], np.ndarray]:
        paths, labels = [], []
        for label, name in enumerate(self.classes):
            files = sorted(entry.name for entry in os.scandir(self.folder / name))
            images = [f'{name}/{file}' for file in files if file.lower().endswith(EXTENSIONS)]
            paths += images
            labels += [label] * len(images)
        if not paths:
            raise DataError(f'the folders in {self.folder} hold no images ({", ".join(EXTENSIONS)})')
        return paths, np.array(labels, dtype=np.int64)

    def how_to_prepare(self) -> str:
        """Say what to do when the data is not there."""
        return (
            f'expected <class>/<image> below it. Point root (now {self.folder.parent}) at {self.name}, '
            f'or set {DATA_VARIABLE} to the folder that holds all data sets'
        )


def resolve_root(root: str) -> Path:
    """Return root if it is absolute, else root below the folder of all data sets."""
    return (Path(os.environ.get(DATA_VARIABLE, 'data')).expanduser() / Path(root).expanduser()).absolute()


def read_image(path: Path) -> np.ndarray:
    """Decode an image file to RGB, (H, W, 3) uint8."""
    import cv2  # only where images are decoded: the import takes a while

    encoded = np.fromfile(path, dtype=np.uint8)
    image = cv2.imdecode(encoded, cv2.IMREAD_COLOR_RGB) if len(encoded) else None
    if image is None:
        raise DataError(f'{path} cannot be decoded as an image ({len(encoded)} bytes)')
    return image
