"""The arguments of `table.py check`."""

import argparse
import os
from pathlib import Path
from typing import Any

from openmix_dm.errors import ConfigError


def add_check(commands: Any) -> None:
    """Add `check [TABLE | --all]`."""
    parser = commands.add_parser('check', help='does every config load, build and learn? Without GPU or data')
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument('table', metavar='TABLE', nargs='?', help="a name of `list`, the paper's number, or a file")
    which.add_argument('--all', action='store_true', help="all of the paper's tables")
    parser.add_argument('--supervised', action='store_true', help='with --all: no semi-supervised tables')
    parser.add_argument('--json', type=Path, metavar='FILE', help='write what was found about every cell')
    parser.add_argument(
        '--jobs', type=int, default=os.cpu_count() or 1, metavar='N', help='processes (as many as there are cores)'
    )
    parser.set_defaults(work=check_tables)


def check_tables(args: argparse.Namespace) -> None:
    """Check the tables that the command line names; fail if any cell is not ok."""
    from openmix_dm.paper.check import check
    from openmix_dm.paper.published import paper_tables
    from openmix_dm.paper.tables import find_table

    if args.jobs < 1:
        raise ConfigError(f'--jobs must be at least 1, got {args.jobs}')
    if args.json is not None and not args.json.absolute().parent.is_dir():
        raise ConfigError(f'--json {args.json}: there is no folder {args.json.parent}')
    tables = paper_tables() if args.all else (find_table(args.table),)
    wrong = check(tables, args.jobs, args.json, supervised=args.supervised)
    if wrong:
        raise ConfigError(f'{wrong} cells are not ok, see above')
