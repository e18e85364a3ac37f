"""Small JSON files that carry a hash of what they say, so that damage is told from what was written."""

import hashlib
import json
from pathlib import Path
from typing import Any

from openmix_dm.utils.files import read_plainly

SEAL = 'sha256'


def seal(values: dict[str, Any]) -> dict[str, Any]:
    """Return what a file is to hold: the values, and the hash of them as its last entry."""
    plain = json.loads(json.dumps({key: value for key, value in values.items() if key != SEAL}, allow_nan=False))
    return {**plain, SEAL: _hash(plain)}


def read_sealed(path: Path, sealed: bool = False, follow: bool = True) -> dict[str, Any]:
    """Return the values of a file without their hash; a ValueError says what is wrong with it.

    Args:
        path: the file.
        sealed: refuse a file without a hash, as older versions and people write it. Default: False.
        follow: read through a link. Default: True.
    """
    content = read_plainly(path, follow=follow)
    try:
        values = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError('it is empty' if not content.strip() else f'it is no JSON: {str(error)[:100]}') from None
    if not isinstance(values, dict):
        raise ValueError(f'it holds a {type(values).__name__}, expected an object')
    expected = values.pop(SEAL, None)
    if (sealed or expected is not None) and expected != _hash(values):
        raise ValueError('it is not what was written: its own hash says so')
    return values


def _hash(values: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
