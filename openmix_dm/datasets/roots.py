"""Where data sets are looked for."""

import os
from pathlib import Path

from openmix_dm.invocation import command

DATA_VARIABLE = 'OPENMIX_DM_DATA'


def resolve_root(root: str) -> Path:
    """Return root if it is absolute, else root below the folder of all data sets ($OPENMIX_DM_DATA, or ./data)."""
    return (Path(os.environ.get(DATA_VARIABLE, 'data')).expanduser() / Path(root).expanduser()).absolute()


def how_to_prepare(name: str, root: Path) -> str:
    """Say what to do when a data set is not where it was looked for."""
    return (
        f'to make it, run: {command("data", name, "--root", root)} (if it is elsewhere, set {DATA_VARIABLE} to '
        'the folder above it, or give its path as root)'
    )
