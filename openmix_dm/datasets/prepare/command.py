"""The command behind tools/prepare_data.py."""

import argparse
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from openmix_dm.datasets.image_folder import EXTENSIONS, read_image
from openmix_dm.datasets.prepare import imagenet
from openmix_dm.datasets.prepare.archives import meter
from openmix_dm.engine.command import run_command
from openmix_dm.errors import DataError


class DataSet(Protocol):
    """What the module of a data set offers."""

    TITLE: str
    DEVKIT: str  # file name of what comes beside the archives, '' if nothing does

    def how_to_get(self, root: Path) -> str:
        """Say where the archives come from and what to do with them."""
        ...

    def prepare(self, root: Path, archive: Path, devkit: Path | None, verify: bool) -> str:
        """Unpack an archive below root; return what is there now."""
        ...

    def check(self, root: Path) -> list[str]:
        """Print how much is there; return what is wrong with it."""
        ...


DATA_SETS: dict[str, DataSet] = {'imagenet': imagenet}


def main(arguments: Sequence[str] | None = None) -> int:
    """Prepare or check a data set; return the exit code."""
    args = parse(arguments)
    return run_command(check if args.command == 'check' else prepare, args)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog='prepare_data.py', description='Unpack the archives of a data set, or check it.'
    )
    commands = parser.add_subparsers(dest='command', required=True)
    for name, data_set in DATA_SETS.items():
        add_prepare_arguments(commands.add_parser(name, help=f'unpack the archives of {data_set.TITLE}'), data_set)
    checker = commands.add_parser('check', help='count and check what is there')
    checker.add_argument('data_set', choices=sorted(DATA_SETS), help='name of the data set')
    checker.add_argument('--root', type=Path, required=True, help='folder of the data set')
    checker.add_argument('--full', action='store_true', help='decode each image too')
    return parser.parse_args(arguments)


def add_prepare_arguments(parser: argparse.ArgumentParser, data_set: DataSet) -> None:
    """Add what the preparation of a data set needs to know."""
    parser.add_argument('--root', type=Path, required=True, help='folder of the data set, made if it is not there')
    parser.add_argument('--archive', type=Path, help='a downloaded archive; without it, say where to get it')
    if data_set.DEVKIT:
        parser.add_argument('--devkit', type=Path, help=f'the downloaded {data_set.DEVKIT}')
    parser.add_argument('--no-verify', action='store_true', help='do not compare the md5 with the official one')


def prepare(args: argparse.Namespace) -> None:
    """Unpack an archive of a data set, or say where to get it."""
    data_set = DATA_SETS[args.command]
    if args.archive is None:
        print(data_set.how_to_get(args.root), flush=True)
        raise DataError(f'no --archive was given, nothing was done in {args.root}; what to do is said above')
    print(data_set.prepare(args.root, args.archive, getattr(args, 'devkit', None), not args.no_verify))
    print(f'next: python tools/prepare_data.py check {args.command} --root {args.root}')


def check(args: argparse.Namespace) -> None:
    """List what is wrong with a data set, and end with a verdict."""
    title = DATA_SETS[args.data_set].TITLE
    try:
        problems = DATA_SETS[args.data_set].check(args.root)
        problems += list_undecodable(args.root) if args.full else []
    except OSError as error:
        raise DataError(f'{title} in {args.root} cannot be read: {error}') from error
    for problem in problems:
        print(f'wrong: {problem}', flush=True)
    if problems:
        # A file of the right size is kept, so a damaged one must go first.
        todo = f'delete damaged files, then run python tools/prepare_data.py {args.data_set} again with the archives'
        raise DataError(f'{title} in {args.root} is not complete: {len(problems)} wrong (listed above); {todo}')
    print(f'{title} in {args.root} is complete{", each image can be decoded" if args.full else ""}')


def list_undecodable(root: Path) -> list[str]:
    """Return a line for each image below root that cannot be decoded."""
    images = list(find_images(root))
    problems: list[str] = []
    # Decoding leaves Python's lock, so threads are enough; by batches, since a million futures would fill the memory.
    with meter('decoding', len(images)) as advance, ThreadPoolExecutor(os.cpu_count()) as pool:
        for start in range(0, len(images), 256):
            batch = images[start : start + 256]
            problems += [problem for problem in pool.map(decoding_problem, batch) if problem]
            advance(len(batch))
    return problems


def find_images(root: Path) -> Iterator[str]:
    """List all images below root in a fixed order."""
    for folder, folders, files in os.walk(root):
        folders.sort()
        yield from (f'{folder}/{file}' for file in sorted(files) if file.lower().endswith(EXTENSIONS))


def decoding_problem(path: str) -> str:
    """Return why an image cannot be decoded, or nothing."""
    try:
        read_image(Path(path))
    except DataError as error:
        return str(error)
    except Exception as error:  # whatever a decoder raises is a finding about the file
        return f'{path} cannot be decoded as an image ({error})'
    return ''
