"""Pack a data set into a few large files: a folder that Hugging Face's `datasets.load_from_disk` reads.

A folder of a split grows file by file, each whole as soon as it has its name; `pack.json` lists those that are done,
and `state.json` comes last. So a run that is killed loses the file in work, and the same command goes on.
"""

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from openmix_dm.datasets.arrow.opening import PACKED, SAVED, SEVERAL, import_datasets, names_hash, read_record
from openmix_dm.datasets.image_files import DecodedImages
from openmix_dm.datasets.prepare.archives import check_target, explain_write_errors
from openmix_dm.datasets.prepare.pack_encoding import (
    Packing,
    class_names,
    estimate_size,
    features_of,
    record_batches,
    source_hash,
)
from openmix_dm.datasets.splits.split_files import FOLDER as SPLITS
from openmix_dm.datasets.splits.split_files import labels_hash
from openmix_dm.datasets.tensor_images import TensorImages
from openmix_dm.errors import ConfigError, DataError, ResourceError
from openmix_dm.utils.files import TEMPORARY, remove_temporary, sha256_of, sync_folder, write_atomically
from openmix_dm.utils.progress import Progress
from openmix_dm.utils.sealed import seal

SPLIT_NAME = re.compile(r'\w+(\.\w+)*')  # what `datasets` takes


def pack_split(dataset: Any, split: str, out: Path, packing: Packing) -> str:
    """Write a split in the order of its data set, or what is missing of it; return what is there now."""
    if not isinstance(dataset, DecodedImages | TensorImages):
        raise ConfigError(
            f'{type(dataset).__name__} cannot be packed: expected images in files, in memory or in Arrow tables'
        )
    if isinstance(dataset, TensorImages) and dataset.images.shape[1] != 3:
        raise DataError(f'{type(dataset).__name__} has images of {dataset.images.shape[1]} channels, expected 3 (RGB)')
    if not SPLIT_NAME.fullmatch(split):
        raise ConfigError(f'--split {split!r}: expected a name of letters, digits and underscores')
    import_datasets()
    folder = out / split
    with _alone(folder):
        record = _start(folder, dataset, packing)
        remove_temporary(folder)  # what a killed run was writing
        todo = [number for number, file in enumerate(_shards(record)) if not _is_done(folder, file, record)]
        if todo or not (folder / SAVED).is_file():
            (folder / SAVED).unlink(missing_ok=True)
            _write_shards(folder, dataset, packing, record, todo)
            _finish(folder, dataset, split, record)
    _list_splits(out)
    _copy_splits(dataset, out)
    size = sum(shard['bytes'] for shard in record['shards'].values())
    written = f'{len(todo)} of {len(record["shards"])} files written now' if todo else 'was packed before'
    return f'{split}: {record["images"]:,} images, {size / 1e6:,.1f} MB in {folder} ({written})'


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder, so that no second process packs into it; the kernel's lock ends with the process."""
    with explain_write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ResourceError(f'another process is packing into {folder}; wait for it, or give another --out') from None
    except OSError:
        pass  # some file systems of networks lock no folders
    try:
        yield
    finally:
        os.close(handle)


def _start(folder: Path, dataset: Any, packing: Packing) -> dict[str, Any]:
    """Return what is to be packed and how, with what is done of it; refuse a folder of something else."""
    record = {
        'format': 1,
        'name': getattr(dataset, 'name', '') or type(dataset).__name__.lower(),
        'images': len(dataset),
        'classes': dataset.num_classes,
        'labels_sha256': labels_hash(np.asarray(dataset.labels)),
        'classes_sha256': names_hash(class_names(dataset)),
        'source_sha256': source_hash(dataset),
        'short_edge': packing.short_edge,
        'quality': None if packing.short_edge is None else packing.quality,
        'shard_images': packing.shard_images,
        'source': f'{type(dataset).__name__} {getattr(dataset, "folder", "")}'.strip(),
        'shards': {},
    }
    if not (folder / PACKED).is_file():
        if any(not path.name.endswith(TEMPORARY) for path in folder.iterdir()):
            raise DataError(f'{folder} holds other files, and no {PACKED}; give another --out')
        _write_record(folder, record)  # from here on the folder is known as ours
        return record
    old = {'classes_sha256': record['classes_sha256'], **read_record(folder / PACKED)}  # older versions left it out
    differ = [key for key in record if key not in ('source', 'shards') and old.get(key) != record[key]]
    if differ:
        got = ', '.join(f'{key} {old.get(key)}' for key in differ)
        now = ', '.join(f'{key} {record[key]}' for key in differ)
        raise DataError(f'{folder} was packed from something else: {got}, now {now}; delete it or give another --out')
    return {**record, 'source': old.get('source'), 'shards': old['shards']}


def _shards(record: dict[str, Any]) -> list[str]:
    count = -(-record['images'] // record['shard_images'])
    return [f'data-{number:05d}-of-{count:05d}.arrow' for number in range(count)]


def _is_done(folder: Path, file: str, record: dict[str, Any]) -> bool:
    done = record['shards'].get(file)
    return done is not None and (folder / file).is_file() and (folder / file).stat().st_size == done['bytes']


def _write_shards(folder: Path, dataset: Any, packing: Packing, record: dict[str, Any], todo: list[int]) -> None:
    files, images, each = _shards(record), len(dataset), packing.shard_images
    rows = [range(number * each, min((number + 1) * each, images)) for number in range(len(files))]
    missing = sum(len(rows[number]) for number in todo)
    with (
        ThreadPoolExecutor(os.cpu_count()) as pool,  # reading and coding leave Python's lock
        Progress(f'packing {folder.name}', images, done=images - missing) as progress,
    ):
        check_target(folder, estimate_size(dataset, packing, pool))
        for number in todo:
            done = _write_shard(folder / files[number], dataset, packing, rows[number], pool, progress)
            before = record['shards'].get(files[number])
            if before is not None and before['sha256'] != done['sha256']:
                raise DataError(
                    f'{folder / files[number]}: the images are not those that were packed before; delete {folder} '
                    'to pack it anew'
                )
            record['shards'] = dict(sorted({**record['shards'], files[number]: done}.items()))
            _write_record(folder, record)


def _write_record(folder: Path, record: dict[str, Any]) -> None:
    with explain_write_errors(folder / PACKED):
        write_atomically(folder / PACKED, json.dumps(seal(record), indent=1) + '\n')


def _write_shard(
    path: Path, dataset: Any, packing: Packing, rows: range, pool: Executor, progress: Progress
) -> dict[str, Any]:
    import pyarrow as pa

    part, schema = path.with_name(path.name + TEMPORARY), features_of(dataset).arrow_schema
    try:
        with explain_write_errors(path), part.open('wb') as file:
            with pa.ipc.new_stream(file, schema) as writer:
                for batch in record_batches(dataset, packing, rows, schema, pool):
                    writer.write_batch(batch)
                    progress.advance(len(batch))
            file.flush()
            os.fsync(file.fileno())
        done = {'images': len(rows), 'bytes': part.stat().st_size, 'sha256': sha256_of(part)}
        part.replace(path)
        sync_folder(path.parent)
        return done
    finally:
        part.unlink(missing_ok=True)


def _finish(folder: Path, dataset: Any, split: str, record: dict[str, Any]) -> None:
    """Compare what is there with the data set; only then write what makes it a folder of `datasets`."""
    files = _shards(record)
    if not np.array_equal(_read_labels(folder, files), np.asarray(dataset.labels)):
        raise DataError(f'{folder} does not hold the labels that were packed; delete it and run the same command again')
    hashes = ''.join(record['shards'][file]['sha256'] for file in files)
    state: dict[str, Any] = {
        '_data_files': [{'filename': file} for file in files],
        '_fingerprint': hashlib.sha256(hashes.encode()).hexdigest()[:16],
        '_format_columns': None,
        '_format_kwargs': {},
        '_format_type': None,
        '_output_all_columns': False,
        '_split': split,
    }
    with explain_write_errors(folder / SAVED):
        import_datasets().DatasetInfo(features=features_of(dataset)).write_to_directory(str(folder), pretty_print=True)
        write_atomically(folder / SAVED, json.dumps(state, indent=2, sort_keys=True))


def _read_labels(folder: Path, files: list[str]) -> np.ndarray:
    import pyarrow as pa

    tables = (pa.ipc.open_stream(pa.memory_map(str(folder / file))).read_all() for file in files)
    return np.concatenate([table['label'].to_numpy() for table in tables])


def _list_splits(out: Path) -> None:
    """Name all splits that are whole."""
    splits = sorted(path.parent.name for path in out.glob(f'*/{SAVED}'))
    with explain_write_errors(out / SEVERAL):
        write_atomically(out / SEVERAL, json.dumps({'splits': splits}))


def _copy_splits(dataset: Any, out: Path) -> None:
    """Take drawn splits along: they are numbers of rows, which stay the same."""
    folder = getattr(dataset, 'folder', None)
    for path in sorted(folder.glob(f'{SPLITS}/*.json')) if folder is not None else []:
        with explain_write_errors(out / SPLITS / path.name):
            (out / SPLITS).mkdir(exist_ok=True)
            write_atomically(out / SPLITS / path.name, path.read_bytes())
