"""The command behind tools/prepare_data.py."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openmix_dm.commands.command_line import run_command
from openmix_dm.datasets.prepare import aircraft, cars, cub200, imagenet, tiny_imagenet
from openmix_dm.datasets.prepare import checking as own
from openmix_dm.datasets.prepare.checking import find_images, list_undecodable
from openmix_dm.datasets.prepare.cifar import CIFAR10, CIFAR100
from openmix_dm.datasets.prepare.pack import pack_split
from openmix_dm.datasets.prepare.pack_check import check_packed
from openmix_dm.datasets.prepare.pack_encoding import QUALITY, SHARD_IMAGES, Packing
from openmix_dm.datasets.prepare.pack_sources import NAMES, PUBLISHED, open_named
from openmix_dm.datasets.prepare.request import OFFICIAL, DataSet, Request
from openmix_dm.datasets.roots import DATA_VARIABLE, resolve_root
from openmix_dm.errors import ConfigError, DataError
from openmix_dm.registry import DATASETS
from openmix_dm.utils.suggest import did_you_mean

DATA_SETS: dict[str, DataSet] = {
    'cifar10': CIFAR10,
    'cifar100': CIFAR100,
    'tiny-imagenet': tiny_imagenet,
    'imagenet': imagenet,
    'cub200': cub200,
    'aircraft': aircraft,
    'cars': cars,
}

OWN = ('folder', 'list', 'packed')


def main(arguments: Sequence[str] | None = None) -> int:
    """Prepare or check a data set; return the exit code."""
    args = parse(arguments)
    return run_command({'check': check, 'pack': pack}.get(args.command, prepare), args)


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
    checker.add_argument(
        'data_set', choices=[*DATA_SETS, *OWN], help='name of the data set; folder, list or packed for one of your own'
    )
    add_root(checker)
    checker.add_argument('--list', type=Path, help='for list: file of lines "path label", below the root')
    checker.add_argument('--classes', type=int, help='for list: how many classes there are')
    checker.add_argument('--quick', action='store_true', help='do not decode each image')
    add_pack_arguments(commands.add_parser('pack', help='write a data set as a few large files, for HuggingFaceImages'))
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


def add_pack_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is packed, and how."""
    parser.add_argument(
        'data_set',
        metavar='NAME',
        help=f'{", ".join(PUBLISHED)}, digits, folder, list, or a config whose data is meant',
    )
    add_root(parser)
    parser.add_argument('--list', type=Path, help='for list: file of lines "path label", below the root')
    parser.add_argument('--classes', type=int, help='for list: how many classes there are')
    parser.add_argument('--split', nargs='+', default=[], help='splits to pack (default: all that there are)')
    parser.add_argument('--out', help=f'folder to write, below ${DATA_VARIABLE} or ./data (default: <root>-packed)')
    parser.add_argument('--short-edge', type=int, help='resize larger images to it, as JPEGs (default: keep all files)')
    parser.add_argument('--quality', type=int, help=f'of these JPEGs, 1 to 100 (default: {QUALITY})')
    parser.add_argument(
        '--shard-images', type=int, default=SHARD_IMAGES, help=f'images in a file (default: {SHARD_IMAGES})'
    )


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
    if args.data_set in OWN:
        title, root = f'the {args.data_set}', resolve_root(str(args.root or ''))
        todo = 'repair or remove what is listed above'
        if args.data_set == 'packed':
            title, todo = 'the packed data set', 'delete damaged files, then run the same prepare_data.py pack again'
    else:
        title, root = DATA_SETS[args.data_set].TITLE, args.root or resolve_root(DATA_SETS[args.data_set].ROOT)
        # A file of the right size is kept, so a damaged one must go first.
        todo = f'delete damaged files, then run python tools/prepare_data.py {args.data_set} --root {root} again'
    try:
        problems, images = look_through(args, root)
        problems += [] if args.quick else list_undecodable(images)
    except OSError as error:
        raise DataError(f'{title} in {root} cannot be read: {error}') from error
    for problem in problems:
        print(f'wrong: {problem}', flush=True)
    if problems:
        raise DataError(f'{title} in {root} is not complete: {len(problems)} wrong (listed above); {todo}')
    print(f'{title} in {root} is complete{"" if args.quick else ", each image can be decoded"}')


def look_through(args: argparse.Namespace, root: Path) -> own.Findings:
    """Return what is wrong with a data set, and its images."""
    if args.data_set == 'folder':
        return own.check_folder(root)
    if args.data_set == 'packed':
        return check_packed(root, args.quick), []
    if args.data_set == 'list':
        if args.list is None:
            raise DataError('check list: expected --list FILE, a file of lines "path label", got none')
        return own.check_list(root, args.list, args.classes)
    return DATA_SETS[args.data_set].check(root), list(find_images(root))


def pack(args: argparse.Namespace) -> None:
    """Write splits of a data set as folders of Arrow files."""
    packing, root, name = read_packing(args), find_root(args), args.data_set
    if name in NAMES:
        sources = open_named(name, root, args.split, args.list, args.classes)
    else:
        sources = open_config(name, args.split)
    size = '' if packing.short_edge is None else f'-{packing.short_edge}'
    out = resolve_root(args.out) if args.out else root.with_name(f'{root.name}-packed{size}')
    for split, dataset in sources.items():
        print(pack_split(dataset, split, out, packing), flush=True)
    print(f'next: python tools/prepare_data.py check packed --root {out}')
    print(f"use:  dataset=dict(type='HuggingFaceImages', path={str(out)!r}, split={next(iter(sources))!r})")


def read_packing(args: argparse.Namespace) -> Packing:
    """Return how images are to be stored; refuse options that would do nothing."""
    quality = QUALITY if args.quality is None else args.quality
    if args.quality is not None and args.short_edge is None:
        raise ConfigError('--quality is that of resized images; give --short-edge too')
    if args.short_edge is not None and args.short_edge < 1:
        raise ConfigError(f'--short-edge must be a number of pixels, 1 or more, got {args.short_edge}')
    if not 1 <= quality <= 100 or args.shard_images < 1:
        raise ConfigError(
            f'--quality must be 1 to 100 and --shard-images 1 or more, got {quality} and {args.shard_images}'
        )
    if args.data_set != 'list' and (args.list is not None or args.classes is not None):
        raise ConfigError(f'--list and --classes are for pack list, got pack {args.data_set}')
    return Packing(args.short_edge, quality, args.shard_images)


def find_root(args: argparse.Namespace) -> Path:
    """Return the folder of the data set that is packed; of one that has none, the name that it would have."""
    name = args.data_set
    if name in ('folder', 'list'):
        if args.root is None:
            raise ConfigError(f'pack {name}: expected --root DIR, the folder of the images')
        return resolve_root(str(args.root))
    if name in PUBLISHED:
        return args.root.absolute() if args.root else resolve_root(DATA_SETS[name].ROOT)
    if args.root is not None:
        raise ConfigError(f'--root has no meaning for pack {name}')
    return resolve_root(Path(name).stem)


def open_config(path: str, splits: Sequence[str]) -> dict[str, Any]:
    """Build the data sets of a config, without transforms: one of each split that it names."""
    from openmix_dm.config.check import refusing  # mmengine's runner comes with it, which takes a second
    from openmix_dm.config.load import load_config

    if not path.endswith('.py'):
        raise ConfigError(f'pack {path}: expected a data set or a config file{did_you_mean(path, NAMES)}')
    config, found = load_config(path), {}
    for phase in ('train', 'val', 'test'):
        dataset = config.get(f'{phase}_dataloader', {}).get('dataset')
        if dataset is None:
            continue
        images = dataset.get('dataset', dataset)  # streams have theirs inside
        split = images.get('split', phase)
        if split not in found and (not splits or split in splits):
            with refusing(f'{phase}_dataloader.dataset'):
                found[split] = DATASETS.build({**images, 'transforms': []})
    if not found or set(splits) - set(found):
        raise ConfigError(
            f'pack {path}: --split {" ".join(splits)}, but its data sets have {", ".join(found) or "none"}'
        )
    return found
