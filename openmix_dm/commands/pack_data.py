"""The sub-command `pack` of tools/prepare_data.py."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openmix_dm.commands.parser import user_path
from openmix_dm.datasets.prepare.pack import pack_split
from openmix_dm.datasets.prepare.pack_encoding import QUALITY, SHARD_IMAGES, Packing
from openmix_dm.datasets.prepare.pack_sources import NAMES, PUBLISHED, open_named
from openmix_dm.datasets.roots import DATA_VARIABLE, resolve_root
from openmix_dm.errors import ConfigError
from openmix_dm.invocation import command
from openmix_dm.registry import DATASETS
from openmix_dm.utils.suggest import did_you_mean


def add_pack_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is packed, and how."""
    parser.add_argument(
        'data_set',
        metavar='NAME',
        help=f'{", ".join(PUBLISHED)}, digits, folder, list, or a config whose data is meant',
    )
    parser.add_argument(
        '--root', type=user_path, help=f'folder of the data set (default: below ${DATA_VARIABLE}, or ./data)'
    )
    parser.add_argument('--list', type=user_path, help='for list: file of lines "path label", below the root')
    parser.add_argument('--classes', type=int, help='for list: how many classes there are')
    parser.add_argument('--split', nargs='+', default=[], help='splits to pack (default: all that there are)')
    parser.add_argument('--out', help=f'folder to write, below ${DATA_VARIABLE} or ./data (default: <root>-packed)')
    parser.add_argument('--short-edge', type=int, help='resize larger images to it, as JPEGs (default: keep all files)')
    parser.add_argument('--quality', type=int, help=f'of these JPEGs, 1 to 100 (default: {QUALITY})')
    parser.add_argument(
        '--shard-images', type=int, default=SHARD_IMAGES, help=f'images in a file (default: {SHARD_IMAGES})'
    )


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
    print(f'next: {command("data", "check", "packed", "--root", out)}')
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
        return own_root(args.root)
    if name in PUBLISHED:
        return args.root.absolute() if args.root else resolve_root(name)
    if args.root is not None:
        raise ConfigError(f'--root has no meaning for pack {name}')
    return resolve_root(Path(name).stem)


def own_root(root: Path) -> Path:
    """Return the folder of one's own images: where the data sets are, or as seen from here if it is not there."""
    below = resolve_root(str(root))
    return root.absolute() if root.parts and root.is_dir() and not below.is_dir() else below


def open_config(path: str, splits: Sequence[str]) -> dict[str, Any]:
    """Build the data sets of a config, without transforms: one of each split that it names."""
    from openmix_dm.config.check_built import refusing  # mmengine's runner comes with it, which takes a second
    from openmix_dm.config.load import load_config

    if not path.endswith('.py') and '/' not in path:
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
