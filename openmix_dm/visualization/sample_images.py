"""Images to look at: the digits, a folder of pictures, or crops of two photographs inside scikit-learn."""

import importlib.util
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from openmix_dm.datasets.digits import Digits
from openmix_dm.datasets.image_folder import EXTENSIONS
from openmix_dm.datasets.reading.decode import read_image
from openmix_dm.datasets.transforms.image import CenterCrop, ResizeShortEdge
from openmix_dm.errors import DataError

Images = tuple[Tensor, Tensor, list[str]]  # (N, 3, H, W) in [0, 1], labels (N,), the names of the classes


def load_images(source: str | None, count: int) -> Images:
    """Return images of `digits` (the default), of `photos` (inside scikit-learn) or of a folder."""
    if source in (None, 'digits'):
        return digits(count)
    return photographs(count) if source == 'photos' else folder(Path(str(source)), count)


def digits(count: int) -> Images:
    """Return the first test digits."""
    data = Digits('test')
    return data.images[:count].float() / 255, data.labels[:count], [str(digit) for digit in range(10)]


def folder(path: Path, count: int, size: int = 128) -> Images:
    """Return pictures of a folder and of the folders in it, which name their classes."""
    if not path.is_dir():
        raise DataError(f'there is no folder {path}; --images takes a folder of images, digits or photos')
    files = sorted(file for file in path.rglob('*') if file.suffix.lower() in EXTENSIONS)
    if not files:
        raise DataError(f'{path} holds no images ({", ".join(EXTENSIONS)})')
    files = [files[i * len(files) // count] for i in range(count)] if len(files) > count else files
    names = sorted({file.parent.name if file.parent != path else file.stem for file in files})
    labels = [names.index(file.parent.name if file.parent != path else file.stem) for file in files]
    crop, resize = CenterCrop(size), ResizeShortEdge(size)
    return _stack([crop(resize(read_image(file))) for file in files]), torch.tensor(labels), names


def photographs(count: int, size: int = 160) -> Images:
    """Return crops of scikit-learn's two sample photographs, a flower and a temple, in turn."""
    centres = ((0.45, 0.62), (0.5, 0.4))
    originals = sample_photographs()
    pictures = [_crop(originals[i % 2], centres[i % 2], 1 - 0.12 * (i // 2 % 4), size) for i in range(count)]
    return _stack(pictures), torch.tensor([i % 2 for i in range(count)]), ['flower', 'temple']


def sample_photographs() -> list[np.ndarray]:
    """Return scikit-learn's two sample photographs, a flower and a temple."""
    spec = importlib.util.find_spec('sklearn')
    if spec is None or spec.origin is None:
        raise DataError(
            'the photographs are part of scikit-learn, which is not installed; run: pip install scikit-learn'
        )
    place = Path(spec.origin).parent / 'datasets' / 'images'
    return [read_image(place / name) for name in ('flower.jpg', 'china.jpg')]


def _crop(image: np.ndarray, centre: tuple[float, float], share: float, size: int) -> np.ndarray:
    """Cut a square around a centre (as shares of height and width) and resize it."""
    height, width = image.shape[:2]
    side = int(min(height, width) * share)
    top = min(max(int(centre[0] * height) - side // 2, 0), height - side)
    left = min(max(int(centre[1] * width) - side // 2, 0), width - side)
    return ResizeShortEdge(size)(np.ascontiguousarray(image[top : top + side, left : left + side]))


def _stack(pictures: list[np.ndarray]) -> Tensor:
    return torch.stack([torch.from_numpy(picture.transpose(2, 0, 1).copy()) for picture in pictures]).float() / 255
