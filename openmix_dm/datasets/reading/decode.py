"""Encoded images to arrays, by mmcv's backends; a header is looked at before any memory is taken for its pixels."""

import importlib.util
import io
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from openmix_dm.errors import ConfigError, DataError, first_line
from openmix_dm.utils.checks import one_of

BACKENDS = ('cv2', 'pillow', 'turbojpeg', 'simplejpeg')
PACKAGES = {'turbojpeg': 'PyTurboJPEG', 'simplejpeg': 'simplejpeg'}  # of those that are optional
MAX_PIXELS = 178_956_970  # where Pillow refuses an image as a bomb
JPEG = b'\xff\xd8\xff'


def check_backend(name: str) -> str:
    """Return the name of a decoder if it is known and installed."""
    one_of('imdecode_backend', name, BACKENDS)
    package = PACKAGES.get(name)
    if package is not None and importlib.util.find_spec(name) is None:
        raise ConfigError(
            f"imdecode_backend='{name}' needs {package}, which is not installed; run: pip install {package}, "
            "or use imdecode_backend='cv2'"
        )
    if name == 'turbojpeg':
        load_turbojpeg()
    return name


@lru_cache(maxsize=1)
def load_turbojpeg() -> None:
    """Let mmcv find the library, which is no part of PyTurboJPEG."""
    import mmcv

    try:
        mmcv.use_backend('turbojpeg')
    except (ImportError, RuntimeError, OSError) as error:
        raise ConfigError(
            "imdecode_backend='turbojpeg' needs the library libturbojpeg, which PyTurboJPEG cannot load "
            f"({first_line(error)}); install it (for one older than 3.0: pip install 'PyTurboJPEG<2'), "
            "or use imdecode_backend='cv2'"
        ) from None
    mmcv.use_backend('cv2')  # what others read by mmcv stays as it was


def read_image(path: Path | str, backend: str = 'cv2', max_pixels: int = MAX_PIXELS) -> np.ndarray:
    """Decode an image file; see `decode_image`."""
    return decode_image(read_file(path), str(path), backend, max_pixels)


def read_file(path: Path | str) -> bytes:
    """Return the content of a local file."""
    try:
        with open(path, 'rb', buffering=0) as file:  # noqa: PTH123, a Path takes longer to make than to open
            return file.read()
    except OSError as error:
        raise DataError(f'{path} cannot be read: {error.strerror}') from None


def decode_image(content: bytes, label: str, backend: str = 'cv2', max_pixels: int = MAX_PIXELS) -> np.ndarray:
    """Decode an image to RGB, (H, W, 3) uint8, whatever way up its camera was (as Pillow and torchvision do).

    Args:
        content: the encoded image.
        label: what errors call it, such as its path.
        backend: 'cv2', 'pillow', 'turbojpeg' or 'simplejpeg'; the last two know JPEG only and leave the rest to cv2,
            and they refuse JPEGs that are damaged inside, which the others show in wrong colours. Default: 'cv2'.
        max_pixels: more pixels than these are refused before they are decoded. Default: 178956970.
    """
    check_pixels(content, label, max_pixels)
    try:
        image = _decode(content, backend)
    except MemoryError:
        raise
    except Exception as error:  # each backend raises what it likes for what it cannot decode
        raise DataError(f'{label} cannot be decoded as an image ({len(content)} bytes): {first_line(error)}') from None
    if image is None:
        raise DataError(f'{label} cannot be decoded as an image ({len(content)} bytes)')
    return image


def check_pixels(content: bytes, label: str, limit: int) -> None:
    """Refuse an image whose header promises more pixels than the limit: a few bytes can ask for all memory."""
    width, height = jpeg_size(content) or other_size(content, label)
    if width * height > limit:
        raise DataError(
            f'{label} is refused: its header promises {width} x {height} pixels, more than max_pixels={limit}; '
            'raise max_pixels of the data set if the image is meant to be so large'
        )


def jpeg_size(content: bytes) -> tuple[int, int] | None:
    """Return the width and height that a JPEG's frame header has; None if it is not found.

    Pillow finds them too, but takes twenty times as long for it.
    """
    place = 2 if content[:3] == JPEG else len(content)
    while place + 9 < len(content) and content[place] == 0xFF:
        marker = content[place + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):  # the others are tables
            height, width = content[place + 5 : place + 7], content[place + 7 : place + 9]
            return int.from_bytes(width), int.from_bytes(height)
        place += 1 if marker == 0xFF else 2 + int.from_bytes(content[place + 2 : place + 4])
    return None


def other_size(content: bytes, label: str) -> tuple[int, int]:
    """Return the width and height that Pillow finds; (0, 0) for what it does not know."""
    from PIL import Image

    silence_pillow()
    try:
        with Image.open(io.BytesIO(content)) as image:
            return image.size
    except Image.DecompressionBombError as error:
        raise DataError(f'{label} is refused: {error}') from None
    except Exception:  # a damaged header raises whatever its reader stumbles over
        return 0, 0


@lru_cache(maxsize=1)
def silence_pillow() -> None:
    """Do without Pillow's warning of large images: max_pixels decides about them."""
    from PIL import Image

    warnings.filterwarnings('ignore', category=Image.DecompressionBombWarning)


def _decode(content: bytes, backend: str) -> Any:
    import mmcv

    is_jpeg = content[:3] == JPEG  # ImageNet has a PNG among its JPEGs
    if backend == 'pillow':
        return mmcv.imfrombytes(content, 'color_ignore_orientation', channel_order='rgb', backend='pillow')
    if is_jpeg and backend in JPEG_ONLY and (image := JPEG_ONLY[backend](content)) is not None:
        return image
    import cv2

    # A number, because mmcv's name for it forgets to swap the channels.
    flag = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION
    return mmcv.imfrombytes(content, flag, backend='cv2') if content else None


def _by_simplejpeg(content: bytes) -> np.ndarray | None:
    """Return the pixels; None for a layout that simplejpeg does not know, such as some ways to subsample CMYK."""
    import simplejpeg

    try:
        simplejpeg.decode_jpeg_header(content)
    except ValueError:
        return None
    return simplejpeg.decode_jpeg(content)


def _by_turbojpeg(content: bytes) -> np.ndarray | None:
    """Return the pixels; None for what the library does not turn to RGB, such as CMYK."""
    import mmcv

    load_turbojpeg()
    with warnings.catch_warnings():
        warnings.simplefilter('error')  # it warns of damage, and returns what it has
        try:
            return mmcv.imfrombytes(content, 'color', channel_order='rgb', backend='turbojpeg')
        except OSError:
            return None


JPEG_ONLY: dict[str, Callable[[bytes], np.ndarray | None]] = {
    'simplejpeg': _by_simplejpeg,
    'turbojpeg': _by_turbojpeg,
}
