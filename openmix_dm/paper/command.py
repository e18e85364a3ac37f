"""The command behind tools/table.py."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openmix_dm.engine.command import run_command
from openmix_dm.paper.check_command import add_check
from openmix_dm.paper.runs import WORK_DIRS


def main(arguments: Sequence[str] | None = None) -> int:
    """List, check, run, watch or collect a table; return the exit code."""
    args = parse(arguments)
    return run_command(args.work, args)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog='table.py', description="The paper's tables, and tables of one's own.")
    commands = parser.add_subparsers(dest='command', required=True, metavar='COMMAND')
    add_list(commands)
    add_check(commands)
    add_run(commands)
    add_status(commands)
    add_collect(commands)
    return parser.parse_args(arguments)


def add_list(commands: Any) -> None:
    """Add `list [TABLE]`."""
    from openmix_dm.paper.listing import show_tables

    parser = commands.add_parser('list', help='all tables, or the cells of one with config, paper and state')
    add_table(parser, nargs='?')
    parser.set_defaults(work=show_tables)


def add_run(commands: Any) -> None:
    """Add `run TABLE`."""
    from openmix_dm.paper.run_table import run_table

    parser = commands.add_parser('run', help='run what is not finished: resumes what broke, skips what is done')
    add_table(parser)
    parser.add_argument('--cells', default='*', metavar='GLOB', help="cells by their ids in `list`, e.g. 'mixup/*'")
    parser.add_argument('--trials', type=int, help="runs of each config, seeds 0, 1, ... (the table's: 3)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument('--jobs', type=int, default=1, metavar='N', help='runs at a time on this machine (1)')
    where.add_argument('--slurm', metavar='PARTITION', help='submit one job array instead')
    parser.add_argument(
        '--sbatch', nargs='+', default=[], metavar='KEY=VALUE', help='with --slurm, e.g. time=24:00:00 cpus-per-task=4'
    )
    parser.add_argument('--dry-run', action='store_true', help='print the plan, or the script, and do nothing')
    parser.add_argument(
        '--cfg-options', nargs='+', default=[], metavar='KEY=VALUE', help='override values in all configs'
    )
    parser.set_defaults(work=run_table)


def add_status(commands: Any) -> None:
    """Add `status TABLE`."""
    from openmix_dm.paper.listing import show_status

    parser = commands.add_parser('status', help='how far each run is, from the work dirs alone')
    add_table(parser)
    parser.add_argument('--trials', type=int, help="runs of each config (the table's: 3)")
    parser.set_defaults(work=show_status)


def add_collect(commands: Any) -> None:
    """Add `collect TABLE`."""
    from openmix_dm.paper.collect_table import FORMATS, collect_table

    parser = commands.add_parser('collect', help="the paper's numbers beside ours, from the work dirs alone")
    add_table(parser)
    parser.add_argument('--trials', type=int, help="trials that a cell should have (the table's: 3)")
    parser.add_argument('--format', choices=FORMATS, default='md', help='svg: the plot of a table that has an axis')
    parser.add_argument('--out', type=Path, metavar='FILE', help='write to a file instead of the screen')
    parser.set_defaults(work=collect_table)


def add_table(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """Add the table, and where its runs are."""
    parser.add_argument('table', metavar='TABLE', nargs=nargs, help="a name of `list`, the paper's number, or a file")
    parser.add_argument(
        '--work-dirs', type=Path, default=WORK_DIRS, metavar='FOLDER', help=f'where the runs are ({WORK_DIRS})'
    )
