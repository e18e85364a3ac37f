"""What is known about a published data set, its files wherever they are, and what is wrong with a prepared one."""

import json
import os
import shlex
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from openmix_dm.datasets.prepare.archives import Tree, check_target, open_tree, verify_hash, write_file
from openmix_dm.datasets.prepare.checking import Findings, several
from openmix_dm.datasets.prepare.download import fetch
from openmix_dm.datasets.reading.index_cache import FOLDER as NOTES
from openmix_dm.datasets.splits.labelled import standard_splits
from openmix_dm.datasets.splits.split_files import FOLDER as SPLITS
from openmix_dm.datasets.splits.split_files import PACKAGE
from openmix_dm.errors import DataError
from openmix_dm.invocation import command
from openmix_dm.registry import DATASETS

PUBLISHED = json.loads(Path(__file__).with_name('published.json').read_text())


@dataclass(kw_only=True)
class DataSet(ABC):
    """A published data set: facts, which published.json has of each, what is asked for, and what is done with them."""

    name: str  # of the command, and of its folder below that of all data sets
    title: str  # for people
    loader: str  # registered name of what serves it as soon as it is prepared
    classes: int
    counts: dict[str, int]  # images of each split
    side: int = 0  # pixels of small images
    hashes: dict[str, str]  # of the published archives by their names; '' if it is not known
    balanced: Sequence[str] = ()  # splits with equally many images of each class
    unpacked: Sequence[str] = ()  # one of these in root tells that the archives were unpacked there
    url: str = ''  # of the archive, if it can be downloaded
    how_to_get: Sequence[str] = ()  # else lines that say what to do, with places for {command} and {root}
    devkit_name: str = ''  # of what comes beside the archives
    root: Path  # folder of what is prepared
    archives: tuple[Path, ...] = ()  # files that the user has
    devkit: Path | None = None
    verify: bool = True  # take the published archives and counts only
    fetch = staticmethod(fetch)  # what downloads an archive to a path

    @abstractmethod
    def read(self, tree: Tree) -> Any:
        """Return what the published files say."""

    @abstractmethod
    def prepare(self) -> str:
        """Write what the loader reads; return what is there now."""

    def open(self) -> Iterator[Tree]:
        """Yield the archives that were given, or root if they were unpacked there, or the download."""
        if len(self.archives) > len(self.hashes):
            raise DataError(f'--archive: expected {", ".join(self.hashes)} alone, got {len(self.archives)} files')
        for path in self.archives:
            known = {path.name: self.hashes[path.name]} if path.name in self.hashes else self.hashes  # it was renamed
            if not path.is_file() and not path.is_dir():
                why = f'expected {" or ".join(known)}, got no such file; give the path of the downloaded file'
                raise DataError(f'{path} cannot be read: {why}')
            if self.verify and path.is_file() and all(known.values()):
                verify_hash(path, ' or '.join(known.values()), ' or '.join(known))
        unpacked = any((self.root / name).exists() for name in self.unpacked)
        for path in self.archives or ([self.root] if unpacked else self.download()):
            with open_tree(path, expected=' or '.join(self.hashes)) as tree:
                yield tree

    def download(self) -> Iterator[Path]:
        """Yield the download, and remove it after its use; another file than the published one is not kept either."""
        if not self.url:
            places = {'root': shlex.quote(str(self.root)), 'command': command('data')}
            print('\n'.join(self.how_to_get).format(**places), flush=True)
            raise DataError(f'no --archive was given, nothing was done in {self.root}; what to do is said above')
        name, expected = next(iter(self.hashes.items()))
        path = self.root / 'downloads' / name
        check_target(path.parent, 0)
        if not path.is_file():
            self.fetch(self.url, path)
        try:
            verify_hash(path, expected, name)
        except DataError:
            discard(path)
            raise
        yield path
        discard(path)

    def finish(self, classes: list[str], labels: Mapping[str, np.ndarray], how: str) -> str:
        """Keep the splits of the paper's tables that are not part of this package; return what is there now."""
        for file, content in (standard_splits(self.name, labels['train']) if self.verify else {}).items():
            path = self.root / SPLITS / file
            if not (PACKAGE / file).is_file() and not path.is_file():
                write_file(path, content)
        counts = ', '.join(f'{len(of):,} {split}' for split, of in labels.items())
        return f'{self.title}: {counts} images of {len(classes)} classes in {self.root} ({how})'

    def load(self) -> tuple[dict[str, Any], list[str]]:
        """Return the splits that the loader takes, and what is wrong with the others."""
        shutil.rmtree(self.root / NOTES, ignore_errors=True)  # hashes that were right before are to be looked at again
        loaded, problems = {}, []
        for split in self.counts:
            try:
                loaded[split] = DATASETS.get(self.loader)(str(self.root.absolute()), split)
            except DataError as error:
                problems.append(str(error))
        return loaded, list(dict.fromkeys(problems))  # some are the same for all splits

    def check(self) -> Findings:
        """Print how much is there; return what is wrong with it, and the image files."""
        loaded, problems = self.load()
        images: list[Path] = []
        for split, data in loaded.items():
            print(f'{split}: {len(data.classes):,} classes, {len(data):,} images in {self.root}', flush=True)
            problems += self.count_problems(split, data.classes, data.labels)
            found = {os.fsdecode(path): data.folder / os.fsdecode(path) for path in getattr(data, 'paths', ())}
            problems += several(f'{split}: missing files', [name for name in found if not found[name].is_file()])
            images += filter(Path.is_file, found.values())
        return problems, images

    def count_problems(self, split: str, classes: list[str], labels: Any) -> list[str]:
        """Compare the images that each class has with the published numbers."""
        found = np.bincount(labels, minlength=len(classes))
        count, share = self.counts[split], self.counts[split] // self.classes if split in self.balanced else 0
        wrong = [f'{classes[k]} ({number:,})' for k, number in enumerate(found) if number != (share or max(number, 1))]
        problems = several(f'{split}: classes with a wrong number of images', wrong)
        if (len(classes), len(labels)) != (self.classes, count):
            wanted = f'{self.classes:,} classes and {count:,} images'
            problems.insert(0, f'{split}: expected {wanted}, got {len(classes):,} and {len(labels):,}')
        return problems


def discard(path: Path) -> None:
    """Remove a download, and its folder if it was the last."""
    path.unlink(missing_ok=True)
    with suppress(OSError):
        path.parent.rmdir()
