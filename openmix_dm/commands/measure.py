"""`table.py measure`: measure finished runs of a table, one after the other in one process."""

import argparse
import contextlib
import io
from pathlib import Path

from openmix_dm.commands import analyze
from openmix_dm.commands.table_arguments import next_step
from openmix_dm.errors import ConfigError, DataError, Failure, printable
from openmix_dm.runs.state import read_state
from openmix_dm.tables.catalogue import find_table
from openmix_dm.tables.measures import MEASURES, Measure, find_measure, is_measured, missing_measures
from openmix_dm.tables.plan import Run, runs_of
from openmix_dm.utils.progress import Progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `measure` takes beside the table."""
    words = f"of {', '.join(MEASURES)}, or NAME:N on N test images only (the table's)"
    parser.add_argument('--metrics', nargs='+', default=[], metavar='NAME[:N]', help=words)


def measure_table(args: argparse.Namespace) -> None:
    """Measure what is missing of the finished runs; one that cannot be measured is said, and the others go on."""
    table = find_table(args.table)
    metrics = args.metrics or list(dict.fromkeys(c.metric for c in table.runnable() if is_measured(c.metric)))
    if not metrics:
        raise ConfigError(
            f'no cell of {table.name} is measured after its training: name --metrics, {", ".join(MEASURES)}'
        )
    for metric in metrics:
        find_measure(metric)
    runs = runs_of(table, args.work_dirs, args.cells, args.trials)
    done = [run for run in runs if read_state(run.folder).kind == 'done']
    todo = [(run, measure) for run in done for measure in missing_measures(metrics, run.folder)]
    files = len({find_measure(metric).file for metric in metrics})
    waiting = f', {len(runs) - len(done)} runs are not finished' if len(done) < len(runs) else ''
    print(f'{table.name}: {len(todo)} of {files * len(done)} to measure{waiting}', flush=True)
    failed = measure_all(todo)
    if failed:
        raise DataError(f'{failed} of {len(todo)} could not be measured, see above')
    print(next_step('collect', args, '--metric', metrics[0]))


def measure_all(todo: list[tuple[Run, Measure]]) -> int:
    """Measure one after the other; return how many failed. What is behind stays, and is not done again."""
    failed = 0
    progress = Progress('measure', len(todo))  # for the time that is left; the bar is that of the analysis
    for run, measure in todo:
        try:
            measure_run(measure, run.folder)
            outcome = 'measured'
        except Failure as failure:
            outcome = f'FAILED: {printable(str(failure))}'
            failed += 1
        progress.done += 1
        print(f'[{progress.done}/{len(todo)}] {run.name} {measure.stem}: {outcome}{progress.time_left()}', flush=True)
    return failed


def measure_run(measure: Measure, folder: Path) -> None:
    """Run an analysis as analyze.py would, which leaves its file in the folder of the run."""
    with contextlib.redirect_stdout(io.StringIO()):  # of which file it wrote
        analyze.analyze(analyze.make_parser().parse_args(measure.arguments(folder)))
