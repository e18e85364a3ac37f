"""The gains of a table as a forest plot, and the tests of them, for the page or alone."""

from html import escape

from openmix_dm.errors import ConfigError
from openmix_dm.tables.cells import less_is_better, unit_of
from openmix_dm.tables.formats.evidence import average_evidence, evidence, evidence_facts, evidence_grid
from openmix_dm.tables.formats.grid import INTERVAL_WORDS, baseline_name
from openmix_dm.tables.page.themed import for_page
from openmix_dm.tables.results import Results
from openmix_dm.visualization.charts import to_svg
from openmix_dm.visualization.forest_chart import Estimate, forest_chart


def forest(results: Results, titled: bool = True) -> str:
    """Return the forest plot: the gain of each row with its interval, and the averages of the columns at the bottom."""
    table = results.table
    gains = evidence(results)
    if not gains:
        why = 'no results yet' if any(cell.baseline for cell in table.cells) else 'neither an axis nor a baseline'
        raise ConfigError(f'{table.name} has {why}: there is nothing to draw')
    order = {cell.row: place for place, cell in enumerate(table.cells)}
    shown = [Estimate(each.row, each.column, each.gain) for each in sorted(gains, key=lambda each: order[each.row])]
    columns = [column for column in results.columns(compared=True) if any(each.column == column for each in gains)]
    rows = {each.row for each in gains}
    if not table.axis and len(rows) > 1:
        averages = [each for column in columns if (each := average_evidence(results, column))]
        shown += [Estimate(each.row, each.column, each.gain, total=True) for each in averages]
    return to_svg(forest_chart(table.title if titled else '', shown, _words(results, columns)))


def _words(results: Results, columns: list[str]) -> str:
    """Say what the x axis is."""
    cells = [cell for cell in results.column(columns[0]) if cell.baseline]
    metric = cells[0].metric
    over = baseline_name(results, cells)
    name = 'top-1' if metric == 'top1' else metric
    unit = ' in points' if metric == 'top1' else unit_of(metric)
    better = '; less is better' if less_is_better(metric) else ''
    return f'gain over {over}: {name}{unit} (95 % {INTERVAL_WORDS[results.interval]}, paired by seed{better})'


def evidence_section(results: Results) -> str:
    """Return the part of the page with forest plot and tests; nothing where there are no gains."""
    if not evidence(results):
        return ''
    grid = evidence_grid(results)
    head = ''.join(f'<th scope="col">{escape(name)}</th>' for name in grid.head)
    texts = ([' '.join(filter(None, (entry.main, entry.extra))) for entry in row] for row in grid.rows)
    body = ''.join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td>{escape(text)}</td>" for text in row)}</tr>'
        for name, *row in texts
    )
    tests = (
        '<table class="cost sortable"><caption>Tests of the gains</caption>'
        f'<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    )
    plot = for_page(forest(results, titled=False), 'the gain of each row with its interval')
    return (
        f'<h2>Gains</h2><div class="charts one">{plot}</div>'
        f'<div class="wide" tabindex="0">{tests}</div>'
        f'<p class="note">{"<br>".join(map(escape, evidence_facts(results)))}</p>'
    )
