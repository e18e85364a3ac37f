"""What the commands of table.py share: which table, and where its runs are."""

import argparse

from openmix_dm.commands.parser import user_folder
from openmix_dm.invocation import command
from openmix_dm.tables.plan import WORK_DIRS


def add_table(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """Add the table, and where its runs are."""
    parser.add_argument('table', metavar='TABLE', nargs=nargs, help="a name of `list`, the paper's number, or a file")
    parser.add_argument(
        '--work-dirs', type=user_folder, default=WORK_DIRS, metavar='FOLDER', help=f'where the runs are ({WORK_DIRS})'
    )


def add_cells(parser: argparse.ArgumentParser) -> None:
    """Add which of its runs."""
    parser.add_argument(
        '--cells', default='*', metavar='GLOB', help="cells by their ids in `list`: 'mixup/*', '{fmix,mixup}/*'"
    )
    parser.add_argument('--trials', type=int, help="runs of each config, first seeds first (the table's: 3)")


def next_step(step: str, args: argparse.Namespace, *options: str) -> str:
    """Return the command that looks at these runs."""
    words = [step, args.table, *options]
    if args.work_dirs != WORK_DIRS:
        words += ['--work-dirs', str(args.work_dirs)]
    return f'next: {command("table", *words)}'
