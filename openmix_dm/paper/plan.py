"""What is to be done for each run: start it, go on with it, or leave it alone."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mmengine.config import Config

from openmix_dm.engine.run_folder import RunFolder
from openmix_dm.engine.train import prepare
from openmix_dm.errors import ConfigError
from openmix_dm.paper.runs import FGSM, Run
from openmix_dm.paper.states import State, read_state

Action = Literal['start', 'resume', 'attack', 'skip', 'busy', 'refuse']
TODO: tuple[Action, ...] = ('start', 'resume', 'attack')


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
            checked[setting] = config_of(run)
        checked[setting].randomness.seed = run.seed  # all that differs between trials
        plan.append(decide(run, checked[setting]))
    return plan


def config_of(run: Run) -> Config:
    """Return the config as train.py would make it."""
    return prepare(
        argparse.Namespace(
            config=run.config,
            cfg_options=list(run.options),
            seed=run.seed,
            work_dir=run.folder,
            resume=None,
            amp=False,
            launcher='none',
        )
    )


def decide(run: Run, config: Config | None = None, ours: bool = False) -> Step:
    """Decide for one run by its folder, and by whether the config is the one that it was started with.

    ours: the folder is claimed by us, so that nobody else runs it, whatever it looks like.
    """
    state = read_state(run.folder)
    if state.kind == 'running' and not ours:
        return Step(run, 'busy', state, 'is running already')
    changed = RunFolder(run.folder).changes(config) if config is not None and state.kind != 'waiting' else {}
    if changed:
        lines = ', '.join(f'{key}: {before!r} -> {now!r}' for key, (before, now) in changed.items())
        return Step(run, 'refuse', state, f'{run.folder} was started with another config ({lines})')
    if state.kind == 'done':
        missing = run.attacked and not (run.folder / FGSM).exists()
        return Step(run, 'attack' if missing else 'skip', state)
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
