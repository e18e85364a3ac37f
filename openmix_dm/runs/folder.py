"""The folder of one run: `run.json` says what it is and how it went, `metrics.jsonl` holds every number."""

import functools
import hashlib
import json
import math
import platform
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mmengine.config import Config

from openmix_dm.config.load import fingerprint, plain, to_text
from openmix_dm.config.plain import read_plain_values
from openmix_dm.errors import ConfigError
from openmix_dm.runs.records import (
    METRICS,
    Record,
    all_numbers,
    count_unreadable,
    final_numbers,
    last_record,
    read_records,
)
from openmix_dm.utils.files import hash_start, others_can_write, sha256_of, write_atomically
from openmix_dm.utils.sealed import read_sealed, seal
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

    @property
    def came_to_nothing(self) -> bool:
        """Say whether what started here failed before its first number and its first checkpoint.

        There is nothing to go on with and nothing to lose: the user who has lowered a batch size that the memory did
        not hold starts over in the same folder. Its log stays.
        """
        failed = self.read().get('state', '').startswith('failed')
        return failed and not (self.path / METRICS).exists() and not any(self.path.glob('*.pth'))

    def check_unused(self) -> None:
        """Refuse to start over in the folder of another run: nothing is overwritten."""
        if self.used and not self.came_to_nothing:
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
        problem = self.open()[1]
        if problem:
            warn(f'{self.path}: {problem}; what it said is lost, and the run goes on from its checkpoints')
        if others_can_write(self.path):
            warn(f'others can write to {self.path}, and so change this run; chmod go-w ends that')

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
        if self.came_to_nothing or not (self.path / CONFIG).exists():
            return {}
        before, after = _flat(self.settings()), _flat(plain(config))
        keys = sorted(before.keys() | after.keys())
        return {key: (before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key)}

    def start(self, config: Config, seed: int, world_size: int) -> None:
        """Write config.py and run.json at the start, or at the continuation, of a run."""
        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / MARKER).unlink(missing_ok=True)
        if self.came_to_nothing:
            for name in (CONFIG, RUN):  # in this order: a kill in between leaves a start that came to nothing
                (self.path / name).unlink(missing_ok=True)
        before = self.read()
        if before:
            self.update(sums={})  # first: a kill in between must not make a good file look damaged
        text = to_text(config).encode()
        write_atomically(self.path / CONFIG, text)
        self.update(
            sums={CONFIG: hashlib.sha256(text).hexdigest()},
            epochs=config.get('train_cfg', {}).get('max_epochs'),
            id=before.get('id') or uuid.uuid4().hex[:12],
            config=str(config.filename),
            config_hash=fingerprint(config),
            version=__version__,
            commits=list(dict.fromkeys([*before.get('commits', []), source_commit()])),
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
        before, metrics = self.read(), self.path / METRICS
        size = metrics.stat().st_size if metrics.is_file() else 0
        rates = [record['images_per_s'] for record in self.records('train') if record.get('images_per_s')]
        memory = [record['memory_mb'] for record in self.records('train') if record.get('memory_mb')]
        self.update(
            state=state,
            exit_code=exit_code,
            end=now(),
            epoch=last['epoch'] if (last := last_record(metrics, 'train')) else 0,
            hours=before.get('hours_before', 0.0) + seconds / 3600,
            images_per_s=round(statistics.median(rates), 1) if rates else None,
            peak_memory_mb=round(max(memory), 1) if memory else None,
            final=self.final(),
            validations=len(self.records('val')),
            values=all_numbers(self.records('val')),
            sums={**(before.get('sums') or {}), METRICS: {'bytes': size, 'sha256': hash_start(metrics, size)}},
        )

    def mark_preempted(self, reason: str) -> None:
        """Leave a file that says that the run is to be started again: exit codes get lost in launchers."""
        write_atomically(self.path / MARKER, f'{now()} {reason}\n')

    def read(self) -> dict[str, Any]:
        """Return run.json, empty if there is none, or none that can be read: `open` says what is wrong with it."""
        return self.open()[0]

    def open(self) -> tuple[dict[str, Any], str]:
        """Return run.json, and what is wrong with it: one damaged file must not end what looks at many."""
        try:
            values = read_sealed(self.path / RUN, follow=False)
            check_shapes(values)
        except FileNotFoundError:
            return {}, ''
        except (OSError, ValueError) as error:
            return {}, f'{RUN} cannot be read: {error}'
        return values, ''

    def update(self, **values: Any) -> None:
        """Change entries of run.json."""
        write_atomically(self.path / RUN, json.dumps(seal({**self.read(), **values}), indent=1, allow_nan=False) + '\n')

    def settings(self) -> dict[str, Any]:
        """Return the config that the run was started with; say so if it was changed since."""
        if problem := self.config_problem():
            warn(f'{self.path}: {problem}')
        return read_plain_values(self.path / CONFIG)

    def config_problem(self) -> str:
        """Say whether config.py is not the one that run.json has the hash of; people edit it, and bits flip."""
        expected = (self.read().get('sums') or {}).get(CONFIG)
        try:
            same = expected is None or sha256_of(self.path / CONFIG) == expected
        except OSError as error:
            return f'{CONFIG} cannot be read: {error.strerror}'
        return '' if same else f'{CONFIG} was changed after the run had written it ({RUN} has its hash)'

    def metrics_problem(self) -> str:
        """Say what is wrong with metrics.jsonl; nothing if it is whole.

        The sum in run.json is of what a finished start left, and goes when the next one begins: lines that a run in
        progress has written carry their own.
        """
        expected = (self.read().get('sums') or {}).get(METRICS)
        if (self.path / METRICS).is_symlink():
            return f'{METRICS} is a link, which is not followed'
        if expected is not None and hash_start(self.path / METRICS, expected['bytes']) == expected['sha256']:
            return ''
        lost = count_unreadable(self.path / METRICS)
        if lost:
            return f'{lost} lines of {METRICS} are damaged'
        return '' if expected is None else f'{METRICS} is not what was written: lines are missing or were changed'

    def records(self, kind: str | None = None) -> list[Record]:
        """Return the lines of metrics.jsonl, all or those of a kind ('train', 'val')."""
        return read_records(self.path / METRICS, kind)

    def final(self) -> dict[str, float]:
        """Return the numbers for a table, by the validations so far."""
        return final_numbers(self.records('val'))


SHAPES: dict[str, Any] = {  # of the entries of run.json that are computed with
    **dict.fromkeys(('state', 'id', 'start', 'config', 'config_hash'), str),
    **dict.fromkeys(('final', 'values', 'sums'), dict),
    **dict.fromkeys(('hours', 'hours_before', 'images_per_s', 'peak_memory_mb'), int | float),
    **dict.fromkeys(('exit_code', 'epoch', 'epochs', 'seed', 'validations'), int),
    **dict.fromkeys(('resumed', 'commits'), list),
}


def check_shapes(values: dict[str, Any]) -> None:
    """Refuse entries of run.json that nobody could have meant: it may be of an older version, or of anybody."""
    for name, shape in SHAPES.items():
        if values.get(name) is not None and not isinstance(values[name], shape):
            raise ValueError(f'{name} is {values[name]!r:.50}')
    numbers = {'final': values.get('final') or {}, **(values.get('values') or {})}
    for name, each in numbers.items():
        if not isinstance(each, dict) or not all(_is_number(number) for number in each.values()):
            raise ValueError(f'{name} is {each!r:.50}')
    metrics = (values.get('sums') or {}).get(METRICS, {'bytes': 0, 'sha256': ''})
    if not isinstance(metrics, dict) or not isinstance(metrics.get('bytes'), int) or 'sha256' not in metrics:
        raise ValueError(f'sums is {metrics!r:.50}')


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def warn(text: str) -> None:
    """Say something that no result depends on."""
    print(f'openmix_dm: warning: {text}', file=sys.stderr, flush=True)


def hardware() -> dict[str, Any]:
    """Describe the machine without naming it."""
    import torch  # not for those who only look: a table has thousands of runs, and is asked often

    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return {
        'gpus': gpus,
        'cpu': platform.machine(),
        'threads': torch.get_num_threads(),
        'torch': torch.__version__,
        'python': platform.python_version(),
    }


@functools.cache
def source_commit() -> str | None:
    """Return the commit of the source, marked where files of it were changed, or None without a repository."""
    root = Path(__file__).resolve().parents[2]
    if not (root / '.git').exists():  # an installed package, perhaps inside of somebody else's repository
        return None
    try:
        commit, changed = (
            subprocess.run(['git', '-C', root, *words], capture_output=True, text=True, timeout=10, check=True).stdout
            for words in (['rev-parse', 'HEAD'], ['status', '--porcelain', '--untracked-files=no'])
        )
    except (OSError, subprocess.SubprocessError):  # no git here, or a repository of another user
        return None
    return f'{commit.strip()}{" with changes" if changed.strip() else ""}'


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
