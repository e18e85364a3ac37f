"""Files of tensors and plain values, as torch.save writes them: read as data, whatever they hold, and hashed inside.

The sums of torch's zip format cover the bytes of each entry, but not which entry is which tensor: one flipped bit of
its directory can put other bytes into a weight and pass. A hash of the content itself tells.
"""

import hashlib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

CONTENT_SUM = 'content_sha256'  # the key of a file that holds the hash of all others
ZIP = b'PK\x03\x04'  # how torch's zip format begins
PICKLE = b'\x80'  # how its older one did


def content_hash(content: Any) -> str:
    """Hash tensors and plain values in nested dicts and lists: names, types, shapes and every bit."""
    total = hashlib.sha256()
    for part in _parts(content):
        total.update(part)
    return total.hexdigest()


def _parts(value: Any) -> Iterator[Any]:
    """Yield the bytes that stand for a value; no two values have the same."""
    if isinstance(value, Tensor):
        yield f'tensor {value.dtype} {tuple(value.shape)}\n'.encode()
        yield value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data
    elif isinstance(value, dict):  # in the order of names: not all formats keep that of a dict
        yield f'dict {len(value)}\n'.encode()
        for key in sorted(value, key=lambda key: (type(key).__name__, str(key))):
            yield from _parts(key)
            yield from _parts(value[key])
    elif isinstance(value, list | tuple):
        yield f'list {len(value)}\n'.encode()
        for each in value:
            yield from _parts(each)
    else:  # of other objects only the type: the safe loader takes none of them back
        text = str(value).encode('utf-8', 'backslashreplace') if isinstance(value, str | int | float) else b''
        text = value if isinstance(value, bytes) else text
        yield f'{type(value).__name__} {len(text)} '.encode() + text


def read_tensor_file(path: Path) -> tuple[Any, bool]:
    """Return what a file holds, on the CPU, and whether its own hash says that it is what was saved.

    Everything that can be wrong with it is a ValueError: damage, code, sizes that it cannot have. A file without a hash
    (older, or from elsewhere) has the sums of its zip format checked, which torch itself does not look at.
    """
    _check_archive(path)
    try:
        content = torch.load(path, map_location='cpu', weights_only=True)
        _check_tensors(content, path.stat().st_size)
        expected = content.pop(CONTENT_SUM, None) if isinstance(content, dict) else None
        found = None if expected is None else content_hash(content)
    except Exception as error:  # the pickle of a stranger, or of nobody: any error at all can come of it
        first = (str(error).strip().splitlines() or [''])[0]
        raise ValueError(
            f'cannot be loaded as plain data ({type(error).__name__}: {first[:200]}); files that hold other objects '
            'could run code and are refused'
        ) from error
    if found != expected:
        raise ValueError('is damaged: what it holds is not what its own hash was made of')
    if expected is None:
        _check_sums(path)
    return content, expected is not None


def _check_archive(path: Path) -> None:
    """Refuse an archive that would unpack to more than the file holds; torch.save never compresses."""
    with path.open('rb') as file:
        start = file.read(len(ZIP))
    if start != ZIP:
        if not start.startswith(PICKLE):
            raise ValueError('is damaged or no checkpoint: expected a file that torch.save wrote, such as epoch_40.pth')
        return  # of a torch before 1.6, or something else: torch.load says what it is
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except Exception as error:  # zipfile has no list of what a damaged directory can raise
        raise ValueError(f'is damaged: its directory cannot be read ({error})') from None
    whole = all(entry.compress_type == zipfile.ZIP_STORED for entry in entries)
    if not whole or sum(entry.file_size for entry in entries) > path.stat().st_size:
        raise ValueError('is no file of torch.save: it would unpack to more bytes than it has')


def _check_sums(path: Path) -> None:
    if not zipfile.is_zipfile(path):
        return
    try:
        with zipfile.ZipFile(path) as archive:
            broken = archive.testzip()
    except Exception as error:
        raise ValueError(f'is damaged: {error}') from None
    if broken:
        raise ValueError(f'is damaged: the check sum of {broken} is wrong')


def _check_tensors(content: Any, size: int) -> None:
    """Refuse tensors without values, and those that claim more memory than the file has bytes, by repeating them."""
    if isinstance(content, Tensor):
        if content.layout != torch.strided or content.device.type != 'cpu' or content.is_quantized:
            raise ValueError(f'a tensor of layout {content.layout} on {content.device}, expected plain values')
        claimed = content.numel() * content.element_size()
        if claimed > max(content.untyped_storage().nbytes(), size):
            raise ValueError(f'a tensor of {claimed:,} bytes in a file of {size:,}')
    inner = content.values() if isinstance(content, dict) else content if isinstance(content, list | tuple) else ()
    for each in inner:
        _check_tensors(each, size)
