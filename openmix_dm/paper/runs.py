"""From a table to its runs: each config and seed once, however many cells share it."""

import fnmatch
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from openmix_dm.errors import ConfigError
from openmix_dm.paper.cells import Cell, Table
from openmix_dm.paper.own import CONFIGS

TOOLS = CONFIGS.parent / 'tools'
WORK_DIRS = Path('work_dirs')
FGSM, EPS_255 = Path('fgsm.json'), 8.0  # of Table A7: one signed step of 8/255


@dataclass(frozen=True)
class Run:
    """One training of a table, and the folder that it lives in."""

    config: Path
    seed: int
    folder: Path
    options: tuple[str, ...] = ()
    attacked: bool = False  # a cell asks for the error under attack, which is measured after the training
    cells: tuple[str, ...] = ()  # ids of the cells that it fills

    @property
    def name(self) -> str:
        """Return what people call it: digits/r8_mixup seed 0."""
        return f'{self.folder.parent.parent.name}/{self.folder.parent.name} seed {self.seed}'

    def train_arguments(self) -> list[str]:
        """Return the arguments of train.py: start, or go on where it stopped."""
        arguments = [shown(self.config), '--seed', str(self.seed), '--work-dir', str(self.folder), '--resume']
        return [*arguments, '--cfg-options', *self.options] if self.options else arguments

    def attack_arguments(self) -> list[str]:
        """Return the arguments of analyze.py that measure the error under attack, on the last checkpoint."""
        return ['fgsm', str(self.folder), '--eps', f'{EPS_255:g}', '--out', str(self.folder / FGSM.with_suffix('.png'))]

    def command_line(self) -> str:
        """Return the training as one would type it."""
        return shlex.join(['python', shown(TOOLS / 'train.py'), *self.train_arguments()])


def runs_of(
    table: Table, root: Path, pattern: str = '*', trials: int | None = None, options: Sequence[str] = ()
) -> list[Run]:
    """Return the runs of the cells that match, first seed 0 of all, then seed 1: the table fills evenly."""
    cells = matching(table, pattern)
    trials = table.trials if trials is None else trials
    if trials < 1:
        raise ConfigError(f'--trials must be at least 1, got {trials}')
    runs: dict[Path, Run] = {}
    for seed in range(trials):
        for cell in cells:
            folder = run_folder(cell, seed, root)
            before = runs.get(folder)
            runs[folder] = Run(
                config_path(cell),
                seed,
                folder,
                (*cell.options, *options),
                cell.metric == 'fgsm' or (before is not None and before.attacked),
                (*(before.cells if before else ()), cell.id),
            )
    return list(runs.values())


def matching(table: Table, pattern: str) -> tuple[Cell, ...]:
    """Return the runnable cells whose id matches a pattern such as 'mixup/*'."""
    cells = tuple(cell for cell in table.runnable() if fnmatch.fnmatch(cell.id, pattern))
    if not cells:
        some = ', '.join(cell.id for cell in table.runnable()[:4])
        raise ConfigError(f'no cell of {table.name} matches {pattern!r}; its cells are called {some}, ...')
    return cells


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


def shown(path: Path) -> str:
    """Return a path as seen from here, where it is below."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
