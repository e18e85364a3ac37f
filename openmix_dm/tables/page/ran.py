"""What the runs of a cell were trained with: their own configs, which need not be the table's."""

from dataclasses import dataclass
from typing import Any

from mmengine.config import Config

from openmix_dm.config.load import load_config, plain
from openmix_dm.config.plain import read_plain_config
from openmix_dm.errors import ConfigError
from openmix_dm.runs.folder import CONFIG
from openmix_dm.tables.plan import config_path
from openmix_dm.tables.results import Result, Trial

NOT_KEPT = 'its settings were not kept with its numbers'


@dataclass(frozen=True)
class Setting:
    """A config, and the seeds of the runs that have it; instead of one, why it is not known."""

    seeds: tuple[int, ...]
    config: Config | None
    problem: str = ''


def settings_that_ran(result: Result) -> list[Setting]:
    """Return each config that runs of a cell were trained with, once, in the order of the seeds."""
    table = load_config(config_path(result.cell), result.cell.options)
    found: list[tuple[Config | None, str, list[int]]] = []
    for trial in (each for each in result.trials if each.record):
        config, problem = _config_of(trial, table)
        for other, said, seeds in found:
            if _without_seed(other) == _without_seed(config) and said == problem:
                seeds.append(trial.seed)
                break
        else:
            found.append((config, problem, [trial.seed]))
    return [Setting(tuple(seeds), config, problem) for config, problem, seeds in found]


def _config_of(trial: Trial, table: Config) -> tuple[Config | None, str]:
    """Return what a run was trained with, or why that is not known; a folder is anybody's, and read as data."""
    if trial.folder is not None and (trial.folder.path / CONFIG).exists():
        try:
            return read_plain_config(trial.folder.path / CONFIG), ''
        except ConfigError as error:
            return None, str(error)
    if not trial.changes:
        return (table, '') if trial.folder is None else (None, f'there is no {CONFIG} in its folder')
    return None, f'{NOT_KEPT}; other than in the table: {_changes(trial)}'


def _changes(trial: Trial) -> str:
    return ', '.join(f'{key} {ran!r} instead of {said!r}' for key, (ran, said) in trial.changes.items())


def _without_seed(config: Config | None) -> dict[str, Any] | None:
    """Return the settings of a run without its seed, which is all that differs between trials."""
    if config is None:
        return None
    values = plain(config)
    randomness = values.get('randomness')
    if isinstance(randomness, dict):
        values['randomness'] = {key: value for key, value in randomness.items() if key != 'seed'}
    return values
