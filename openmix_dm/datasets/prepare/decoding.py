"""Find the images that cannot be decoded."""

import importlib.util
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from openmix_dm.datasets.decode import read_image
from openmix_dm.datasets.image_folder import EXTENSIONS
from openmix_dm.datasets.prepare.archives import meter
from openmix_dm.errors import DataError


def list_undecodable(images: Sequence[Path]) -> list[str]:
    """Return a line for each image that cannot be decoded."""
    problems: list[str] = []
    # OpenCV shows a JPEG that is damaged inside as a picture with wrong pixels; simplejpeg refuses it.
    decoder = 'simplejpeg' if importlib.util.find_spec('simplejpeg') else 'cv2'
    find_problem = partial(decoding_problem, decoder=decoder)
    # Decoding leaves Python's lock, so threads are enough; by batches, since a million futures would fill the memory.
    with meter('decoding', max(len(images), 1)) as advance, ThreadPoolExecutor(os.cpu_count()) as pool:
        for start in range(0, len(images), 256):
            batch = images[start : start + 256]
            problems += [problem for problem in pool.map(find_problem, batch) if problem]
            advance(len(batch))
    return problems


def find_images(root: Path) -> Iterator[Path]:
    """List all images below root in a fixed order."""
    for folder, folders, files in os.walk(root):
        folders.sort()
        yield from (Path(folder, file) for file in sorted(files) if file.lower().endswith(EXTENSIONS))


def decoding_problem(path: Path, decoder: str) -> str:
    """Return why an image cannot be decoded, or nothing."""
    try:
        read_image(path, decoder)
    except DataError as error:
        return str(error)
    return ''
