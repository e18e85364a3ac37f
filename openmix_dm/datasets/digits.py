"""The handwritten digits inside scikit-learn: real images without a download."""

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from openmix_dm.datasets.splits.draw import stratified_split
from openmix_dm.datasets.tensor_images import TensorImages
from openmix_dm.errors import DataError
from openmix_dm.registry import DATASETS
from openmix_dm.utils.checks import one_of


@DATASETS.register_module()
class Digits(TensorImages):
    """Serve the handwritten digits of scikit-learn, enlarged and repeated over three channels.

    1,797 images of 8 x 8 grey pixels, split 80 to 20 into training and test images: stratified by class, with seed 0.
    They are uint8 (N, 3, size, size).

    Args:
        split: 'train' or 'test'.
        size: side of the images in pixels, by bilinear interpolation. Default: 16.
        transforms: configs of batch transforms, applied in order. Those that draw are left out in evaluation.
            Default: ().
        digits: keep these only, and number them as classes in this order; None keeps all ten. Default: None.

    Example:
        dataset = dict(type='Digits', split='train', size=8)
    """

    name = 'digits'

    def __init__(
        self,
        split: str,
        size: int = 16,
        transforms: Sequence[dict[str, Any]] = (),
        digits: Sequence[int] | None = None,
    ) -> None:
        one_of('split', split, ('train', 'test'))
        kept = tuple(range(10)) if digits is None else tuple(digits)
        if not kept or len(set(kept)) < len(kept) or not set(kept) <= set(range(10)):
            raise ValueError(f'digits must be different numbers of 0 to 9, got {digits!r}')
        self.num_classes, self.classes = len(kept), tuple(str(digit) for digit in kept)
        grey, labels = read_digits()
        train, test = stratified_split(labels, test_fraction=0.2, seed=0)
        index = train if split == 'train' else test
        index = index[torch.isin(labels[index], torch.tensor(kept))]
        places = torch.zeros(10, dtype=torch.int64)
        places[torch.tensor(kept)] = torch.arange(len(kept))
        super().__init__(_enlarge(grey[index], size), places[labels[index]], transforms)


def read_digits() -> tuple[Tensor, Tensor]:
    """Return grey images (1797, 8, 8) in 0..16 and labels.

    From the file inside the package, because importing scikit-learn takes longer than reading it.
    """
    spec = importlib.util.find_spec('sklearn')
    if spec is None or spec.origin is None:
        raise DataError('the digits are part of scikit-learn, which is not installed; run: pip install scikit-learn')
    table = np.loadtxt(Path(spec.origin).parent / 'datasets' / 'data' / 'digits.csv.gz', delimiter=',', dtype=np.int64)
    return torch.from_numpy(table[:, :-1].reshape(-1, 8, 8)).float(), torch.from_numpy(table[:, -1])


def _enlarge(grey: Tensor, size: int) -> Tensor:
    pixels = F.interpolate(grey[:, None] * (255 / 16), size=(size, size), mode='bilinear', align_corners=False)
    return pixels.round().clamp(0, 255).to(torch.uint8).expand(-1, 3, -1, -1).contiguous()
