"""The folder of one run: `run.json` says what it is and how it went, `metrics.jsonl` holds every number."""

import json
import math
import platform
import statistics
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from mmengine.config import Config

from openmix_dm import __version__
from openmix_dm.engine import config as configs
from openmix_dm.engine.checkpoints import write_atomically
from openmix_dm.errors import ConfigError

RUN, METRICS, CONFIG, LOG, BOARD = 'run.json', 'metrics.jsonl', 'config.py', 'train.log', 'tensorboard'
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
        before, after = (_flat(configs.plain(c)) for c in (configs.load_config(self.path / CONFIG), config))
        keys = sorted(before.keys() | after.keys())
        return {key: (before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key)}

    def start(self, config: Config, seed: int, world_size: int) -> None:
        """Write config.py and run.json at the start, or at the continuation, of a run."""
        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / MARKER).unlink(missing_ok=True)
        write_atomically(self.path / CONFIG, configs.to_text(config))
        before = self.read()
        self.update(
            id=before.get('id') or uuid.uuid4().hex[:12],
            config=str(config.filename),
            config_hash=configs.fingerprint(config),
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

    def records(self, kind: str | None = None) -> list[dict[str, Any]]:
        """Return the lines of metrics.jsonl; a last line that a crash cut off is left out."""
        try:
            lines = (self.path / METRICS).read_text().splitlines()
        except FileNotFoundError:
            return []
        parsed = [record for record in map(_parse, lines) if record is not None]
        return [record for record in parsed if kind is None or record['kind'] == kind]

    def trim(self, iteration: int, validated: bool = True) -> None:
        """Forget what was recorded after an iteration, where the run goes on; its validation stays if `validated`."""
        if (self.path / METRICS).exists():
            records = [record for record in self.records() if record['iter'] <= iteration]
            again = [record for record in records if record['kind'] == 'val' and record['iter'] == iteration]
            kept = [to_line(record) for record in records if validated or record not in again]
            write_atomically(self.path / METRICS, ''.join(kept))

    def final(self) -> dict[str, float]:
        """Return the numbers for a table: median of the last 10 epochs, best and last, of each network evaluated."""
        records = self.records('val')
        summary: dict[str, float] = {}
        for prefix in sorted({name.removesuffix('top1') for record in records for name in record if _is_top1(name)}):
            values = [record[f'{prefix}top1'] for record in records if record.get(f'{prefix}top1') is not None]
            if values:
                summary |= {f'{prefix}{name}': round(value, 4) for name, value in summarise(values).items()}
        return summary


def summarise(values: list[float]) -> dict[str, float]:
    """Return the paper's three ways to make one number of a training."""
    return {'median_last10': statistics.median(values[-10:]), 'best': max(values), 'last': values[-1]}


def _is_top1(name: str) -> bool:
    return name == 'top1' or name.endswith('_top1')


def to_line(record: dict[str, Any]) -> str:
    """Return a record as one line of strict JSON; what is not finite becomes null."""
    finite = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in record.items()}
    return json.dumps(finite, allow_nan=False) + '\n'


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


def _parse(line: str) -> dict[str, Any] | None:
    try:
        return json.loads(line)
    except ValueError:
        return None
