"""`table.py collect`: read the work dirs and give a table out in one of several forms."""

import argparse
from collections.abc import Callable

from openmix_dm.engine.checkpoints import write_atomically
from openmix_dm.errors import ConfigError
from openmix_dm.paper.formats import records, text
from openmix_dm.paper.page.curves import effect
from openmix_dm.paper.page.page import to_html
from openmix_dm.paper.results import Results, collect
from openmix_dm.paper.tables import find_table

FORMATS: dict[str, Callable[[Results], str]] = {
    'md': text.to_markdown,
    'csv': records.to_csv,
    'html': to_html,
    'latex': text.to_latex,
    'json': records.to_json,
    'svg': lambda results: effect(results) + '\n',
}


def collect_table(args: argparse.Namespace) -> None:
    """Collect a table and print it, or write it to a file."""
    if args.out is not None and not args.out.absolute().parent.is_dir():
        raise ConfigError(f'--out {args.out}: there is no folder {args.out.absolute().parent}')
    results = collect(find_table(args.table), args.work_dirs, args.trials)
    given = FORMATS[args.format](results)
    if args.out is None:
        print(given, end='')
    else:
        write_atomically(args.out, given)
        print(f'wrote {args.out}')
