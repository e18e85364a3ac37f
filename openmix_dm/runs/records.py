"""metrics.jsonl, the truth about a run: every number of it, one flat JSON object a line."""

import json
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openmix_dm.utils.files import Dispensable, write_atomically

METRICS = 'metrics.jsonl'
Record = dict[str, Any]


def read_records(path: Path, kind: str | None = None) -> list[Record]:
    """Return the records of a file, all or those of a kind; a last line that a crash cut off is left out."""
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        return []
    records = [record for record in map(_parse, lines) if record is not None]
    return [record for record in records if kind is None or record['kind'] == kind]


def trim_records(path: Path, iteration: int, validated: bool = True) -> list[Record]:
    """Forget what was recorded after an iteration, where a run goes on.

    Returns the other records of that iteration where its validation is forgotten too.

    Args:
        path: the file.
        iteration: after which the run goes on.
        validated: its validation stays. Otherwise it is done again, and may have been recorded already. Default: True.
    """
    if not path.exists():
        return []
    records = [record for record in read_records(path) if record['iter'] <= iteration]
    again = [] if validated else [r for r in records if r['kind'] == 'val' and r['iter'] == iteration]
    kept = [record for record in records if record not in again]
    write_atomically(path, ''.join(to_line(record) for record in kept))
    return [record for record in kept if record['iter'] == iteration] if again else []


class RecordFile:
    """Append records to a file; while the disk is full, keep them for the next time.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._unwritten: list[str] = []
        self._dispensable = Dispensable(path.name)

    def append(self, record: Record) -> None:
        """Write a record, and those that could not be written before it."""
        self._unwritten.append(to_line(record))
        with self._dispensable.writing():
            with self.path.open('a') as file:
                # what a full disk has cut off ends here, and is passed over when the file is read
                file.write('\n' * (len(self._unwritten) > 1) + ''.join(self._unwritten))
            self._unwritten.clear()


def final_numbers(validations: Sequence[Record]) -> dict[str, float]:
    """Return the numbers for a table: median of the last 10 validations, best and last, of each network evaluated."""
    names = sorted({name for record in validations for name in record if name == 'top1' or name.endswith('_top1')})
    summary: dict[str, float] = {}
    for name in names:
        values = [record[name] for record in validations if record.get(name) is not None]
        if values:
            prefix = name.removesuffix('top1')
            summary |= {f'{prefix}{key}': round(value, 4) for key, value in summarise(values).items()}
    return summary


def all_numbers(validations: Sequence[Record]) -> dict[str, dict[str, float]]:
    """Return median of the last 10, largest, smallest and last of every value of the validations, by its name."""
    names = dict.fromkeys(name for record in validations for name in record if name not in ('kind', 'iter', 'epoch'))
    found = {name: [record[name] for record in validations if record.get(name) is not None] for name in names}
    return {
        name: {
            'median_last10': statistics.median(values[-10:]), 'max': max(values), 'min': min(values), 'last': values[-1]
        }
        for name, values in found.items()
        if values
    }  # fmt: skip


def summarise(values: list[float]) -> dict[str, float]:
    """Return the paper's three ways to make one number of a training."""
    return {'median_last10': statistics.median(values[-10:]), 'best': max(values), 'last': values[-1]}


def to_line(record: Record) -> str:
    """Return a record as one line of strict JSON; what is not finite becomes null."""
    finite = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in record.items()}
    return json.dumps(finite, allow_nan=False) + '\n'


def _parse(line: str) -> Record | None:
    try:
        return json.loads(line)
    except ValueError:
        return None
