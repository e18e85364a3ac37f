"""A table that is wider than a sheet of paper, cut into parts: on a screen it can be scrolled, printed it cannot."""

from openmix_dm.tables.formats.grid import Grid
from openmix_dm.tables.page.dots import column_groups
from openmix_dm.tables.results import Results

FIELDS = 8  # of a sheet, beside the names of the rows


def sheets(grid: Grid, results: Results) -> list[Grid]:
    """Return the parts: columns that are compared with each other stay together if a sheet has room for them."""
    group = {column: number for number, columns in enumerate(column_groups(results)) for column in columns}
    starts = [place for place, name in enumerate(grid.head) if place and name in group]
    groups = {place: group[grid.head[place]] for place in starts}  # a number of ours begins a column
    before = dict(zip(starts[1:], starts, strict=False))
    ends = [*starts[1:], len(grid.head)]
    parts, begin = [], 1
    while begin < len(grid.head):
        fitting = [end for end in ends if begin < end <= begin + FIELDS] or [min(end for end in ends if end > begin)]
        whole = [end for end in fitting if end not in groups or groups[end] != groups[before[end]]]
        end = (whole or fitting)[-1]
        parts.append(_part(grid, begin, end))
        begin = end
    return parts


def _part(grid: Grid, begin: int, end: int) -> Grid:
    """Return some columns of a table, with the names of its rows."""
    closing = grid.closing and [grid.closing[0], *grid.closing[begin:end]]
    rows = [[row[0], *row[begin:end]] for row in grid.rows]
    return Grid([grid.head[0], *grid.head[begin:end]], rows, grid.notes, closing)
