"""The charts of a table: learning curves of each row, and a setting's effect where rows are its values."""

import statistics
from collections import defaultdict

from openmix_dm.errors import ConfigError
from openmix_dm.invocation import command
from openmix_dm.tables.cells import unit_of
from openmix_dm.tables.page.themed import for_page
from openmix_dm.tables.results import Result, Results
from openmix_dm.visualization.charts import Line, line_chart, to_svg

SETTLED = 0.25  # the share of epochs that may fall below the frame, so that the end can be seen
ASIDE = 0.04  # between the points of two curves at one value, so that their error bars can be told apart


def learning_curves(results: Results) -> tuple[dict[str, str], bool]:
    """Return for each row that has begun a chart of validation accuracy over epochs, a curve for each column.

    And whether any of them leaves out the first rise.
    """
    rows: dict[str, list[tuple[str, Result]]] = defaultdict(list)
    for result in results.by_id.values():
        if any(trial.validations() for trial in result.trials):
            rows[result.cell.row].append((result.cell.column, result))
    charts, cut = {}, False
    for row, columns in rows.items():
        lines = list({name: line for name, result in columns if (line := accuracy(name, result))}.values())
        if lines:
            title = f'{results.table.axis} {row}'.strip()
            shown = settled_range(lines)
            cut = cut or any(
                value < shown[0] or value > shown[1] for line in lines for value in (*line.low, *line.high)
            )
            drawn = to_svg(line_chart(title, lines, 'epoch', 'validation top-1 in %', shown))
            charts[row] = for_page(drawn, f'validation accuracy over epochs: {title}')
    return charts, cut


def accuracy(name: str, result: Result) -> Line | None:
    """Return the mean over trials of the validation accuracy, and the band between the lowest and the highest."""
    values: dict[int, list[float]] = defaultdict(list)
    for trial in result.trials:
        for record in trial.validations():
            if record.get('top1') is not None:
                values[record['epoch']].append(record['top1'])
    epochs = sorted(values)
    if not epochs:
        return None
    columns = [values[epoch] for epoch in epochs]
    return Line(
        name, epochs, [statistics.fmean(v) for v in columns], [min(v) for v in columns], [max(v) for v in columns]
    )


def settled_range(lines: list[Line]) -> tuple[float, float]:
    """Return the range of the curves after their first rise."""
    last = max(max(line.x) for line in lines)
    late = [
        value
        for line in lines
        for bound in (line.low, line.high)
        for epoch, value in zip(line.x, bound, strict=True)
        if epoch >= SETTLED * last
    ]
    return min(late), max(late)


def effect(results: Results) -> str:
    """Return the chart of an ablation: mean and deviation for each value of the setting, a curve for each column."""
    table = results.table
    if not table.axis:
        raise ConfigError(f'{table.name} has no axis to draw: its rows are not values of one setting')
    rows = list(dict.fromkeys(cell.row for cell in table.cells))
    lines = []
    for number, column in enumerate(dict.fromkeys(cell.column for cell in table.cells)):
        points = [
            (rows.index(cell.row) + ASIDE * number, mean.value, mean.std or 0.0)
            for cell in results.column(column)
            if (mean := results.by_id[cell.id].mean)
        ]
        if points:
            x, y, std = zip(*points, strict=True)
            low, high = ([b + sign * s for b, s in zip(y, std, strict=True)] for sign in (-1, 1))
            lines.append(Line(column, x, y, low, high, printed_points(results, column, rows, number)))
    if not lines:
        raise ConfigError(f'{table.name} has no results yet: {command("table", "run", table.name)}')
    bounds = [value for line in lines for bound in (line.low, line.high) for value in bound]
    bounds += [value for line in lines for _, value in line.printed]
    metric = table.runnable()[0].metric
    y_label = f'{"top-1" if metric == "top1" else metric}{unit_of(metric)}'
    x_label = f'{table.axis} (bars: ± deviation over seeds)'
    return to_svg(line_chart(table.title.split(':')[0], lines, x_label, y_label, (min(bounds), max(bounds)), rows))


def printed_points(results: Results, column: str, rows: list[str], number: int) -> list[tuple[float, float]]:
    """Return the numbers that the paper prints for cells of a curve, each at the place of ours."""
    cells = results.column(column)
    return [(rows.index(cell.row) + ASIDE * number, cell.printed) for cell in cells if cell.printed is not None]
