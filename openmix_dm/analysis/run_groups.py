"""Run folders as curves, costs and comparisons read them: by their records alone, without any model."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openmix_dm.errors import ConfigError
from openmix_dm.runs.folder import RUN, RunFolder, warn

Groups = dict[str, list['Run']]


@dataclass(frozen=True)
class Run:
    """One run: seeds of one config have one name."""

    name: str
    seed: int
    folder: RunFolder
    summary: dict[str, Any]


def find_runs(places: Sequence[str]) -> list[Run]:
    """Return the runs in and below folders: `work_dirs/digits` finds all seeds of all its configs."""
    found: dict[Path, Run] = {}
    for place in places:
        files = sorted(Path(place).rglob(RUN)) if Path(place).is_dir() else []
        if not files:
            raise ConfigError(f'{place} holds no run: expected a folder with {RUN} in it, or folders of such')
        for file in files:
            found.setdefault(file.parent.absolute(), _open(file.parent))
    return list(found.values())


def group_by_name(runs: Sequence[Run]) -> Groups:
    """Return runs by name, seeds in order."""
    groups: Groups = {}
    for run in sorted(runs, key=lambda run: run.seed):
        groups.setdefault(run.name, []).append(run)
    return groups


def _open(path: Path) -> Run:
    folder = RunFolder(path)
    summary, problem = folder.open()
    for text in filter(None, (problem, folder.metrics_problem())):
        warn(f'{path}: {text}')
    place = path.absolute()
    name = place.parent.name if place.name.startswith('seed') else place.name
    return Run(name, int(summary.get('seed', 0)), folder, summary)
