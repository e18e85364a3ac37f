"""What came out of a table: each cell's trials, mean, gain and shortcomings, read from the work dirs alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from mmengine.config import Config

from openmix_dm.config.load import fingerprint_of, load_config, plain
from openmix_dm.errors import ConfigError, DataError
from openmix_dm.runs.folder import RunFolder
from openmix_dm.runs.records import MEDIAN_FROM, Record, all_numbers
from openmix_dm.runs.state import State, read_state
from openmix_dm.tables.cells import Cell, Table, less_is_better
from openmix_dm.tables.measures import find_measure, is_measured
from openmix_dm.tables.plan import config_path, run_folder
from openmix_dm.utils.stats import Interval, Mean, Pair, average_gain, mean_of, paired_differences, paired_gain

EPOCHS = 'train_cfg.max_epochs'
ENDED = ('done', 'failed', 'stopped')  # run.json holds the numbers that the run came to
# by file and options: the config, and what it says as plain values, whose seed is that of the last run asked for
Configs = dict[tuple[Path, tuple[str, ...]], tuple[Config, dict[str, Any]]]


@dataclass(frozen=True)
class Trial:
    """One run of a cell."""

    seed: int
    folder: RunFolder | None  # None of a run that was read from a file of another collection
    state: State
    value: float | None  # of a run that is not done: what it has reached so far
    record: dict[str, Any] = field(default_factory=dict)  # run.json
    changes: dict[str, tuple[Any, Any]] = field(default_factory=dict)  # key -> (of the run, of the table)
    problem: str = ''  # what of its folder is damaged, and cannot be counted on
    name: str = ''  # of a run without a folder

    @property
    def place(self) -> str:
        """Return its folder, or its name in a file."""
        return self.name if self.folder is None else str(self.folder.path)

    def validations(self) -> list[Record]:
        """Return the records of its validations, none without a folder."""
        return [] if self.folder is None else self.folder.records('val')

    def validation_count(self) -> int:
        """Return how many validations it had; files of older collections tell only how many epochs."""
        said = self.record.get('validations')
        if isinstance(said, int):
            return said
        return self.state.epoch if self.folder is None else len(self.validations())


@dataclass(frozen=True)
class Result:
    """All trials of a cell."""

    cell: Cell
    wanted: int
    trials: tuple[Trial, ...]

    @cached_property
    def finished(self) -> dict[int, float]:
        """Return the numbers of finished trials by seed."""
        return {t.seed: t.value for t in self.trials if t.state.kind == 'done' and t.value is not None}

    @cached_property
    def mean(self) -> Mean | None:
        """Return the mean of the finished trials, or of what unfinished ones have reached."""
        reached = [trial.value for trial in self.trials if trial.value is not None]
        return mean_of(list(self.finished.values())) or mean_of(reached)

    @cached_property
    def marks(self) -> tuple[str, ...]:
        """Say in what the cell is below its protocol."""
        if self.cell.config is None or self.mean is None:
            return (*self.without_value, *self.problems)
        if not self.finished:
            epochs = max((trial.state.epoch, trial.state.epochs) for trial in self.trials if trial.value is not None)
            marks = [f'unfinished: epoch {epochs[0]} of {epochs[1]}']
        elif len(self.finished) < self.wanted:
            marks = [f'{len(self.finished)} of {self.wanted} trials']
        else:
            marks = []
        changes = {k: v for trial in self.trials if trial.value is not None for k, v in trial.changes.items()}
        if EPOCHS in changes:
            run, table = changes.pop(EPOCHS)
            marks.append(f'{run} epochs instead of {table}')
        marks += self.without_value
        marks += self.too_short
        marks += [f'measured on {machine}, not on one {self.cell.hardware}' for machine in self.other_machines]
        if changes:
            marks.append('other settings: ' + ', '.join(f'{k} {a!r} instead of {b!r}' for k, (a, b) in changes.items()))
        return (*marks, *self.problems)

    @property
    def without_value(self) -> list[str]:
        """Say that runs are done and lack the number that the table asks for."""
        lacking = [t for t in self.trials if t.state.kind == 'done' and t.value is None and not t.problem]
        return [f'{len(lacking)} of {self.wanted} trials done without {recorded_name(self.cell)}'] if lacking else []

    @property
    def too_short(self) -> list[str]:
        """Say that finished runs have too few validations for the median that the table takes of them."""
        if not self.cell.protocol.endswith('median_last10') or not is_validated(self.cell.metric):
            return []
        counts = [trial.validation_count() for trial in self.trials if trial.seed in self.finished]
        short = sorted({count for count in counts if count < MEDIAN_FROM})
        if not short:
            return []
        found = f'{short[0]} to {short[-1]}' if len(short) > 1 else f'{short[0]}'
        validations = 'validation' if short == [1] else 'validations'
        return [f'too short for the median of the last 10: {found} {validations}, not {MEDIAN_FROM} or more']

    @property
    def other_machines(self) -> list[str]:
        """Name the machines that memory and hours are from, other than the one that they are about."""
        wanted, records = self.cell.hardware, [trial.record for trial in self.trials if trial.value is not None]
        return list(dict.fromkeys(machine_of(record) for record in records if wanted and not is_one(wanted, record)))

    @cached_property
    def problems(self) -> tuple[str, ...]:
        """Say what is damaged of the runs of the cell."""
        return tuple(f'{trial.place}: {trial.problem}' for trial in self.trials if trial.problem)


@dataclass(frozen=True)
class Results:
    """A table with what came out of it."""

    table: Table
    by_id: dict[str, Result]
    interval: str = 't'  # which of INTERVALS gains have
    power: tuple[int, ...] = (12, 24, 48)  # numbers of seeds that it is said for which gain they would find

    def differences(self, cell: Cell) -> list[float]:
        """Return a cell minus its baseline for each seed that both have finished."""
        base = self.by_id.get(cell.baseline or '')
        return paired_differences(self.by_id[cell.id].finished, base.finished) if base else []

    def gain(self, cell: Cell) -> Interval | None:
        """Return the gain of a cell over its baseline, from finished trials of equal seed."""
        base = self.by_id.get(cell.baseline or '')
        return paired_gain(self.by_id[cell.id].finished, base.finished, self.interval) if base else None

    def printed_gain(self, cell: Cell) -> float | None:
        """Return the gain that the paper's numbers show."""
        base = self.by_id.get(cell.baseline or '')
        if base is None or cell.printed is None or base.cell.printed is None:
            return None
        return cell.printed - base.cell.printed

    def has_average(self, column: str) -> bool:
        """Say whether a column has an average gain: where the paper prints some, only its own columns have."""
        compared = any(cell.baseline in self.by_id for cell in self.column(column))
        return compared and (self.table.averages is None or column in self.table.averages)

    def average_gain(self, column: str) -> Interval | None:
        """Return the mean gain over the rows of a column."""
        return average_gain(self.pairs(column), self.interval)

    def pairs(self, column: str) -> list[Pair]:
        """Return for each compared cell of a column its numbers and its baseline's, by seed."""
        compared = [cell for cell in self.column(column) if cell.baseline in self.by_id]
        return [(self.by_id[c.id].finished, self.by_id[c.baseline or ''].finished) for c in compared]

    def average_printed_gain(self, column: str) -> float | None:
        """Return the mean gain of the paper's numbers, recomputed."""
        gains = [gain for cell in self.column(column) if (gain := self.printed_gain(cell)) is not None]
        return sum(gains) / len(gains) if gains else None

    def columns(self, compared: bool = False) -> list[str]:
        """Return the names of the columns, or of those that are compared with a baseline."""
        return list(dict.fromkeys(cell.column for cell in self.table.cells if cell.baseline or not compared))

    def column(self, name: str) -> list[Cell]:
        """Return the cells of a column."""
        return [cell for cell in self.table.cells if cell.column == name]

    def runs(self) -> list[Trial]:
        """Return the trials that have started, each run once."""
        trials = [trial for result in self.by_id.values() for trial in result.trials if trial.record]
        return list({trial.place: trial for trial in trials}.values())

    def problems(self) -> list[str]:
        """Say what is damaged of the runs, each once."""
        return list(dict.fromkeys(problem for result in self.by_id.values() for problem in result.problems))


def collect(table: Table, root: Path, trials: int | None = None) -> Results:
    """Read the results of a table."""
    wanted = table.seeds(trials)
    results = {}
    configs: Configs = {}
    for cell in table.cells:
        seeds = wanted if cell.config else ()
        results[cell.id] = Result(cell, len(wanted), tuple(read_trial(cell, seed, root, configs) for seed in seeds))
    return Results(table, results)


def read_trial(cell: Cell, seed: int, root: Path, configs: Configs | None = None) -> Trial:
    """Read one run of a cell; what is damaged is said, and costs this run alone.

    Args:
        cell: the cell.
        seed: which of its runs.
        root: the work dirs.
        configs: what has been read of configs for other runs. Default: None.
    """
    folder = RunFolder(run_folder(cell, seed, root))
    state, record = read_state(folder.path), folder.read()
    problem = state.cause if state.kind in ('damaged', 'running') else ''
    if not record:
        return Trial(seed, folder, state, None, problem=problem)
    try:
        same, config = settings_match(cell, seed, record, {} if configs is None else configs)
        changes = {} if same else folder.changes(config)
        value = value_of(cell, reached(folder, record, state), lambda name: find_measure(name).read(folder.path))
    except (ConfigError, DataError) as error:
        return Trial(seed, folder, state, None, record, problem=str(error))
    return Trial(seed, folder, state, value, record, changes, problem)


def settings_match(cell: Cell, seed: int, record: dict[str, Any], configs: Configs) -> tuple[bool, Config]:
    """Say whether a run has the settings of the table, by their hash; and return those of the table."""
    setting = config_path(cell), cell.options
    if setting not in configs:
        config = load_config(*setting)
        config.setdefault('randomness', {})
        configs[setting] = config, plain(config)
    config, values = configs[setting]
    config.randomness.seed = values['randomness']['seed'] = seed
    return record.get('config_hash') == fingerprint_of(values), config


def reached(folder: RunFolder, record: dict[str, Any], state: State) -> dict[str, Any]:
    """Return run.json with the numbers that a run has come to; it holds them itself once the run has ended."""
    if state.kind in ENDED:
        return record
    return {**record, 'final': folder.final(), 'values': all_numbers(folder.records('val'))}


def value_of(cell: Cell, record: dict[str, Any], measured: Callable[[str], float | None]) -> float | None:
    """Return the number that a cell takes from a run.

    Args:
        cell: the cell.
        record: run.json, with the numbers that the run has come to.
        measured: gives what was measured after the training, by the name of the metric.
    """
    if cell.metric == 'top1':
        return (record.get('final') or {}).get(cell.protocol)
    if cell.metric == 'memory':
        return record['peak_memory_mb'] / 1024 if record.get('peak_memory_mb') else None
    if cell.metric == 'hours':
        return record.get('hours')
    if is_measured(cell.metric):
        return measured(cell.metric)
    best = 'min' if less_is_better(cell.metric) else 'max'
    protocol = cell.protocol.removeprefix('ema_')
    return (record.get('values') or {}).get(recorded_name(cell), {}).get(best if protocol == 'best' else protocol)


def recorded_name(cell: Cell) -> str:
    """Return the name of a cell's metric in the records: top5 of averaged weights is ema_top5."""
    says_weights = cell.metric.startswith(('ema_', 'momentum_'))
    averaged = cell.protocol.startswith('ema_') and is_validated(cell.metric) and not says_weights
    return f'ema_{cell.metric}' if averaged else cell.metric


def is_validated(metric: str) -> bool:
    """Say whether a metric is found at each validation, and not once for a run."""
    return not is_measured(metric) and metric not in ('memory', 'hours')


def is_one(gpu: str, record: Mapping[str, Any]) -> bool:
    """Say whether a run had one GPU of a kind, all of it, for itself."""
    gpus = _hardware(record).get('gpus') or []
    return record.get('world_size') == 1 and bool(gpus) and all(gpu in str(g) and 'MIG' not in str(g) for g in gpus)


def machine_of(record: Mapping[str, Any]) -> str:
    """Say what a run was computed by, in words."""
    hardware, count = _hardware(record), record.get('world_size', 1)
    gpus = hardware.get('gpus') or []
    if gpus:
        return f'{count} x {", ".join(dict.fromkeys(map(str, gpus)))}'
    return f'{count} x {hardware["threads"]} threads of a CPU' if 'threads' in hardware else 'an unknown machine'


def _hardware(record: Mapping[str, Any]) -> Mapping[str, Any]:
    found = record.get('hardware')
    return found if isinstance(found, Mapping) else {}
