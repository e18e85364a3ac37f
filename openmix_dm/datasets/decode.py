"""Image files to arrays."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import torch

from openmix_dm.errors import ConfigError, DataError
from openmix_dm.utils.checks import one_of

DECODERS = ('cv2', 'simplejpeg')
JPEG = b'\xff\xd8\xff'


def check_decoder(name: str) -> str:
    """Return the name of a decoder if it is one of ours and is installed."""
    if one_of('decoder', name, DECODERS) != 'cv2' and importlib.util.find_spec(name) is None:
        raise ConfigError(f"decoder='{name}', which is not installed; run: pip install {name}, or use decoder='cv2'")
    return name


def read_image(path: Path | str, decoder: str = 'cv2') -> np.ndarray:
    """Decode an image file to RGB, (H, W, 3) uint8; see `decode_image`."""
    return decode_image(read_file(path), str(path), decoder)


def read_file(path: Path | str) -> np.ndarray:
    """Return the bytes of a file."""
    try:
        with Path(path).open('rb', buffering=0) as file:
            return np.frombuffer(file.read(), dtype=np.uint8)
    except OSError as error:
        raise DataError(f'{path} cannot be read: {error.strerror}') from None


def decode_image(content: bytes | np.ndarray, label: str, decoder: str = 'cv2') -> np.ndarray:
    """Decode the bytes of an image file to RGB, (H, W, 3) uint8, whatever way up its camera was (as torchvision does).

    label: what the image is called where it cannot be decoded. decoder: 'cv2', or 'simplejpeg', which gives the same
    pixels, is a little faster and refuses JPEGs that are damaged inside; what it does not know is left to cv2.
    """
    encoded = np.frombuffer(content, dtype=np.uint8)
    if decoder == 'simplejpeg' and encoded[:3].tobytes() == JPEG:  # ImageNet has a PNG among its JPEGs
        return _by_simplejpeg(label, encoded)
    return _by_cv2(label, encoded)


def _by_cv2(label: str, encoded: np.ndarray) -> np.ndarray:
    import cv2  # only where images are decoded: the import takes a while

    flags = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION
    image = cv2.imdecode(encoded, flags) if len(encoded) else None
    if image is None:
        raise DataError(f'{label} cannot be decoded as an image ({len(encoded)} bytes)')
    return image


def _by_simplejpeg(label: str, encoded: np.ndarray) -> np.ndarray:
    import simplejpeg

    try:
        return simplejpeg.decode_jpeg(encoded)
    except ValueError as error:
        if _knows_header(encoded):
            raise DataError(f'{label} cannot be decoded as an image ({len(encoded)} bytes): {error}') from None
        return _by_cv2(label, encoded)


def _knows_header(encoded: np.ndarray) -> bool:
    """Say whether simplejpeg understands how the file is laid out; it does not know every way to subsample CMYK."""
    import simplejpeg

    try:
        simplejpeg.decode_jpeg_header(encoded)
    except ValueError:
        return False
    return True


class Damaged:
    """Stop at the first damaged image ('raise'), or pass over up to `limit` different ones ('skip').

    The marks are in shared memory, so that all workers of a process count together; each rank counts for itself.
    """

    def __init__(self, on_error: str, limit: int, images: int) -> None:
        one_of('on_error', on_error, ('raise', 'skip'))
        if limit < 0:
            raise ValueError(f'skip_limit must be 0 or more images, got {limit}')
        self.skips, self.limit = on_error == 'skip', limit
        self.marks = torch.zeros(images, dtype=torch.bool).share_memory_() if self.skips else torch.zeros(0)

    def note(self, index: int, error: DataError) -> None:
        """Count a damaged image; raise its error if none, or no more, may be passed over."""
        if not self.skips:
            raise error
        if self.marks[index]:
            return
        self.marks[index] = True
        count = int(self.marks.sum())
        if count > self.limit:
            raise DataError(
                f'{error}; it is damaged image number {count}, more than skip_limit={self.limit}'
            ) from error
        print(f'openmix_dm: skipped ({count} of at most {self.limit}): {error}', file=sys.stderr, flush=True)
