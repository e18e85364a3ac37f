"""Put the page together."""

from html import escape

from openmix_dm.invocation import documented
from openmix_dm.tables.formats.grid import Entry, Grid, facts, make_grid
from openmix_dm.tables.page.details import details
from openmix_dm.tables.page.forest import evidence_section
from openmix_dm.tables.page.looks import STYLE
from openmix_dm.tables.page.plots import learning_curves
from openmix_dm.tables.page.script import POLICY, SCRIPT
from openmix_dm.tables.page.sheets import sheets
from openmix_dm.tables.page.summary import summary
from openmix_dm.tables.results import Results


def to_html(results: Results) -> str:
    """Return one page that needs nothing from anywhere else, and is forbidden to ask for it."""
    table, grid = results.table, make_grid(results)
    runs = details(results)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{escape(table.name)}</title><link rel="icon" href="data:,"><style>{STYLE}</style></head><body><main>'
        f'<h1>{escape(table.title)}</h1><p class="note">{escape(origin(results))}</p>'
        f'{summary(results)}<h2>Table</h2>{tables(grid, results)}{notes(grid)}'
        f'<p class="facts">{"<br>".join(map(escape, facts(results)))}</p>'
        f'{evidence_section(results)}{curves_section(results)}'
        f'{f"<h2>Runs</h2>{SAMPLES}{runs}" if runs else ""}</main><script>{SCRIPT}</script></body></html>\n'
    )


SAMPLES = '<p class="note">Pictures: the mixer asked for half of each image, with the label that it gives.</p>'
NO_CURVES = 'Learning curves are in the work dirs; this page was made of files that hold the results alone.'
CURVES = 'Mean over trials; the band reaches from the lowest to the highest.'
CUT_OFF = ' The axis leaves out the first rise.'


def curves_section(results: Results) -> str:
    """Return the learning curves, or why there are none."""
    curves, cut = learning_curves(results)
    if curves:
        words = CURVES + (CUT_OFF if cut else '')
        return f'<h2>Validation accuracy</h2><p class="note">{words}</p>{grid_of(list(curves.values()))}'
    filed = any(trial.folder is None for trial in results.runs())
    return f'<h2>Validation accuracy</h2><p class="note">{NO_CURVES}</p>' if filed else ''


def grid_of(charts: list[str]) -> str:
    """Return charts beside each other, as many as fit."""
    return f'<div class="charts">{"".join(charts)}</div>'


def origin(results: Results) -> str:
    """Say where the table is from and which command makes it."""
    table = results.table
    source = f'{table.source} of the paper, ' if table.source else ''
    return f'{source}table {table.name}: {documented("table", "run", table.name)}'


def tables(grid: Grid, results: Results) -> str:
    """Return the table; of one that is wider than a sheet of paper, also the parts that are printed instead."""
    whole, parts = main_table(grid, results), sheets(grid, results)
    if len(parts) == 1:
        return whole
    printed = ''.join(main_table(part, results) for part in parts)
    return f'<div class="on-screen">{whole}</div><div class="on-paper">{printed}</div>'


def main_table(grid: Grid, results: Results) -> str:
    """Return the table itself; our numbers lead to their runs."""
    links = {(cell.row, cell.column): cell.id for cell in results.table.cells}
    kinds = [' class="paper"' if name in ('paper', "paper's gain") else '' for name in grid.head]
    head = ''.join(f'<th scope="col"{kind}>{lines(name)}</th>' for kind, name in zip(kinds, grid.head, strict=True))
    body = []
    for row in grid.rows:
        fields = [
            field(entry, links.get((row[0].main, name)) if entry.kind == 'ours' else None)
            for name, entry in zip(grid.head, row, strict=True)
        ]
        body.append(f'<tr>{"".join(fields)}</tr>')
    foot = f'<tfoot><tr>{"".join(field(entry) for entry in grid.closing)}</tr></tfoot>' if grid.closing else ''
    return (
        f'<div class="wide" tabindex="0"><table class="main sortable"><caption>{escape(CAPTION)}</caption>'
        f'<thead><tr>{head}</tr></thead>'
        f'<tbody>{"".join(body)}</tbody>{foot}</table></div>'
    )


CAPTION = 'Our numbers lead to their runs; letters are explained below.'


def lines(name: str) -> str:
    """Break a name of several parts into lines."""
    return escape(name).replace(', ', ',<br>')


def field(entry: Entry, link: str | None = None) -> str:
    """Return one field of the table."""
    text = escape(entry.main)
    if link and entry.main not in ('', '-'):
        text = f'<a href="#{escape(link, quote=True)}">{text}</a>'
    marks = f'<sup>{escape(entry.marks)}</sup>' if entry.marks else ''
    extra = f'<span class="extra">{escape(entry.extra)}</span>' if entry.extra else ''
    if entry.kind == 'name':
        return f'<th scope="row" class="name">{text}</th>'
    return f'<td class="{entry.kind}{direction(entry)}">{text}{marks}{extra}</td>'


def direction(entry: Entry) -> str:
    """Colour a gain only where its interval leaves zero out."""
    if entry.kind not in ('gain', 'less') or not entry.extra:
        return ''
    low, high = (float(end) for end in entry.extra.strip('[]').split(','))
    better, worse = (low > 0, high < 0) if entry.kind == 'gain' else (high < 0, low > 0)
    return ' better' if better else ' worse' if worse else ''


def notes(grid: Grid) -> str:
    """Return what the letters stand for."""
    lines = (f'<sup>{letter}</sup> {escape(text)}' for text, letter in grid.notes.items())
    return f'<p class="note">{"<br>".join(lines)}</p>' if grid.notes else ''
