"""metrics.jsonl, the truth about a run: every number of it, one flat JSON object a line."""

import json
import math
import statistics
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openmix_dm.errors import DataError
from openmix_dm.utils.files import Dispensable, append_plainly, read_plainly, write_atomically

METRICS = 'metrics.jsonl'
CHECK = 'crc'  # the last entry of a line: the crc32 of all that is before it
MOST = 2**32  # bytes of a file
ENOUGH_FOR_MEDIAN = 20  # validations: the last ten are then not most of a training, and their median can be told
Record = dict[str, Any]


def read_records(path: Path, kind: str | None = None) -> list[Record]:
    """Return the records of a file, all or those of a kind; lines that are damaged or cut off are left out."""
    mark = b'' if kind is None else f'"{kind}"'.encode()  # most lines are of another kind: they need not be parsed
    records = [record for line in _lines(path) if mark in line and (record := _parse(line)) is not None]
    return [record for record in records if kind is None or record['kind'] == kind]


def count_unreadable(path: Path) -> int:
    """Return how many lines are damaged; a last one that a crash has cut off is none: it has neither end nor brace."""
    lines = [line for line in _lines(path) if line.strip() and (line.endswith(b'\n') or b'}' in line)]
    return sum(not _sum_is_right(line) and _parse(line) is None for line in lines)


def last_record(path: Path, kind: str) -> Record | None:
    """Return the last record of a kind, from the end of the file alone where it is there."""
    for size in (2**14, None):
        for line in reversed(_lines(path, size)):
            record = _parse(line)
            if record is not None and record['kind'] == kind:
                return record
    return None


def _lines(path: Path, size: int | None = None) -> list[bytes]:
    """Return the lines of a file, or of the last `size` bytes of it."""
    try:
        return read_plainly(path, MOST, last=size).splitlines(keepends=True)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DataError(f'{path} cannot be read: {error}') from None


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
    if lost := count_unreadable(path):
        print(f'openmix_dm: warning: {lost} lines of {path} are damaged and left out', file=sys.stderr, flush=True)
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
            with append_plainly(self.path) as file:
                # what a full disk has cut off ends here, and is passed over when the file is read
                file.write(('\n' * (len(self._unwritten) > 1) + ''.join(self._unwritten)).encode())
            self._unwritten.clear()


def final_numbers(validations: Sequence[Record]) -> dict[str, float]:
    """Return the numbers for a table: median of the last 10 validations, best and last, of each network evaluated."""
    names = sorted({name for record in validations for name in record if name == 'top1' or name.endswith('_top1')})
    summary: dict[str, float] = {}
    for name in names:
        values = _values(validations, name)
        if values:
            prefix = name.removesuffix('top1')
            summary |= {f'{prefix}{key}': round(value, 4) for key, value in summarise(values).items()}
    return summary


def all_numbers(validations: Sequence[Record]) -> dict[str, dict[str, float]]:
    """Return median of the last 10, largest, smallest and last of every value of the validations, by its name."""
    names = dict.fromkeys(name for record in validations for name in record if name not in ('kind', 'iter', 'epoch'))
    found = {name: _values(validations, name) for name in names}
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
    """Return a record as one line of strict JSON with a check sum of itself; what is not finite becomes null."""
    finite = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in record.items()}
    text = json.dumps(finite, allow_nan=False).removesuffix('}')
    return f'{text}, "{CHECK}": {zlib.crc32(text.encode())}}}\n'


def _sum_is_right(line: bytes) -> bool:
    """Say whether a line has a check sum, and the right one: then it need not be parsed to be trusted."""
    text, _, check = line.strip().rpartition(f', "{CHECK}": '.encode())
    return check == b'%d}' % zlib.crc32(text)


def _parse(line: bytes) -> Record | None:
    """Return the record on a line, None if there is none or its check sum is wrong; older lines have no sum."""
    text, found, _ = line.strip().rpartition(f', "{CHECK}": '.encode())
    if found and not _sum_is_right(line):
        return None
    try:
        record = json.loads(text + b'}' if found else line)
    except (ValueError, RecursionError):
        return None
    whole = isinstance(record, dict) and isinstance(record.get('kind'), str) and isinstance(record.get('iter'), int)
    return record if whole and isinstance(record.get('epoch'), int) else None


def _values(records: Sequence[Record], name: str) -> list[float]:
    """Return the numbers of a name; what a foreign line holds beside numbers is left out."""
    return [record[name] for record in records if isinstance(record.get(name), int | float)]
