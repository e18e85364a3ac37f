"""The command behind tools/prepare_data.py."""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from openmix_dm.commands.command_line import run_command
from openmix_dm.commands.pack_data import add_pack_arguments, own_root, pack
from openmix_dm.commands.parser import CommandParser, user_path
from openmix_dm.datasets.prepare.checking import STRICTEST, Findings, check_folder, check_list, list_undecodable
from openmix_dm.datasets.prepare.data_set import PUBLISHED, DataSet
from openmix_dm.datasets.prepare.fine_grained import CUB200, Aircraft, Cars
from openmix_dm.datasets.prepare.imagenet import ImageNet
from openmix_dm.datasets.prepare.pack_check import check_packed
from openmix_dm.datasets.prepare.small_images import CIFAR, Sheets, TinyImageNet
from openmix_dm.datasets.reading.decode import read_image
from openmix_dm.datasets.roots import DATA_VARIABLE, resolve_root
from openmix_dm.errors import DataError
from openmix_dm.invocation import command

DATA_SETS: dict[str, type[DataSet]] = {
    'cifar10': CIFAR,
    'cifar100': CIFAR,
    'tiny-imagenet': TinyImageNet,
    'imagenet': ImageNet,
    'cub200': CUB200,
    'aircraft': Aircraft,
    'cars': Cars,
}
MIRRORS: dict[str, dict[str, type[DataSet]]] = {'cifar10': {'npm': Sheets}}  # the same from other sources
OFFICIAL = 'official'
OWN = ('folder', 'list', 'packed')


def main(arguments: Sequence[str] | None = None) -> int:
    """Prepare or check a data set; return the exit code."""
    args = parse(arguments)
    return run_command(args.run, args)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line; each sub-command says by `run` what it does."""
    parser = CommandParser(
        prog=command('data'),
        description='Make the files that the loaders read of a published data set, or check them.',
    )
    commands = parser.add_subparsers(dest='command', required=True)
    for name in DATA_SETS:
        maker = commands.add_parser(name, help=f'prepare {PUBLISHED[name]["title"]}')
        maker.set_defaults(run=prepare)
        add_root(maker)
        maker.add_argument(
            '--archive',
            type=user_path,
            nargs='+',
            default=[],
            help='downloaded archives; without, they are downloaded if possible',
        )
        if devkit := PUBLISHED[name].get('devkit_name'):
            maker.add_argument('--devkit', type=user_path, help=f'the downloaded {devkit}')
        if name in MIRRORS:
            sources = (OFFICIAL, *MIRRORS[name])
            maker.add_argument('--source', choices=sources, default=OFFICIAL, help='where the data comes from')
        maker.add_argument(
            '--no-verify', action='store_true', help='accept other checksums and counts than the official'
        )
    checker = commands.add_parser('check', help='count, compare with hashes and decode what is there')
    checker.set_defaults(run=check)
    checker.add_argument(
        'data_set', choices=[*DATA_SETS, *OWN], help='name of the data set; folder, list or packed for one of your own'
    )
    add_root(checker)
    checker.add_argument('--list', type=user_path, help='for list: file of lines "path label", below the root')
    checker.add_argument('--classes', type=int, help='for list: how many classes there are')
    checker.add_argument('--quick', action='store_true', help='do not decode each image')
    packer = commands.add_parser('pack', help='write a data set into a few large files, which load faster')
    packer.set_defaults(run=pack)
    add_pack_arguments(packer)
    return parser.parse_args(arguments)


def add_root(parser: argparse.ArgumentParser) -> None:
    """Add the folder of the data set."""
    parser.add_argument(
        '--root', type=user_path, help=f'folder of the data set (default: its name below ${DATA_VARIABLE} or ./data)'
    )


def prepare(args: argparse.Namespace) -> None:
    """Make the files of a data set."""
    root = args.root or resolve_root(args.command)
    source = getattr(args, 'source', OFFICIAL)
    kind = DATA_SETS[args.command] if source == OFFICIAL else MIRRORS[args.command][source]
    facts = PUBLISHED[args.command] | PUBLISHED.get(f'{args.command} of {source}', {})
    given: dict[str, Any] = {
        'archives': tuple(args.archive),
        'devkit': getattr(args, 'devkit', None),
        'verify': not args.no_verify,
    }
    print(kind(name=args.command, root=root, **facts, **given).prepare())
    print(f'next: {command("data", "check", args.command, "--root", root)}')


def check(args: argparse.Namespace) -> None:
    """List what is wrong with a data set, and end with a verdict."""
    if args.data_set in OWN:
        title, root = f'the {args.data_set}', own_root(args.root or Path())
        todo = 'repair or remove what is listed above'
        if args.data_set == 'packed':
            title = 'the packed data set'
            todo = f'delete damaged files, then run the same {command("data", "pack")} again'
    else:
        title, root = PUBLISHED[args.data_set]['title'], args.root or resolve_root(args.data_set)
        # A file of the right size is kept, so a damaged one must go first.
        todo = f'delete damaged files, then run {command("data", args.data_set, "--root", root)} again'
    try:
        problems, images = look_through(args, root)
        problems += [] if args.quick else list_undecodable(images, partial(read_image, backend=STRICTEST))
    except OSError as error:
        raise DataError(f'{title} in {root} cannot be read: {error}') from error
    for problem in problems:
        print(f'wrong: {problem}', flush=True)
    if problems:
        raise DataError(f'{title} in {root} is not complete: {len(problems)} wrong (listed above); {todo}')
    print(f'{title} in {root} is complete{"" if args.quick else ", each image can be decoded"}')


def look_through(args: argparse.Namespace, root: Path) -> Findings:
    """Return what is wrong with a data set, and its images."""
    if args.data_set == 'folder':
        return check_folder(root)
    if args.data_set == 'packed':
        return check_packed(root, args.quick), []
    if args.data_set == 'list':
        if args.list is None:
            raise DataError('check list: expected --list FILE, a file of lines "path label", got none')
        return check_list(root, args.list, args.classes)
    return DATA_SETS[args.data_set](name=args.data_set, root=root, **PUBLISHED[args.data_set]).check()
