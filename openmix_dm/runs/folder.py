"""The folder of one run: `run.json` says what it is and how it went, `metrics.jsonl` holds every number."""

import json
import platform
import statistics
import sys
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from mmengine.config import Config

from openmix_dm.config.load import fingerprint, plain, to_text
from openmix_dm.config.plain import read_plain_values
from openmix_dm.errors import ConfigError
from openmix_dm.runs.records import METRICS, Record, all_numbers, final_numbers, read_records
from openmix_dm.utils.files import others_can_write, write_atomically
from openmix_dm.version import __version__

RUN, CONFIG, LOG, BOARD = 'run.json', 'config.py', 'train.log', 'tensorboard'
MARKER = 'preempted'  # there while a run waits to be started again


class RunFolder:
    """Read and write the files of a run; on ranks other than 0 only read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def used(self) -> bool:
        """Say whether a run has started here."""
        return (self.path / RUN).exists() or (self.path / METRICS).exists()

    def check_unused(self) -> None:
        """Refuse to start over in the folder of another run: nothing is overwritten."""
        if self.used:
            raise ConfigError(
                f'{self.path} holds a run already; go on with it by --resume, or choose another folder with --work-dir'
            )

    def check_place(self) -> None:
        """Refuse links in the place of our files: what we write would go elsewhere; warn where others can put some."""
        for name in (RUN, CONFIG, LOG, METRICS, MARKER, BOARD):
            if (self.path / name).is_symlink():
                raise ConfigError(
                    f'{self.path / name} is a link, and nothing is written through one; remove it, or choose another '
                    'folder with --work-dir'
                )
        if others_can_write(self.path):
            print(
                f'openmix_dm: warning: others can write to {self.path}, and so change this run; chmod go-w ends that',
                file=sys.stderr,
                flush=True,
            )

    def check_same(self, config: Config, allowed: Sequence[str] = ()) -> None:
        """Refuse to go on with another config, except for keys that are allowed to change."""
        changed = self.changes(config)
        refused = [key for key in changed if not any(key == name or key.startswith(f'{name}.') for name in allowed)]
        if refused:
            lines = [f'  {key}: {changed[key][0]!r} -> {changed[key][1]!r}' for key in refused]
            raise ConfigError(
                f'the config differs from the one that {self.path} was started with:\n' + '\n'.join(lines) + '\n'
                f'undo the change, choose another --work-dir, or go on with --allow-change {" ".join(refused)}'
            )

    def changes(self, config: Config) -> dict[str, tuple[Any, Any]]:
        """Return what differs from the config that the run was started with: key -> (before, now)."""
        if not (self.path / CONFIG).exists():
            return {}
        before, after = _flat(read_plain_values(self.path / CONFIG)), _flat(plain(config))
        keys = sorted(before.keys() | after.keys())
        return {key: (before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key)}

    def start(self, config: Config, seed: int, world_size: int) -> None:
        """Write config.py and run.json at the start, or at the continuation, of a run."""
        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / MARKER).unlink(missing_ok=True)
        write_atomically(self.path / CONFIG, to_text(config))
        before = self.read()
        self.update(
            id=before.get('id') or uuid.uuid4().hex[:12],
            config=str(config.filename),
            config_hash=fingerprint(config),
            version=__version__,
            seed=seed,
            world_size=world_size,
            hardware=hardware(),
            start=before.get('start', now()),
            resumed=[*before.get('resumed', []), now()] if before else [],
            hours_before=before.get('hours', 0.0),
            state='running',
            exit_code=None,
        )

    def finish(self, state: str, seconds: float, exit_code: int = 0) -> None:
        """Write how the run ended, and its final numbers."""
        before = self.read()
        rates = [record['images_per_s'] for record in self.records('train') if record.get('images_per_s')]
        memory = [record['memory_mb'] for record in self.records('train') if record.get('memory_mb')]
        self.update(
            state=state,
            exit_code=exit_code,
            end=now(),
            hours=before.get('hours_before', 0.0) + seconds / 3600,
            images_per_s=round(statistics.median(rates), 1) if rates else None,
            peak_memory_mb=round(max(memory), 1) if memory else None,
            final=self.final(),
            values=all_numbers(self.records('val')),
        )

    def mark_preempted(self, reason: str) -> None:
        """Leave a file that says that the run is to be started again: exit codes get lost in launchers."""
        write_atomically(self.path / MARKER, f'{now()} {reason}\n')

    def read(self) -> dict[str, Any]:
        """Return run.json, empty if there is none."""
        try:
            return json.loads((self.path / RUN).read_text())
        except FileNotFoundError:
            return {}

    def update(self, **values: Any) -> None:
        """Change entries of run.json."""
        text = json.dumps({**self.read(), **values}, indent=1, allow_nan=False)
        write_atomically(self.path / RUN, text + '\n')

    def records(self, kind: str | None = None) -> list[Record]:
        """Return the lines of metrics.jsonl, all or those of a kind ('train', 'val')."""
        return read_records(self.path / METRICS, kind)

    def final(self) -> dict[str, float]:
        """Return the numbers for a table, by the validations so far."""
        return final_numbers(self.records('val'))


def hardware() -> dict[str, Any]:
    """Describe the machine without naming it."""
    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return {
        'gpus': gpus,
        'cpu': platform.machine(),
        'threads': torch.get_num_threads(),
        'torch': torch.__version__,
        'python': platform.python_version(),
    }


def now() -> str:
    """Return the time in UTC."""
    return time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())


def _flat(value: Any, path: str = '') -> dict[str, Any]:
    """Return the leaves of nested dicts and lists by their paths."""
    if isinstance(value, dict) and value:
        items = [(str(key), inner) for key, inner in value.items()]
    elif isinstance(value, list | tuple) and value:
        items = [(str(position), inner) for position, inner in enumerate(value)]
    else:
        return {path: value}
    return {k: v for key, inner in items for k, v in _flat(inner, f'{path}.{key}' if path else key).items()}
