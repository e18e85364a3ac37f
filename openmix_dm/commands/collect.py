"""`table.py collect`: what came out of a table, in one of several formats."""

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace

from openmix_dm.commands.command_line import check_parent
from openmix_dm.commands.parser import user_path
from openmix_dm.commands.table_arguments import next_step
from openmix_dm.errors import ConfigError, printable
from openmix_dm.invocation import command
from openmix_dm.tables.archive.parts import collect_parts
from openmix_dm.tables.archive.run_entries import measures_of
from openmix_dm.tables.catalogue import find_table
from openmix_dm.tables.formats import cell_records, text
from openmix_dm.tables.measures import find_measure, is_measured
from openmix_dm.tables.plan import WORK_DIRS
from openmix_dm.tables.results import Results, collect, recorded_name
from openmix_dm.utils.files import write_atomically
from openmix_dm.utils.stats import INTERVALS
from openmix_dm.utils.suggest import did_you_mean


def to_html(results: Results) -> str:
    """Return the page; what draws takes seconds to import, and is left alone where nothing is drawn."""
    from openmix_dm.tables.page import page

    return page.to_html(results)


def to_svg(results: Results) -> str:
    """Return the plot of a table that has an axis, the gains of others."""
    from openmix_dm.tables.page import forest, plots

    return (plots.effect(results) if results.table.axis else forest.forest(results)) + '\n'


FORMATS: dict[str, Callable[[Results], str]] = {
    'md': text.to_markdown,
    'csv': cell_records.to_csv,
    'html': to_html,
    'latex': text.to_latex,
    'json': cell_records.to_json,
    'svg': to_svg,
}
SUFFIXES = {**{f'.{name}': name for name in FORMATS}, '.htm': 'html', '.tex': 'latex'}  # what a name promises
# where tests are a table of their own, for those who ask; the others but svg always have them
TESTS: dict[str, Callable[[Results], str]] = {'md': text.tests_to_markdown, 'latex': text.tests_to_latex}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `collect` takes beside the table."""
    parser.add_argument('--trials', type=int, help="trials that a cell should have (the table's: 3)")
    words = 'svg: the plot of a table that has an axis, the gains (forest plot) of others'
    parser.add_argument('--format', choices=FORMATS, default='md', help=words)
    parser.add_argument('--out', type=user_path, metavar='FILE', help='write to a file instead of the screen')
    parser.add_argument('--metric', help="another metric of the same runs (the table's): ece, fgsm:2000, hours, ...")
    parser.add_argument('--interval', choices=INTERVALS, default='t', help='of gains (t)')
    parser.add_argument('--tests', action='store_true', help='p-values of the gains, raw and by Holm, and power')
    parser.add_argument(
        '--power', type=int, nargs='+', metavar='N', help='with --tests: which gain N seeds would find (12 24 48)'
    )
    parser.add_argument(
        '--from', dest='parts', type=user_path, nargs='+', metavar='FILE',
        help='read what `collect --format json` wrote, in one or several parts, instead of work dirs',
    )  # fmt: skip


def collect_table(args: argparse.Namespace) -> None:
    """Collect a table and print it, or write it to a file."""
    check_arguments(args)
    table = find_table(args.table)
    if args.metric is not None:
        table = table.by_metric(args.metric)
    if args.parts:
        results = collect_parts(table, args.parts, args.trials)
    else:
        results = collect(table, args.work_dirs, args.trials)
    results = replace(results, interval=args.interval, power=tuple(dict.fromkeys(args.power or results.power)))
    if args.metric is not None:
        check_metric(results, args.metric)
    for problem in results.problems():
        print(f'openmix_dm: warning: {printable(problem)}', file=sys.stderr)
    if results.problems() and not args.parts:
        print(f'openmix_dm: {next_step("doctor", args)} says what to do about it', file=sys.stderr, flush=True)
    tests = args.tests or args.power is not None
    given = FORMATS[args.format](results) + (TESTS[args.format](results) if tests and args.format in TESTS else '')
    if args.out is None:
        print(given, end='')
    else:
        write_atomically(args.out, given)
        print(f'wrote {args.out}')


def check_arguments(args: argparse.Namespace) -> None:
    """Refuse what cannot be before any work."""
    check_parent('--out', args.out)
    promised = SUFFIXES.get(args.out.suffix.lower(), args.format) if args.out is not None else args.format
    if promised != args.format:
        raise ConfigError(
            f'--out {args.out} is not the name of a file of --format {args.format}: add --format {promised}'
        )
    if args.power and min(args.power) < 2:
        raise ConfigError(f'--power takes numbers of seeds, 2 or above, got {min(args.power)}')
    if args.format == 'svg' and (args.tests or args.power):
        raise ConfigError('--tests: a plot has no room for them; they are in --format md, latex, csv, json and html')
    if args.parts and args.work_dirs != WORK_DIRS:
        raise ConfigError('--from reads files instead of work dirs: give either it or --work-dirs')
    if args.metric is not None and is_measured(args.metric):
        find_measure(args.metric)


def check_metric(results: Results, metric: str) -> None:
    """Refuse a metric that none of the finished runs has; say which they have."""
    done = [trial for result in results.by_id.values() for trial in result.trials if trial.state.kind == 'done']
    if not done or any(trial.value is not None for trial in done) or results.problems():
        return
    if is_measured(metric):
        raise ConfigError(
            f'{metric} was measured of none of {len(done)} finished runs: '
            f'{command("table", "measure", results.table.name, "--metrics", metric)}'
        )
    names = {
        'top1',
        'hours',
        *(name for trial in done for name in (*trial.record.get('values', {}), *measures_of(trial))),
    }
    asked = recorded_name(results.table.cells[0])
    raise ConfigError(f'none of {len(done)} finished runs has {asked!r}{did_you_mean(asked, names)}')
