"""The command behind tools/table.py."""

import argparse
import os
import signal
from collections import Counter
from collections.abc import Sequence
from typing import Any

from openmix_dm.commands import collect, measure
from openmix_dm.commands.command_line import check_parent, run_command
from openmix_dm.commands.parser import CommandParser, user_path
from openmix_dm.commands.table_arguments import add_cells, add_table, next_step
from openmix_dm.errors import ConfigError, DataError, Preempted
from openmix_dm.invocation import command
from openmix_dm.launch.processes import listening
from openmix_dm.paper.paper_tables import paper_tables, supervised_tables
from openmix_dm.tables import slurm_array
from openmix_dm.tables.catalogue import find_table
from openmix_dm.tables.cells import Table
from openmix_dm.tables.job_display import JobDisplay
from openmix_dm.tables.jobs import OUTPUT, Outcome, RunsFailed, execute
from openmix_dm.tables.listing import cell_lines, status_lines, table_lines
from openmix_dm.tables.plan import TODO, Action, Step, check_refusals, make_plan, runs_of


def main(arguments: Sequence[str] | None = None) -> int:
    """List, check, run, watch or collect a table; return the exit code."""
    args = parse(arguments)
    return run_command(args.work, args)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = CommandParser(prog=command('table'), description="The paper's tables, and tables of one's own.")
    commands = parser.add_subparsers(dest='command', required=True, metavar='COMMAND')
    add_list(commands)
    add_check(commands)
    add_run(commands)
    add_status(commands)
    add_measure(commands)
    add_collect(commands)
    add_doctor(commands)
    return parser.parse_args(arguments)


def add_list(commands: Any) -> None:
    """Add `list [TABLE]`."""
    parser = commands.add_parser('list', help='all tables, or the cells of one with config, paper and state')
    add_table(parser, nargs='?')
    parser.set_defaults(work=show_tables)


def add_run(commands: Any) -> None:
    """Add `run TABLE`."""

    parser = commands.add_parser('run', help='run what is not finished: resumes what broke, skips what is done')
    add_table(parser)
    add_cells(parser)
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
    parser = commands.add_parser('status', help='how far each run is, from the work dirs alone')
    add_table(parser)
    parser.add_argument('--trials', type=int, help="runs of each config (the table's: 3)")
    parser.set_defaults(work=show_status)


def add_collect(commands: Any) -> None:
    """Add `collect TABLE`."""
    parser = commands.add_parser('collect', help="the paper's numbers beside ours, from the work dirs alone")
    add_table(parser)
    collect.add_arguments(parser)
    parser.set_defaults(work=collect.collect_table)


def add_measure(commands: Any) -> None:
    """Add `measure TABLE`."""
    parser = commands.add_parser('measure', help='measure calibration, attacks and mixed images of finished runs')
    add_table(parser)
    add_cells(parser)
    measure.add_arguments(parser)
    parser.set_defaults(work=measure.measure_table)


def add_doctor(commands: Any) -> None:
    """Add `doctor [TABLE]`."""
    parser = commands.add_parser('doctor', help='what is damaged, stale or left over in the work dirs, and what to do')
    add_table(parser, nargs='?')
    parser.add_argument('--trials', type=int, help="runs of each config (the table's: 3)")
    parser.set_defaults(work=examine_runs)


def add_check(commands: Any) -> None:
    """Add `check [TABLE | --all]`."""
    asked = "does every config load, build and learn, with the paper's settings? Without GPU or data"
    parser = commands.add_parser('check', help=asked)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument('table', metavar='TABLE', nargs='?', help="a name of `list`, the paper's number, or a file")
    which.add_argument('--all', action='store_true', help="all of the paper's tables")
    parser.add_argument('--supervised', action='store_true', help='with --all: no semi-supervised tables')
    parser.add_argument('--json', type=user_path, metavar='FILE', help='write what was found about every cell')
    parser.add_argument(
        '--jobs', type=int, default=os.cpu_count() or 1, metavar='N', help='processes (as many as there are cores)'
    )
    parser.set_defaults(work=check_tables)


def check_tables(args: argparse.Namespace) -> None:
    """Check the tables that the command line names; fail if any cell is not ok."""
    from openmix_dm.tables.feasibility import check  # takes seconds to import

    if args.jobs < 1:
        raise ConfigError(f'--jobs must be at least 1, got {args.jobs}')
    check_parent('--json', args.json)
    all_of_the_paper = supervised_tables() if args.supervised else paper_tables()
    wrong = check(all_of_the_paper if args.all else (find_table(args.table),), args.jobs, args.json)
    if wrong:
        raise ConfigError(f'{wrong} cells are not ok, see above')


def show_tables(args: argparse.Namespace) -> None:
    """Print all tables, or the cells of one."""
    root = args.work_dirs
    print('\n'.join(table_lines(root) if args.table is None else cell_lines(find_table(args.table), root)))


def show_status(args: argparse.Namespace) -> None:
    """Print how far each run is, and how many are in which state."""
    print('\n'.join(status_lines(find_table(args.table), args.work_dirs, args.trials)))


def examine_runs(args: argparse.Namespace) -> None:
    """Print what is wrong with the runs of a table, or with all in the work dirs; fail if something is damaged."""
    from openmix_dm.runs.doctor import examine, find_runs  # reads checkpoints: torch

    if args.table is None:
        folders = find_runs(args.work_dirs)
    else:
        folders = [run.folder for run in runs_of(find_table(args.table), args.work_dirs, trials=args.trials)]
    findings = [finding for folder in folders if folder.is_dir() for finding in examine(folder)]
    for finding in findings:
        print(f'{finding.kind:8} {finding.place}: {finding.problem}\n         -> {finding.advice}')
    counts = Counter(finding.kind for finding in findings)
    print(f'{len(folders)} runs: ' + (', '.join(f'{count} {kind}' for kind, count in counts.items()) or 'all is well'))
    if counts['damaged']:
        raise DataError(f'{counts["damaged"]} files are damaged, see above')


def run_table(args: argparse.Namespace) -> None:
    """Run what is not finished of a table."""
    if args.jobs < 1:
        raise ConfigError(f'--jobs must be at least 1, got {args.jobs}')
    table = find_table(args.table)
    plan = make_plan(runs_of(table, args.work_dirs, args.cells, args.trials, args.cfg_options))
    print(summary(table, plan))
    for step in plan:
        if step.action == 'refuse':
            print(f'left alone: {step.reason}')
    check_refusals(plan)
    if args.slurm:
        run_on_slurm(table, plan, args)
    elif args.dry_run:
        print('\n'.join(step.run.command_line() for step in plan if step.action in TODO))
    else:
        with listening() as stops:
            report(execute(plan, args.jobs, JobDisplay(), stops=stops), stops.number)
        print(next_step('collect', args))


def summary(table: Table, plan: Sequence[Step]) -> str:
    """Say in one line what is to be done."""
    words: dict[Action, str] = {
        'start': 'to start',
        'resume': 'to go on',
        'measure': 'to measure',
        'skip': 'done',
        'busy': 'running',
    }
    counts = Counter(step.action for step in plan)
    parts = [f'{counts[action]} {word}' for action, word in words.items() if counts[action]]
    if counts['refuse']:
        parts.append(f'{counts["refuse"]} of another config')
    return f'{table.name}: {len(plan)} runs: {", ".join(parts)}'


def run_on_slurm(table: Table, plan: Sequence[Step], args: argparse.Namespace) -> None:
    """Submit one job array, or show what would be submitted."""
    steps = [step for step in plan if step.action in TODO]
    if not steps:
        print('nothing to submit')
        return
    folder = args.work_dirs.absolute() / 'tables' / table.name
    files = slurm_array.make_script(table.title, table.name, args.slurm, steps, folder, args.sbatch)
    if args.dry_run:
        for name in ('array.sh', *(name for name in files if name != 'array.sh')):
            print(f'### {folder / name}\n{files[name]}')
    else:
        print(slurm_array.submit(files, folder))
        print(next_step('status', args))


def report(outcomes: Sequence[Outcome], asked: signal.Signals | None = None) -> None:
    """Say what came out; fail if a run did, or if a signal has asked to stop."""
    failed = [outcome for outcome in outcomes if outcome.kind == 'failed']
    counts = Counter(outcome.kind for outcome in outcomes)
    if outcomes:
        print(', '.join(f'{count} {kind}' for kind, count in counts.items()))
    for outcome in failed:
        print(f'{outcome}\n  cells: {", ".join(outcome.run.cells)}; log: {outcome.run.folder / OUTPUT}')
    stopped = [outcome for outcome in outcomes if outcome.kind == 'stopped']
    if asked is signal.SIGINT:
        raise KeyboardInterrupt
    if asked is not None or stopped:
        who = f'{asked.name} asked to stop' if asked else 'they were told to stop'
        raise Preempted(f'{len(stopped)} runs have saved ({who}); the same command goes on with what is left')
    if failed:
        raise RunsFailed(failed)
