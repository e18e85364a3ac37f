"""Images and labels out of the columns of an Arrow table."""

from collections.abc import Callable
from typing import Any

import numpy as np

from openmix_dm.datasets.image_files import numbered_classes
from openmix_dm.errors import ConfigError, DataError, first_line
from openmix_dm.utils.suggest import did_you_mean


class ImageColumn:
    """The encoded images of a memory-mapped table: a column of structs with bytes and path, or of bytes alone.

    Args:
        data: a `datasets.Dataset`.
        key: name of the column.
        where: what holds the table, for messages.
    """

    def __init__(self, data: Any, key: str, where: str) -> None:
        schema = data.data.schema
        check_column(
            data, 'image_key', key, where,
            lambda name: _holds_bytes(schema.field(name).type),
            'images (bytes, as datasets.Image stores them)',
        )  # fmt: skip
        self._rows, self._fields = sound_column(data, key, where), _fields(schema.field(key).type)

    def content(self, index: int) -> bytes | None:
        """Return the bytes of an image; None if the table has none."""
        row = self._rows[index]
        if self._fields and row.is_valid:
            row = row['bytes']
        return row.as_py()

    def path(self, index: int) -> str:
        """Return what the table calls an image; '' if it has no name."""
        return (self._rows[index]['path'].as_py() or '') if 'path' in self._fields else ''


def _holds_bytes(kind: Any) -> bool:
    import pyarrow.types as types

    if 'bytes' in _fields(kind):
        kind = kind.field('bytes').type
    return types.is_binary(kind) or types.is_large_binary(kind)


def _fields(kind: Any) -> list[str]:
    """Return the names of the fields of a struct; none for another type."""
    import pyarrow.types as types

    return [kind.field(place).name for place in range(kind.num_fields)] if types.is_struct(kind) else []


def read_labels(data: Any, key: str, where: str) -> tuple[np.ndarray, list[str]]:
    """Return the labels of all rows, and the names of the classes."""
    check_column(data, 'label_key', key, where, lambda name: _is_label(data.features[name]), 'labels (ClassLabel, int)')
    column = sound_column(data, key, where)
    if not len(column) or column.null_count:
        what = f'has {column.null_count} rows without a label' if len(column) else 'has no rows'
        raise DataError(f'{where} {what}; expected a label for each image')
    labels = column.to_numpy().astype(np.int64)
    names = getattr(data.features[key], 'names', None) or numbered_classes(int(labels.max()) + 1, where)
    wrong = np.flatnonzero((labels < 0) | (labels >= len(names)))
    if len(wrong):
        row = int(wrong[0])
        hidden = '; -1 says that the labels of this split are not published: take another' if labels[row] == -1 else ''
        raise DataError(
            f'{where}: label {labels[row]} of row {row} is out of range, expected 0 to {max(len(names) - 1, 0)}{hidden}'
        )
    return labels, list(names)


def sound_column(data: Any, key: str, where: str) -> Any:
    """Return a column whose places lie inside of its file: pyarrow does not look, and a damaged one ends the process.

    The images themselves are not read for it, only where they begin: of a million, in tenths of a second.
    """
    column = data.data.column(key)
    try:
        column.validate(full=True)
    except Exception as error:  # whatever pyarrow says
        raise DataError(f'{where}: the column {key!r} is damaged ({first_line(error)}); write it again') from error
    return column


def check_column(data: Any, argument: str, key: str, where: str, fits: Callable[[str], bool], expected: str) -> None:
    """Refuse a column that is not there or holds something else; say which would do."""
    known = list(data.column_names)
    fitting = [name for name in known if fits(name)]
    there = ', '.join(f'{name} ({_kind(data.features[name])})' for name in known)
    todo = f'{argument}={fitting[0]!r}' if len(fitting) == 1 else f'one of {fitting}' if fitting else 'other data'
    if key not in known:
        raise ConfigError(
            f'{where} has no column {key!r}{did_you_mean(key, known)}; {argument} must name one of {expected}, '
            f'got the columns {there}; try {todo}'
        )
    if key not in fitting:
        names = ''
        if _kind(data.features[key]) in ('string', 'large_string'):
            names = (
                ' (names of classes are not numbered here, because a split without one of them would be numbered '
                f'otherwise: save it with .cast_column({key!r}, datasets.ClassLabel(names=[...])))'
            )
        raise DataError(
            f'{where}: expected {expected} in the column {key!r}, got the columns {there}{names}; try {todo}'
        )


def _is_label(feature: Any) -> bool:
    kind = _kind(feature)
    return kind == 'ClassLabel' or kind.startswith(('int', 'uint'))


def _kind(feature: Any) -> str:
    return getattr(feature, 'dtype', '') if type(feature).__name__ == 'Value' else type(feature).__name__
