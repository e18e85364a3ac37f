"""What only the command line knows of a run: which number of the paper it is about, how to stop it and how to go on."""

import argparse
import os
from collections.abc import Mapping
from pathlib import Path

from openmix_dm.config.shipped import CONFIGS
from openmix_dm.invocation import command
from openmix_dm.paper.paper_tables import cells_of
from openmix_dm.tables.cells import Cell, Protocol, Table, unit_of

PROTOCOLS: dict[Protocol, str] = {
    'median_last10': 'median of the last 10 validations',
    'best': 'best validation',
    'last': 'last validation',
    'ema_median_last10': 'median of the last 10 validations, averaged weights',
    'ema_best': 'best validation, averaged weights',
    'ema_last': 'last validation, averaged weights',
}


def run_words(args: argparse.Namespace, config: str | Path) -> dict[str, str]:
    """Return lines for the first words of a run.

    Args:
        args: the command line of train.
        config: the file that it names.
    """
    paper = paper_words(Path(config), changed=bool(args.cfg_options))
    return {**paper, 'stop': how_to_stop(args.launcher, os.environ), 'go on': how_to_go_on(args, os.environ)}


def paper_words(config: Path, changed: bool = False) -> dict[str, str]:
    """Return the line of the paper's number, none for a config that fills no cell of it.

    Args:
        config: the file of the config.
        changed: options of the command line change it, so that its number is another one. Default: False.
    """
    file = config.resolve()
    cells = cells_of(file.relative_to(CONFIGS).as_posix()) if file.is_relative_to(CONFIGS) else []
    printed = [pair for pair in cells if pair[1].printed is not None]
    accuracies = [pair for pair in printed if pair[1].metric == 'top1'] or printed
    if not accuracies:
        return {}
    own = '; of the config without your --cfg-options' if changed else ''
    return {'paper': '; '.join(_printed(*pair) for pair in accuracies) + own}


def _printed(table: Table, cell: Cell) -> str:
    spread = '' if cell.printed_std is None else f' ± {cell.printed_std:g}'
    unit = unit_of(cell.metric).removeprefix(' in ')
    return (
        f'{table.source}, row {cell.row}, column {cell.column}: {cell.printed:g}{spread} {unit}'.rstrip()
        + f' ({PROTOCOLS[cell.protocol]})'
    )


def how_to_stop(launcher: str, environment: Mapping[str, str]) -> str:
    """Say how to stop a run."""
    if launcher == 'slurm' and 'SLURM_JOB_ID' in environment:
        return f'scancel {environment["SLURM_JOB_ID"]}'
    return f'Ctrl-C, or kill {os.getpid()}, which saves first'


def how_to_go_on(args: argparse.Namespace, environment: Mapping[str, str]) -> str:
    """Return what goes on with a run, to be pasted where it was started; words where nobody knows what was typed."""
    if args.launcher == 'none':
        return command('train', *resume_arguments(args))
    by_us = args.launcher == 'pytorch' and 'TORCHELASTIC_RUN_ID' not in environment
    if not by_us or environment.get('NNODES', '1') != '1':
        return 'the same command with --resume'
    config, *others = resume_arguments(args)
    return command('dist-train', config, environment.get('WORLD_SIZE', '1'), *others)


def resume_arguments(args: argparse.Namespace) -> list[str]:
    """Return the arguments of train that go on with this run in its folder."""
    words = [str(args.config)]
    words += ['--work-dir', str(args.work_dir)] if args.work_dir else []
    words += ['--seed', str(args.seed)] if args.seed is not None else []
    words += [f'--{name}' for name in ('amp', 'fast') if getattr(args, name)]
    words += ['--resume']
    words += ['--allow-change', *args.allow_change] if args.allow_change else []
    return [*words, '--cfg-options', *args.cfg_options] if args.cfg_options else words
