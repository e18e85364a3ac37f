"""Find and open a split of a data set of Hugging Face's `datasets`; no code that comes with one is ever run."""

import hashlib
import json
import re
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openmix_dm.datasets.roots import DATA_VARIABLE, resolve_root
from openmix_dm.errors import ConfigError, DataError, first_line
from openmix_dm.invocation import command
from openmix_dm.utils.sealed import read_sealed

HUB_NAME = re.compile(r'[\w.-]+/[\w.-]+')
OLDEST = 4  # major version of `datasets`; before it, a data set could bring a script of its own
SAVED, SEVERAL = 'state.json', 'dataset_dict.json'  # what save_to_disk writes for a split, and for several
PACKED = 'pack.json'  # what prepare_data.py pack writes down about a split
REACHED_WITHIN = 10.0  # seconds until the Hub counts as out of reach; `datasets` itself would try for minutes


def import_datasets() -> Any:
    """Return the package `datasets`; say what to do where it is not installed, or is old."""
    try:
        import datasets  # only where it is used: the import takes a second
    except ImportError:
        todo = f"run: pip install 'datasets>={OLDEST}'"
        raise ConfigError(f'this needs the package datasets, which is not installed; {todo}') from None
    if int(datasets.__version__.partition('.')[0]) < OLDEST:
        raise ConfigError(
            f'datasets {datasets.__version__} can run scripts of data sets; expected {OLDEST}.0 or newer, '
            f"run: pip install 'datasets>={OLDEST}'"
        )
    return datasets


def open_split(
    path: str, split: str, config_name: str | None = None, revision: str | None = None
) -> tuple[Any, Path | None]:
    """Return a split as a `datasets.Dataset`, memory-mapped, and its folder; None for one of the Hub."""
    datasets, folder = import_datasets(), find_folder(path)
    if folder is None:
        return _from_hub(datasets, path, split, config_name, revision), None
    if revision is not None:
        raise ConfigError(f'revision={revision!r} is for data sets of the Hub; {folder} is a folder')
    if not is_saved(folder):
        expected = 'expected a folder of save_to_disk, or parquet files or folders of images as load_dataset reads them'
        return _load(datasets, str(folder), str(folder), expected, split=split, name=config_name), folder
    if config_name is not None:
        raise ConfigError(f'config_name={config_name!r} has no meaning for {folder}, which was written by save_to_disk')
    return _from_disk(datasets, folder, split), folder


def find_folder(path: str) -> Path | None:
    """Return the folder that is meant: below that of all data sets, or as it is; None for a name on the Hub."""
    below = resolve_root(path)
    for folder in (below, Path(path).expanduser().absolute()):
        if folder.is_dir():
            return folder
    if HUB_NAME.fullmatch(path):
        return None
    raise DataError(
        f'path={path!r}: expected a folder ({below} is none) or the name of a data set on the Hub, owner/name; '
        f'if the folder is elsewhere, set {DATA_VARIABLE} to the one above it'
    )


def is_saved(folder: Path) -> bool:
    """Tell whether a folder was written by save_to_disk or by prepare_data.py pack, if only in part."""
    return any((folder / file).is_file() for file in (SAVED, SEVERAL)) or any(folder.glob(f'*/{PACKED}'))


def saved_splits(folder: Path) -> list[str]:
    """Return the splits of a folder of several; none if it has no list of them."""
    path = folder / SEVERAL
    return list(read_json(path, 'splits', list)['splits']) if path.is_file() else []


def names_hash(classes: Sequence[str]) -> str:
    """Return the hash of the names of classes in their order."""
    return hashlib.sha256(json.dumps(list(classes)).encode()).hexdigest()


def read_record(path: Path) -> dict[str, Any]:
    """Return what was written down about a packed split: what it was made of, and each of its files."""
    record = read_json(path, 'shards', dict)
    for file, facts in record['shards'].items():
        if not isinstance(facts, dict) or not {'images', 'bytes', 'sha256'} <= set(facts):
            raise DataError(f'{path} cannot be read: expected images, bytes and sha256 of {file}, got {facts!r}')
    return record


def read_json(path: Path, key: str, kind: type) -> dict[str, Any]:
    """Return what a small file says; under one key it must have values of a kind."""
    try:
        content = read_sealed(path)
    except (OSError, ValueError) as error:
        raise DataError(f'{path} cannot be read ({error}); the folder has to be written again') from error
    if not isinstance(content.get(key), kind):
        raise DataError(
            f'{path} cannot be read: expected a {kind.__name__} of {key}; the folder has to be written again'
        )
    return content


def _from_disk(datasets: Any, folder: Path, split: str) -> Any:
    if (folder / SAVED).is_file():
        found = _opened(datasets.load_from_disk, folder)
        if found.split is not None and str(found.split) != split:
            raise ConfigError(f'{folder} holds the split {str(found.split)!r}, got split={split!r}')
        return found
    known = saved_splits(folder)
    if split not in known and (folder / split / PACKED).is_file():
        raise DataError(f'{folder / split} is not packed to its end; run the same {command("data", "pack")} again')
    if split not in known:
        raise ConfigError(f'{folder} has no split {split!r}, expected one of {known}')
    return _opened(datasets.load_from_disk, folder / split)


def _opened(load: Any, folder: Path) -> Any:
    try:
        return load(str(folder))
    except Exception as error:  # whatever pyarrow and others say of a damaged file
        raise DataError(f'{folder} cannot be opened ({first_line(error)}); it is damaged or not whole') from error


def _from_hub(datasets: Any, name: str, split: str, config_name: str | None, revision: str | None) -> Any:
    label = f'{name} of the Hugging Face Hub (there is no folder {resolve_root(name)})'
    offline = 'HF_HUB_OFFLINE is set' if datasets.config.HF_HUB_OFFLINE else _out_of_reach(datasets.config.HF_ENDPOINT)
    if not offline:
        return _load(datasets, name, label, '', split=split, name=config_name, revision=revision)
    datasets.config.HF_HUB_OFFLINE = True  # what was downloaded before is found at once, instead of after many tries
    todo = (
        f'{offline}: download it where there is a network and copy HF_HOME ({datasets.config.HF_CACHE_HOME} here), '
        'or give the folder of a copy'
    )
    found = _load(datasets, name, label, todo, split=split, name=config_name)
    files = [Path(file['filename']) for file in found.cache_files]
    if revision is not None and any(file.parent.name != revision for file in files):
        raise DataError(
            f'{label} is out of reach ({offline}), and what was downloaded before ({files[0].parent}) is not known to '
            f'be revision={revision!r}; without a network, give the whole hash of a commit that was downloaded'
        )
    return found


def _out_of_reach(endpoint: str) -> str:
    """Return why the Hub cannot be reached; nothing if it can."""
    try:
        urllib.request.urlopen(urllib.request.Request(endpoint, method='HEAD'), timeout=REACHED_WITHIN).close()
    except urllib.error.HTTPError:
        return ''  # it answers
    except (OSError, ValueError) as error:
        return f'{endpoint} cannot be reached ({error})'
    return ''


def _load(datasets: Any, path: str, label: str, todo: str, **options: Any) -> Any:
    try:
        return datasets.load_dataset(path, **options)
    except Exception as error:  # of the network, of files of any kind, of names
        raise DataError(f'{label} cannot be opened: {first_line(error)}{todo and "; "}{todo}') from error
