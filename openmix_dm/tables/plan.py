"""From a table to its runs, each config and seed once, and what is to be done for each of them."""

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mmengine.config import Config

from openmix_dm.config.load import load_run_config
from openmix_dm.config.shipped import CONFIGS, short_name
from openmix_dm.errors import ConfigError
from openmix_dm.invocation import command
from openmix_dm.runs.folder import RunFolder
from openmix_dm.runs.state import State, read_state
from openmix_dm.tables.cells import Cell, Table
from openmix_dm.tables.measures import is_measured, missing_measures

WORK_DIRS = Path('work_dirs')


@dataclass(frozen=True)
class Run:
    """One training of a table, and the folder that it lives in."""

    config: Path
    seed: int
    folder: Path
    options: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()  # metrics of its cells that are measured after the training
    cells: tuple[str, ...] = ()  # ids of the cells that it fills

    @property
    def name(self) -> str:
        """Return what people call it: digits/r8_mixup seed 0."""
        return f'{self.folder.parent.parent.name}/{self.folder.parent.name} seed {self.seed}'

    def train_arguments(self) -> list[str]:
        """Return the arguments of train.py: start, or go on where it stopped."""
        arguments = [short_name(self.config), '--seed', str(self.seed), '--work-dir', str(self.folder), '--resume']
        return [*arguments, '--cfg-options', *self.options] if self.options else arguments

    def measure_arguments(self) -> list[list[str]]:
        """Return the arguments of analyze.py for each metric that is still to be measured."""
        return [measure.arguments(self.folder) for measure in missing_measures(self.measures, self.folder)]

    def command_line(self) -> str:
        """Return the training as one would type it."""
        return command('train', *self.train_arguments())


def runs_of(
    table: Table, root: Path, pattern: str = '*', trials: int | None = None, options: Sequence[str] = ()
) -> list[Run]:
    """Return the runs of the cells that match, the first seed of all, then the next: the table fills evenly."""
    cells = matching(table, pattern)
    runs: dict[Path, Run] = {}
    for seed in table.seeds(trials):
        for cell in cells:
            folder = run_folder(cell, seed, root)
            before = runs.get(folder)
            measured = [cell.metric] if is_measured(cell.metric) else []
            runs[folder] = Run(
                config_path(cell),
                seed,
                folder,
                (*cell.options, *options),
                tuple(dict.fromkeys((*(before.measures if before else ()), *measured))),
                (*(before.cells if before else ()), cell.id),
            )
    return list(runs.values())


def matching(table: Table, pattern: str) -> tuple[Cell, ...]:
    """Return the runnable cells whose id matches a pattern such as 'Mixup/*', in capitals or not."""
    patterns = alternatives(pattern.lower())
    cells = tuple(
        cell for cell in table.runnable() if any(fnmatch.fnmatchcase(cell.id.lower(), each) for each in patterns)
    )
    if not cells:
        some = ', '.join(cell.id for cell in table.runnable()[:4])
        raise ConfigError(f'no cell of {table.name} matches {pattern!r}; its cells are called {some}, ...')
    return cells


def alternatives(pattern: str) -> list[str]:
    """Return the patterns that one with braces stands for, as in a shell: '{mixup,cutmix}/mce' is two."""
    braces = re.search(r'\{([^{}]*)\}', pattern)
    if braces is None:
        return [pattern]
    before, after = pattern[: braces.start()], pattern[braces.end() :]
    return [whole for part in braces[1].split(',') for whole in alternatives(f'{before}{part}{after}')]


def config_path(cell: Cell) -> Path:
    """Return the file of a cell's config."""
    if cell.config is None:
        raise ValueError(f'cell {cell.id} has no config')
    return CONFIGS / cell.config


def run_folder(cell: Cell, seed: int, root: Path) -> Path:
    """Return <root>/<config's folder>/<config name>[@key=value,...]/seed<k>."""
    path = config_path(cell)
    setting = ','.join(sorted(cell.options))
    name = f'{path.stem}@{re.sub(r"[^-A-Za-z0-9_.=,+]", "_", setting)}' if setting else path.stem
    return root / path.resolve().parent.name / name / f'seed{seed}'


Action = Literal['start', 'resume', 'measure', 'skip', 'busy', 'refuse']
TODO: tuple[Action, ...] = ('start', 'resume', 'measure')


@dataclass(frozen=True)
class Step:
    """One run with what is to be done for it, and why."""

    run: Run
    action: Action
    state: State
    reason: str = ''


def make_plan(runs: Sequence[Run]) -> list[Step]:
    """Decide for each run; every config is read and checked once, so that a bad one shows before any work."""
    checked: dict[tuple[Path, tuple[str, ...]], Config] = {}
    plan = []
    for run in runs:
        setting = run.config, run.options
        if setting not in checked:
            checked[setting] = load_run_config(run.config, run.options, run.seed)
        checked[setting].randomness.seed = run.seed  # all that differs between trials
        plan.append(decide(run, checked[setting]))
    return plan


def decide(run: Run, config: Config | None = None) -> Step:
    """Decide for one run by its folder, and by whether the config is the one that it was started with."""
    state = read_state(run.folder)
    if state.kind == 'running':
        return Step(run, 'busy', state, 'is running already')
    try:
        changed = RunFolder(run.folder).changes(config) if config is not None and state.kind != 'waiting' else {}
    except ConfigError as error:  # of this run alone: the others go on
        return Step(run, 'refuse', state, f'{error}; delete it to go on with the config of the table')
    if changed:
        lines = ', '.join(f'{key}: {before!r} -> {now!r}' for key, (before, now) in changed.items())
        return Step(run, 'refuse', state, f'{run.folder} was started with another config ({lines})')
    if state.kind == 'done':
        return Step(run, 'measure' if run.measure_arguments() else 'skip', state)
    fresh = not RunFolder(run.folder).used
    return Step(run, 'start' if fresh else 'resume', state, state.cause)


def check_refusals(plan: Sequence[Step]) -> None:
    """Stop where all that is left to say is that folders hold runs of another config."""
    refused = [step for step in plan if step.action == 'refuse']
    if refused and not any(step.action in TODO for step in plan):
        raise ConfigError(
            f'{refused[0].reason}, and {len(refused) - 1} more like it: undo the change, '
            'or keep the changed runs apart with --work-dirs'
        )
