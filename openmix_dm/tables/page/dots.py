"""The cells of a table as dot plots, ours with their intervals and beside them the paper's."""

from openmix_dm.tables.cells import Cell, unit_of
from openmix_dm.tables.page.themed import for_page
from openmix_dm.tables.results import Results
from openmix_dm.utils.stats import INTERVALS
from openmix_dm.visualization.charts import to_svg
from openmix_dm.visualization.dot_chart import Dot, dot_chart


def dot_plots(results: Results) -> list[str]:
    """Return a chart for each group of columns that are compared with each other and have results."""
    return [plot for columns in column_groups(results) if (plot := dot_plot(results, columns))]


def column_groups(results: Results) -> list[list[str]]:
    """Return the columns, those together that are compared with each other: they share what is trained on what."""
    groups: list[list[str]] = []
    for column in results.columns():
        bases = {results.by_id[c.baseline].cell.column for c in results.column(column) if c.baseline in results.by_id}
        known = next((group for group in groups if bases & set(group)), None)
        if known is None:
            groups.append([column])
        else:
            known.append(column)
    return groups


def dot_plot(results: Results, columns: list[str]) -> str:
    """Return the chart of a group of columns, nothing where none of its cells has a number of ours."""
    shared, *own = split_names(columns)
    cells = [(cell, name) for column, name in zip(columns, own, strict=True) for cell in results.column(column)]
    dots = [dot(results, cell, name) for cell, name in cells if cell.config or cell.printed is not None]
    if not any(each.ours for each in dots):
        return ''
    order = {cell.row: place for place, cell in enumerate(results.table.cells)}
    shown = sorted((each for each in dots if each.ours or each.printed is not None), key=lambda each: order[each.row])
    metric = cells[0][0].metric
    label = f'{"top-1" if metric == "top1" else metric}{unit_of(metric)}'
    words = f'our numbers{" and those of the paper" if any(d.printed is not None for d in shown) else ""}'
    return for_page(to_svg(dot_chart(shared, shown, label)), f'{words}: {shared or results.table.title}')


def dot(results: Results, cell: Cell, series: str) -> Dot:
    """Return the dot of a cell."""
    finished = list(results.by_id[cell.id].finished.values())
    return Dot(cell.row, series, INTERVALS[results.interval](finished) if finished else None, cell.printed)


def split_names(columns: list[str]) -> list[str]:
    """Return what names of several parts have in common, and what is left of each of them; one alone is ours."""
    if len(columns) == 1:
        return [columns[0], 'ours']
    parts = [column.split(', ') for column in columns]
    shared = [part for part in parts[0] if all(part in each for each in parts)]
    left = [', '.join(part for part in each if part not in shared) for each in parts]
    return [', '.join(shared), *left]
