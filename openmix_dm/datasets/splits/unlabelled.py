"""Which images have a label and which have none: the only place where that is decided."""

from pathlib import Path

import numpy as np

from openmix_dm.errors import ConfigError, DataError


def unlabelled_indices(labelled: np.ndarray, images: int, which: str | None) -> np.ndarray:
    """Return the images of the unlabelled stream: 'all' (labels dropped), 'rest' (the others) or None at all."""
    if which is None:
        return np.empty(0, dtype=np.int64)
    if which == 'all':
        return np.arange(images)
    rest = np.setdiff1d(np.arange(images), labelled)
    if not len(rest):
        raise ConfigError(
            f"unlabelled='rest' leaves no image: all {images} have a label; use 'all' (their labels are dropped), "
            'or None for a method without an unlabelled stream'
        )
    return rest


def read_indices(path: str | Path, images: int, stream: str) -> np.ndarray:
    """Read the image numbers of a stream, one a line; anything else on a line is refused."""
    path = Path(path)
    if not path.is_file():
        raise DataError(f'there is no file {path} for the {stream} stream')
    numbers: list[int] = []
    for position, line in enumerate(path.read_text().split('\n'), start=1):
        words = line.split()
        if not words:
            continue
        if len(words) > 1:
            raise DataError(
                f'{path}, line {position}: expected one image number, got {line!r}; labels in the {stream} stream are '
                'refused, they come from the data set and reach labelled images only'
            )
        if not words[0].isdigit() or int(words[0]) >= images:
            raise DataError(f'{path}, line {position}: expected an image number below {images}, got {words[0]!r}')
        numbers.append(int(words[0]))
    if not numbers:
        raise DataError(f'{path} names no image for the {stream} stream')
    if len(set(numbers)) < len(numbers):
        twice = next(number for number in numbers if numbers.count(number) > 1)
        raise DataError(f'{path} names image {twice} more than once')
    return np.array(sorted(numbers))


def check_apart(labelled: np.ndarray, unlabelled: np.ndarray) -> None:
    """Refuse files that put an image into both streams."""
    both = np.intersect1d(labelled, unlabelled)
    if len(both):
        raise DataError(
            f'the splits overlap: {len(both)} images are in both files, such as {both[:3].tolist()}; remove them from '
            "one, or leave out unlabelled_file and say unlabelled='all' if labelled images shall be in both streams"
        )
