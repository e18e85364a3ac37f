"""Look through what was packed, and report what is wrong with it."""

from pathlib import Path

from openmix_dm.datasets.arrow.hugging_face import HuggingFaceImages
from openmix_dm.datasets.arrow.opening import PACKED, SAVED, SEVERAL, read_record, saved_splits
from openmix_dm.datasets.prepare.checking import STRICTEST, list_undecodable
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
            data = HuggingFaceImages(str(root), split, imdecode_backend=STRICTEST)
        except Failure as error:
            problems.append(f'{split}: {error}')
            continue
        print(f'{split}: {data.num_classes:,} classes, {len(data):,} images in {root / split}', flush=True)
        problems += [] if quick else list_undecodable(range(len(data)), data.decode)
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
