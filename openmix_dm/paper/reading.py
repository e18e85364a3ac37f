"""What `table.py check` learns from a config before it tries its model."""

from dataclasses import dataclass, field
from typing import Any

from openmix_dm.engine.config import load_config
from openmix_dm.engine.resolve import resolve
from openmix_dm.engine.validate import validate
from openmix_dm.paper.own import CONFIGS
from openmix_dm.paper.trial import Kind, Trial, kinds_of, try_kind
from openmix_dm.paper.values import resolved_values

Source = tuple[str, tuple[str, ...]]  # a config, and the options that override it


@dataclass(frozen=True)
class Reading:
    """What a config says, or why it cannot be used."""

    values: dict[str, Any] = field(default_factory=dict)
    kinds: tuple[Kind, ...] = ()
    state: str = 'ok'
    problem: str = ''


def read(source: Source) -> Reading:
    """Load and validate a config; whatever is wrong is told, not raised."""
    name, options = source
    if not (CONFIGS / name).is_file():
        return Reading(state='missing', problem=f'there is no configs/{name}')
    try:
        config = load_config(CONFIGS / name, options)
        validate(config)
        resolve(config, world_size=1)
        return Reading(resolved_values(config), tuple(kinds_of(config)))
    except Exception as error:  # of any kind: the others still have to be checked
        return Reading(state='failed', problem=f'{type(error).__name__}: {error}')


def attempt(kind: Kind) -> Trial | str:
    """Try a model; return what is wrong with it as text."""
    try:
        return try_kind(kind)
    except Exception as error:
        return f'{type(error).__name__}: {error}'
