"""ImageNet-1k (ILSVRC 2012): the official archives to root/{train,val}/<synset>/*.JPEG, and a check of the result."""

import io
import os
import re
import shlex
import tarfile
from pathlib import Path

import numpy as np

from openmix_dm.datasets.image_folder import EXTENSIONS
from openmix_dm.datasets.prepare import archives
from openmix_dm.datasets.prepare.checking import several
from openmix_dm.datasets.prepare.request import OFFICIAL_ONLY, Request
from openmix_dm.errors import DataError

TITLE, ROOT, SOURCES = 'ImageNet-1k', 'imagenet', OFFICIAL_ONLY
DEVKIT = 'ILSVRC2012_devkit_t12.tar.gz'
ARCHIVES = {'train': 'ILSVRC2012_img_train.tar', 'val': 'ILSVRC2012_img_val.tar'}
CLASSES = 1000
IMAGES = {'train': 1_281_167, 'val': 50_000}
VAL_IMAGES_PER_CLASS = 50
MD5 = {
    'train': '1d675b47d978889d74fa0da5fadfb00e',
    'val': '29b22e2961454d5413ddabcf34fc5622',
    'devkit': 'fa75699e90414af021442c21a62c3abf',
}

SYNSET = re.compile(r'n[0-9]{8}')
MEMBERS = {
    'train': re.compile(r'(?:\./)?(n[0-9]{8})\.tar'),
    'val': re.compile(r'(?:\./)?(ILSVRC2012_val_[0-9]{8}\.JPEG)'),
}
TRAIN_IMAGE = re.compile(r'(?:\./)?(n[0-9]{8}_[0-9]{1,9}\.JPEG)')
DEVKIT_DATA = 'ILSVRC2012_devkit_t12/data'


def how_to_get(root: Path) -> str:
    """Say where the archives come from and what to do with them."""
    command = 'python tools/prepare_data.py'
    folder = shlex.quote(str(root))
    return (
        f'{TITLE} needs an account: register at https://image-net.org, accept its terms and download (ILSVRC 2012)\n'
        f'  {ARCHIVES["train"]} (138 GB), {ARCHIVES["val"]} (6.3 GB) and {DEVKIT} (2.5 MB). Then run\n'
        f'  {command} imagenet --root {folder} --archive {ARCHIVES["train"]}\n'
        f'  {command} imagenet --root {folder} --archive {ARCHIVES["val"]} --devkit {DEVKIT}\n'
        f'  {command} check imagenet --root {folder}'
    )


def prepare(request: Request) -> str:
    """Unpack the archives that were given, or say where to get them."""
    if not request.archives:
        print(how_to_get(request.root), flush=True)
        raise DataError(f'no --archive was given, nothing was done in {request.root}; what to do is said above')
    return '\n'.join(take(request.root, path, request.devkit, request.verify) for path in request.archives)


def take(root: Path, archive: Path, devkit: Path | None, verify: bool) -> str:
    """Unpack the train or the val archive; return what is there now."""
    archives.require_file(archive, '--archive', ' or '.join(ARCHIVES.values()))
    split = recognise(archive)
    synsets = read_devkit(devkit, archive, verify) if split == 'val' else []
    archives.check_target(root / split, archive.stat().st_size)
    if verify:
        archives.verify_md5(archive, MD5[split], f'{split} archive')
    with archives.open_tar(archive) as tar, archives.meter(f'unpacking {split}', archive.stat().st_size) as advance:
        members = archives.list_files(tar, MEMBERS[split], str(archive))
        if split == 'val':
            targets = {root / 'val' / synset_of(name, synsets) / name: member for name, member in members.items()}
            written, images = archives.unpack(tar, targets, str(archive), advance), len(targets)
        else:
            written, images = unpack_train(tar, members, root / 'train', archive, advance)
    return summary(root / split, split, images, written)


def recognise(archive: Path) -> str:
    """Tell the split of an archive by its first file."""
    wanted = f'{ARCHIVES["train"]} (of n01440764.tar, ...) or {ARCHIVES["val"]} (of ILSVRC2012_val_00000001.JPEG, ...)'
    with archives.open_tar(archive, expected=wanted) as tar:
        first = next((member for member in tar if not member.isdir()), None)
    if first is None:
        raise DataError(f'{archive} has no files; expected {wanted}')
    archives.check_member(first, str(archive))
    for split, pattern in MEMBERS.items():
        if pattern.fullmatch(first.name):
            return split
    raise DataError(
        f'{archive} is another archive: expected {wanted}, got one of {first.name!r}; see https://image-net.org'
    )


def unpack_train(
    outer: tarfile.TarFile,
    members: dict[str, tarfile.TarInfo],
    folder: Path,
    archive: Path,
    advance: archives.Advance,
) -> tuple[int, int]:
    """Unpack the archive of each synset where it lies in the outer one; return images written and images in all."""
    written = images = 0
    for synset, member in members.items():
        label = f'{archive}:{member.name}'
        content = archives.open_member(outer, member, label)
        with archives.open_tar(archive, content, label) as tar:
            files = archives.list_files(tar, TRAIN_IMAGE, label)
            targets = {folder / synset / name: file for name, file in files.items()}
            written += archives.unpack(tar, targets, label, advance)
            images += len(targets)
    return written, images


def summary(folder: Path, split: str, images: int, written: int) -> str:
    """Say in one line what was done, and if the archive held less than the official one."""
    odd = '' if images == IMAGES[split] else f'; the official archive has {IMAGES[split]:,}'
    return f'{split}: {images:,} images in {folder} ({written:,} written, {images - written:,} already there){odd}'


def read_devkit(devkit: Path | None, archive: Path, verify: bool) -> list[str]:
    """Return the synset of each validation image, in the order of their numbers."""
    if devkit is None:
        labels = f'its labels are in {DEVKIT}, which image-net.org has too'
        raise DataError(f'{archive} is the val archive: expected --devkit {DEVKIT} with it, got none; {labels}')
    archives.require_file(devkit, '--devkit', DEVKIT)
    if verify:
        archives.verify_md5(devkit, MD5['devkit'], 'devkit')
    with archives.open_tar(devkit, mode='r:gz', expected=DEVKIT) as tar:
        truth = archives.read_named(tar, f'{DEVKIT_DATA}/ILSVRC2012_validation_ground_truth.txt', str(devkit))
        synsets = read_synsets(archives.read_named(tar, f'{DEVKIT_DATA}/meta.mat', str(devkit)), devkit)
    try:
        return [synsets[int(line)] for line in truth.split()]
    except (KeyError, ValueError) as error:
        raise DataError(
            f'{devkit}: the ground truth must hold IDs of meta.mat, got {error}; download it again'
        ) from error


def read_synsets(meta: bytes, devkit: Path) -> dict[int, str]:
    """Return the synsets of the 1,000 classes by their ILSVRC2012_ID; higher IDs are inner nodes of WordNet."""
    from scipy.io import loadmat

    try:
        rows = np.atleast_1d(loadmat(io.BytesIO(meta), squeeze_me=True)['synsets'])
        table = {int(row['ILSVRC2012_ID']): str(row['WNID']) for row in rows}
    except Exception as error:  # the parser of a foreign format raises anything on a damaged file
        raise DataError(f'{devkit}: meta.mat has no table of synsets ({error!r}); download it again') from error
    leaves = {number: synset for number, synset in table.items() if number <= CLASSES}
    wrong = [synset for synset in leaves.values() if not SYNSET.fullmatch(synset)]
    if wrong:  # they become names of folders
        raise DataError(f'{devkit}: WNID in meta.mat must be like n01440764, got {wrong[0]!r}')
    return leaves


def synset_of(name: str, synsets: list[str]) -> str:
    """Return the synset of ILSVRC2012_val_<number>.JPEG; numbers start at 1."""
    number = int(name.removesuffix('.JPEG').rpartition('_')[2])
    if not 1 <= number <= len(synsets):
        raise DataError(f'{name} has no label: expected a number from 1 to {len(synsets)} (lines of the ground truth)')
    return synsets[number - 1]


def check(root: Path) -> list[str]:
    """Print how much is there; return what is wrong with it."""
    splits = {split: list_split(root / split) for split in ARCHIVES}
    problems = [problem for split, classes in splits.items() for problem in check_split(root / split, split, classes)]
    # Labels are the places of the sorted folders: one folder too many shifts all that follow.
    for split, other in (('train', 'val'), ('val', 'train')):
        if splits[split] and splits[other]:
            problems += several(
                f'{split} has classes that {other} has not', sorted({*splits[split]} - {*splits[other]})
            )
    return problems


def list_split(folder: Path) -> dict[str, list[str]]:
    """Return the names of the files in each folder of a split."""
    classes = sorted(entry.name for entry in folder.iterdir() if entry.is_dir()) if folder.is_dir() else []
    return {name: sorted(entry.name for entry in os.scandir(folder / name)) for name in classes}


def check_split(folder: Path, split: str, classes: dict[str, list[str]]) -> list[str]:
    """Compare a split with the official numbers."""
    counts = {name: sum(file.lower().endswith(EXTENSIONS) for file in files) for name, files in classes.items()}
    images = sum(counts.values())
    print(f'{split}: {len(classes):,} classes, {images:,} images in {folder}', flush=True)
    problems = []
    if (len(classes), images) != (CLASSES, IMAGES[split]):
        wanted = f'{CLASSES:,} classes and {IMAGES[split]:,} images'
        problems.append(f'{split}: expected {wanted}, got {len(classes):,} and {images:,} in {folder}')
    problems += several(
        f'{split}: folders that are no synsets', [name for name in classes if not SYNSET.fullmatch(name)]
    )
    right = range(1, images + 1) if split == 'train' else (VAL_IMAGES_PER_CLASS,)
    short = [f'{name} ({count})' for name, count in counts.items() if count not in right]
    problems += several(f'{split}: classes with a wrong number of images', short)
    others = [
        f'{name}/{file}' for name, files in classes.items() for file in files if not file.lower().endswith(EXTENSIONS)
    ]
    return problems + several(f'{split}: files that are no images', others)
