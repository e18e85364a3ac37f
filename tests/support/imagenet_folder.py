"""A few images in the layout of ImageNet."""

from pathlib import Path

import cv2
import numpy as np

SYNSETS = ('n01440764', 'n02119789', 'n03000684')


def write_imagenet(folder: Path, train: int, val: int) -> str:
    """Write so many JPEGs of three synsets, 80 x 60 pixels; return what OPENMIX_DM_DATA has to be."""
    random = np.random.default_rng(0)
    for split, images in (('train', train), ('val', val)):
        for number in range(images):
            synset = SYNSETS[number % 3]
            path = folder / 'imagenet' / split / synset / f'{synset}_{number}.JPEG'
            path.parent.mkdir(parents=True, exist_ok=True)
            coarse = random.integers(0, 256, (6, 8, 3), dtype=np.uint8)
            cv2.imwrite(str(path), cv2.resize(coarse, (80, 60), interpolation=cv2.INTER_CUBIC))
    return str(folder)
