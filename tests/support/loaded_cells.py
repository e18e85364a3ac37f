"""All configs of the repository, each file read once."""

import copy
import tempfile
from functools import cache
from pathlib import Path
from unittest.mock import patch

from conftest import ROOT
from mmengine.config import Config

CONFIGS = ROOT / 'configs'
_read_file = Config._file2dict
_read: dict[str, tuple] = {}


def all_configs() -> list[str]:
    """Every config that can be trained, as `cifar100/r18_mixup.py`: no bases, no tables."""
    paths = (path.relative_to(CONFIGS) for path in CONFIGS.glob('*/*.py'))
    return sorted(str(path) for path in paths if path.parent.name not in ('_base_', 'tables'))


@cache
def load(name: str) -> Config:
    """Read a config as `Config.fromfile` does; not to be changed by a test.

    mmengine reads every base anew for every leaf. Here it reads each file once; that the two agree is a slow test.
    """
    return read_from(CONFIGS / name, _read)


def read_from(path: Path, read: dict[str, tuple]) -> Config:
    """Read a config, and of its bases only those that `read` does not hold."""

    def file2dict(filename: str, *args: object, **options: object) -> tuple:
        key = str(Path(filename).resolve())
        if key not in read:
            read[key] = _read_file(filename, *args, **options)
        return copy.deepcopy(read[key])

    memory = '/dev/shm' if Path('/dev/shm').is_dir() else None  # mmengine copies each file; a disk takes its time
    with patch.object(Config, '_file2dict', staticmethod(file2dict)), patch.object(tempfile, 'tempdir', memory):
        return Config.fromfile(path, lazy_import=False)
