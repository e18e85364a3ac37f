"""Look through what was packed, and report what is wrong with it."""

import importlib.util
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from openmix_dm.datasets.arrow.hugging_face import HuggingFaceImages
from openmix_dm.datasets.arrow.opening import PACKED, SAVED, SEVERAL, read_record, saved_splits
from openmix_dm.errors import DataError, Failure
from openmix_dm.utils.files import sha256_of
from openmix_dm.utils.progress import track


def check_packed(root: Path, quick: bool) -> list[str]:
    """Print how much was packed; return what is wrong with it."""
    begun = sorted(path.parent.name for path in root.glob(f'*/{PACKED}'))
    try:
        listed = saved_splits(root)
    except DataError as error:
        return [str(error)]
    if not begun and not listed:
        return [f'{root} has neither {SEVERAL} nor <split>/{PACKED}: nothing was packed there']
    problems = [f'{root / split} is not packed to its end' for split in begun if split not in listed]
    for split in listed:
        try:
            problems += _file_problems(root / split)
            data = HuggingFaceImages(str(root), split, imdecode_backend=_strictest())
        except Failure as error:
            problems.append(f'{split}: {error}')
            continue
        print(f'{split}: {data.num_classes:,} classes, {len(data):,} images in {root / split}', flush=True)
        problems += [] if quick else _undecodable(data)
    return problems


def _file_problems(folder: Path) -> list[str]:
    """Return a line for each file that is not what was written."""
    if not (folder / SAVED).is_file():
        return [f'{folder / SAVED} is missing']
    shards = read_record(folder / PACKED)['shards'] if (folder / PACKED).is_file() else {}
    problems = []
    for file, written in track(shards.items(), len(shards), f'hashing {folder.name}'):
        if not (folder / file).is_file():
            problems.append(f'{folder / file} is missing')
        elif (got := sha256_of(folder / file)) != written['sha256']:
            problems.append(f'{folder / file} is damaged: expected sha256 {written["sha256"]}, got {got}')
    return problems


def _strictest() -> str:
    """OpenCV shows a JPEG that is damaged inside as a picture with wrong pixels; simplejpeg refuses it."""
    return 'simplejpeg' if importlib.util.find_spec('simplejpeg') else 'cv2'


def _undecodable(data: HuggingFaceImages) -> list[str]:
    def problem(row: int) -> str:
        try:
            data.decode(row)
        except DataError as error:
            return str(error)
        return ''

    rows, some = range(len(data)), 256  # a million futures at once would fill the memory
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = track([rows[start : start + some] for start in rows[::some]], -(-len(data) // some), 'decoding')
        return [found for part in parts for found in pool.map(problem, part) if found]
