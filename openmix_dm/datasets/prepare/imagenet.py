"""ImageNet-1k (ILSVRC 2012): the official archives to root/{train,val}/<synset>/*.JPEG, and a check of the result."""

import re
from collections.abc import Iterator
from pathlib import Path

from openmix_dm.datasets.image_folder import list_folders
from openmix_dm.datasets.prepare.archives import Tree, check_target, open_tree, require_file, verify_hash
from openmix_dm.datasets.prepare.checking import Findings, check_folder, several
from openmix_dm.datasets.prepare.data_set import DataSet, Request
from openmix_dm.errors import DataError
from openmix_dm.utils.progress import Progress

TRAIN, VAL, DEVKIT = 'ILSVRC2012_img_train.tar', 'ILSVRC2012_img_val.tar', 'ILSVRC2012_devkit_t12.tar.gz'
SYNSET, TRAIN_IMAGE, VAL_IMAGE = 'n[0-9]{8}', r'n[0-9]{8}_[0-9]{1,9}\.JPEG', r'ILSVRC2012_val_[0-9]{8}\.JPEG'
MEMBERS = {'train': rf'{SYNSET}\.tar', 'val': VAL_IMAGE}


class ImageNet(DataSet):
    """ImageNet as a folder of JPEGs for each synset."""

    name, title, classes = 'imagenet', 'ImageNet-1k', 1000
    counts = {'train': 1_281_167, 'val': 50_000}
    balanced = ('val',)
    hashes = {
        TRAIN: '1d675b47d978889d74fa0da5fadfb00e',
        VAL: '29b22e2961454d5413ddabcf34fc5622',
        DEVKIT: 'fa75699e90414af021442c21a62c3abf',
    }
    how_to_get = (
        'ImageNet-1k needs an account: register at https://image-net.org, accept its terms and download (ILSVRC 2012)\n'
        f'  {TRAIN} (138 GB), {VAL} (6.3 GB) and {DEVKIT} (2.5 MB). Then run\n'
        f'  {{command}} imagenet --root {{root}} --archive {TRAIN}\n'
        f'  {{command}} imagenet --root {{root}} --archive {VAL} --devkit {DEVKIT}\n'
        '  {command} check imagenet --root {root}'
    )
    devkit = DEVKIT

    def prepare(self, request: Request) -> str:
        """Unpack the archives that were given, or say where to get them."""
        given = request.archives or self.download(request.root)
        return '\n'.join(self.take(request, archive) for archive in given)

    def take(self, request: Request, archive: Path) -> str:
        """Unpack the train or the val archive; return what is there now."""
        require_file(archive, '--archive', f'{TRAIN} or {VAL}')
        expected = f'{TRAIN} (of n01440764.tar, ...) or {VAL} (of ILSVRC2012_val_00000001.JPEG, ...)'
        with open_tree(archive, expected=expected) as tree:
            first = next(iter(tree.sizes), 'no files')
            split = next((split for split, pattern in MEMBERS.items() if re.fullmatch(pattern, first)), '')
            if not split:
                got = f'got one of {first!r}; see https://image-net.org'
                raise DataError(f'{archive} is another archive: expected {expected}, {got}')
            labels = self.read_devkit(request, archive) if split == 'val' else None
            folder, size, written, images = request.root / split, archive.stat().st_size, 0, 0
            check_target(folder, size)
            if request.verify:
                name = TRAIN if labels is None else VAL
                verify_hash(archive, self.hashes[name], name)
            with Progress(f'unpacking {split}', size) as progress:
                for part, targets in images_of(tree, folder, labels):
                    written, images = written + part.unpack(targets, progress), images + len(targets)
                progress.update(size)  # the headers of an archive are not counted on the way
        odd = '' if images == self.counts[split] else f'; the official archive has {self.counts[split]:,}'
        return f'{split}: {images:,} images in {folder} ({written:,} written, {images - written:,} already there){odd}'

    def read_devkit(self, request: Request, archive: Path) -> dict[str, str]:
        """Return the synset of each validation image by its name.

        torchvision's parser takes no other devkit, unpacks it unchecked, and writes into the folder that it is in.
        """
        devkit, data = request.devkit, 'ILSVRC2012_devkit_t12/data'
        if devkit is None:
            labels = f'its labels are in {DEVKIT}, which image-net.org has too'
            raise DataError(f'{archive} is the val archive: expected --devkit {DEVKIT} with it, got none; {labels}')
        require_file(devkit, '--devkit', DEVKIT)
        if request.verify:
            verify_hash(devkit, self.hashes[DEVKIT], DEVKIT)
        with open_tree(devkit, expected=DEVKIT) as tree:
            truth = tree.lines(f'{data}/ILSVRC2012_validation_ground_truth.txt')
            rows = tree.rows(f'{data}/meta.mat', 'synsets', 'ILSVRC2012_ID', 'WNID')
        synsets = {str(int(number)): str(synset) for number, synset in rows if number <= self.classes}  # the leaves
        for synset in synsets.values():
            if not re.fullmatch(SYNSET, synset):  # it becomes the name of a folder
                raise DataError(f'{devkit}: WNID in meta.mat must be like n01440764, got {synset!r}')
        try:
            return {f'ILSVRC2012_val_{number:08d}.JPEG': synsets[line] for number, line in enumerate(truth, start=1)}
        except KeyError as error:
            hint = f'must hold IDs of meta.mat, got {error.args[0]}; download it again'
            raise DataError(f'{devkit}: the ground truth {hint}') from error

    def check(self, root: Path) -> Findings:
        """Print how much is there; return what is wrong with it, and the images."""
        problems, images = check_folder(root, tuple(self.counts))
        for split in self.counts:
            classes = list_folders(root / split)
            places = {name: place for place, name in enumerate(classes)}
            labels = [places[image.parent.name] for image in images if image.parent.parent.name == split]
            problems += self.count_problems(split, classes, labels)
            others = [name for name in classes if not re.fullmatch(SYNSET, name)]
            problems += several(f'{split}: folders that are no synsets', others)
        return problems, images


def images_of(tree: Tree, folder: Path, labels: dict[str, str] | None) -> Iterator[tuple[Tree, dict[str, Path]]]:
    """Yield trees of images and the paths to unpack them to: val by its labels, or the archive of each train synset."""
    refuse_others(tree, MEMBERS['train' if labels is None else 'val'])
    if labels is not None:
        for name in tree.sizes:
            if name not in labels:
                wanted = f'a number from 1 to {len(labels)} (lines of the ground truth)'
                raise DataError(f'{name} has no label: expected {wanted}')
        yield tree, {name: folder / labels[name] / name for name in tree.sizes}
        return
    for name in tree.sizes:
        with open_tree(Path(tree.label), tree.open(name), f'{tree.label}:{name}') as inner:
            refuse_others(inner, TRAIN_IMAGE)
            yield inner, {file: folder / name.removesuffix('.tar') / file for file in inner.sizes}


def refuse_others(tree: Tree, pattern: str) -> None:
    """Refuse an archive if any of its files is not named as expected."""
    for name in tree.sizes:
        if not re.fullmatch(pattern, name):
            raise DataError(f'{tree.label} holds {name!r}, expected only names like {pattern}')
