"""The command behind tools/prepare_data.py."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from openmix_dm.datasets.prepare import aircraft, cars, cub200, imagenet, tiny_imagenet
from openmix_dm.datasets.prepare.cifar import CIFAR10, CIFAR100
from openmix_dm.datasets.prepare.decoding import list_undecodable
from openmix_dm.datasets.prepare.request import OFFICIAL, DataSet, Request
from openmix_dm.datasets.roots import DATA_VARIABLE, resolve_root
from openmix_dm.engine.command import run_command
from openmix_dm.errors import DataError

DATA_SETS: dict[str, DataSet] = {
    'cifar10': CIFAR10,
    'cifar100': CIFAR100,
    'tiny-imagenet': tiny_imagenet,
    'imagenet': imagenet,
    'cub200': cub200,
    'aircraft': aircraft,
    'cars': cars,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Prepare or check a data set; return the exit code."""
    args = parse(arguments)
    return run_command(check if args.command == 'check' else prepare, args)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog='prepare_data.py',
        description='Make the files that the loaders read of a published data set, or check them.',
    )
    commands = parser.add_subparsers(dest='command', required=True)
    for name, data_set in DATA_SETS.items():
        add_prepare_arguments(commands.add_parser(name, help=f'prepare {data_set.TITLE}'), data_set)
    checker = commands.add_parser('check', help='count, compare with hashes and decode what is there')
    checker.add_argument('data_set', choices=sorted(DATA_SETS), help='name of the data set')
    add_root(checker)
    checker.add_argument('--quick', action='store_true', help='do not decode each image')
    return parser.parse_args(arguments)


def add_prepare_arguments(parser: argparse.ArgumentParser, data_set: DataSet) -> None:
    """Add what the preparation of a data set needs to know."""
    add_root(parser)
    parser.add_argument(
        '--archive',
        type=Path,
        nargs='+',
        default=[],
        help='downloaded archives; without, they are downloaded if possible',
    )
    if data_set.DEVKIT:
        parser.add_argument('--devkit', type=Path, help=f'the downloaded {data_set.DEVKIT}')
    if len(data_set.SOURCES) > 1:
        parser.add_argument('--source', choices=data_set.SOURCES, default=OFFICIAL, help='where the data comes from')
    parser.add_argument('--no-verify', action='store_true', help='accept other checksums and counts than the official')


def add_root(parser: argparse.ArgumentParser) -> None:
    """Add the folder of the data set."""
    parser.add_argument(
        '--root', type=Path, help=f'folder of the data set (default: its name below ${DATA_VARIABLE} or ./data)'
    )


def prepare(args: argparse.Namespace) -> None:
    """Make the files of a data set."""
    data_set = DATA_SETS[args.command]
    root = args.root or resolve_root(data_set.ROOT)
    options = {name: value for name in ('devkit', 'source') if (value := getattr(args, name, None)) is not None}
    print(data_set.prepare(Request(root, tuple(args.archive), verify=not args.no_verify, **options)))
    print(f'next: python tools/prepare_data.py check {args.command} --root {root}')


def check(args: argparse.Namespace) -> None:
    """List what is wrong with a data set, and end with a verdict."""
    data_set = DATA_SETS[args.data_set]
    root = args.root or resolve_root(data_set.ROOT)
    try:
        problems = data_set.check(root)
        problems += [] if args.quick else list_undecodable(root)
    except OSError as error:
        raise DataError(f'{data_set.TITLE} in {root} cannot be read: {error}') from error
    for problem in problems:
        print(f'wrong: {problem}', flush=True)
    if problems:
        # A file of the right size is kept, so a damaged one must go first.
        todo = f'delete damaged files, then run python tools/prepare_data.py {args.data_set} --root {root} again'
        raise DataError(f'{data_set.TITLE} in {root} is not complete: {len(problems)} wrong (listed above); {todo}')
    print(f'{data_set.TITLE} in {root} is complete{"" if args.quick else ", each image can be decoded"}')
