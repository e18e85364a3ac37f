"""What a table is made of, whether the paper's or a user's own."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from openmix_dm.errors import ConfigError

Metric = str  # 'top1', 'fgsm', 'memory', 'hours', or any value of a validation, by its name in the record
LESS_IS_BETTER = ('fgsm', 'memory', 'hours', 'loss', 'error')  # names that end so

# Keys of `final` in run.json; `ema_`: of the averaged weights, as semi-supervised trainings from scratch report them.
Protocol = Literal['median_last10', 'best', 'last', 'ema_median_last10', 'ema_best', 'ema_last']


def less_is_better(metric: Metric) -> bool:
    """Say whether less of a metric is better."""
    return metric.endswith(LESS_IS_BETTER)


def unit_of(metric: Metric) -> str:
    """Return the unit of a metric for a caption, nothing for a value that does not say."""
    units = {'top1': '%', 'top5': '%', 'fgsm': '% error', 'memory': 'GB', 'hours': 'h'}
    return f' in {units[metric]}' if metric in units else ''


@dataclass(frozen=True)
class Cell:
    """One number of a table, and the training that makes it.

    Cells of several tables may name one config: its runs are shared, `work_dirs/<dataset>/<config name>/seed<k>`.
    """

    id: str  # unique in its table, e.g. 'cifar100/r18/mixup/dm'; --cells GLOB matches it
    row: str
    column: str
    config: str | None  # relative to configs/; None where the paper prints "-"
    metric: Metric = 'top1'
    protocol: Protocol = 'median_last10'
    printed: float | None = None  # the paper's number, in the unit that it prints
    printed_std: float | None = None
    baseline: str | None = None  # id of the cell that this one is compared with: DM's gain is over it
    facts: dict[str, str] = field(default_factory=dict)  # dataset, backbone, method, loss, setting
    hardware: str = ''  # the kind of GPU, one of which memory and hours are about; '': any machine
    options: tuple[str, ...] = ()  # KEY=VALUE that override the config: a point of an ablation needs no file of its own


@dataclass(frozen=True)
class Said:
    """A part of a config that a table asks for, and who says so."""

    part: Any  # None: it must not be there
    source: str


@dataclass(frozen=True)
class Table:
    """A named set of cells that are run and collected together."""

    name: str  # what the command line calls it: 'cifar_tiny_static', 'digits'
    title: str
    cells: tuple[Cell, ...]
    trials: int = 3  # runs of each config
    source: str = ''  # 'Table 1' or 'Figure A2' of the paper, or nothing for a table of one's own
    averages: dict[str, float] | None = None  # average gains that are printed, by column; None: one for every column
    axis: str = ''  # rows are values of this setting: they are drawn as curves, too
    expected: Callable[[Cell], dict[str, Any]] | None = None  # the values that the config of a cell has to have
    settings: Callable[[Cell], dict[str, Said]] | None = None  # the parts that it has to have, by their keys
    first_seed: int = 0  # trial k has this seed plus k: a study's seeds are none that were looked at before

    def seeds(self, trials: int | None = None) -> range:
        """Return the seeds of the trials, as many as the table wants or as are asked for."""
        wanted = self.trials if trials is None else trials
        if wanted < 1:
            raise ConfigError(f'--trials must be at least 1, got {wanted}')
        return range(self.first_seed, self.first_seed + wanted)

    def runnable(self) -> tuple[Cell, ...]:
        """Return the cells that a training can fill."""
        return tuple(cell for cell in self.cells if cell.config is not None)
