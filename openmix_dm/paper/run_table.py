"""`table.py run`: make a plan, show it, and carry it out here or on Slurm."""

import argparse
import shlex
from collections import Counter
from collections.abc import Sequence

from openmix_dm.errors import ConfigError, Preempted
from openmix_dm.paper import slurm
from openmix_dm.paper.cells import Table
from openmix_dm.paper.jobs import execute
from openmix_dm.paper.plan import TODO, Action, Step, check_refusals, make_plan
from openmix_dm.paper.progress import make_progress
from openmix_dm.paper.runs import WORK_DIRS, runs_of
from openmix_dm.paper.tables import find_table
from openmix_dm.paper.verdict import OUTPUT, Outcome, RunsFailed


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
        report(execute(plan, args.jobs, make_progress()))
        print(next_step('collect', args))


def summary(table: Table, plan: Sequence[Step]) -> str:
    """Say in one line what is to be done."""
    words: dict[Action, str] = {
        'start': 'to start',
        'resume': 'to go on',
        'attack': 'to attack',
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
    files = slurm.make_script(table.title, table.name, args.slurm, steps, folder, args.sbatch)
    if args.dry_run:
        for name in ('array.sh', *(name for name in files if name != 'array.sh')):
            print(f'### {folder / name}\n{files[name]}')
    else:
        print(slurm.submit(files, folder))
        print(next_step('status', args))


def report(outcomes: Sequence[Outcome]) -> None:
    """Say what came out; fail if a run did."""
    failed = [outcome for outcome in outcomes if outcome.kind == 'failed']
    counts = Counter(outcome.kind for outcome in outcomes)
    if outcomes:
        print(', '.join(f'{count} {kind}' for kind, count in counts.items()))
    for outcome in failed:
        print(f'{outcome}\n  cells: {", ".join(outcome.run.cells)}; log: {outcome.run.folder / OUTPUT}')
    stopped = [outcome for outcome in outcomes if outcome.kind == 'stopped']
    if any(outcome.code for outcome in stopped):
        raise Preempted(f'{len(stopped)} runs were told to stop and have saved; the same command goes on with them')
    if stopped:
        raise KeyboardInterrupt
    if failed:
        raise RunsFailed(failed)


def next_step(command: str, args: argparse.Namespace) -> str:
    """Return the command that looks at these runs."""
    words = ['python', 'tools/table.py', command, args.table]
    if args.work_dirs != WORK_DIRS:
        words += ['--work-dirs', str(args.work_dirs)]
    return f'next: {shlex.join(words)}'
