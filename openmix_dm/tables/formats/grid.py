"""A collected table as rows and columns of text, before it becomes Markdown, LaTeX or HTML."""

from dataclasses import dataclass, field, replace

from openmix_dm.tables.cells import Cell, less_is_better, unit_of
from openmix_dm.tables.results import Results, is_validated
from openmix_dm.utils.stats import Interval, Mean

INTERVAL_WORDS = {'t': 't-intervals', 'bootstrap': 'bootstrap intervals (BCa)'}


@dataclass(frozen=True)
class Entry:
    """One field of a grid: a number with its deviation or interval, and letters that point to notes."""

    main: str = ''
    extra: str = ''  # deviation or interval
    marks: str = ''
    kind: str = 'ours'  # ours, paper, name, gain, or less: a gain where less is better


@dataclass
class Grid:
    """Head and body of a table, and the notes below it."""

    head: list[str]
    rows: list[list[Entry]]
    notes: dict[str, str] = field(default_factory=dict)  # text -> letter
    closing: list[Entry] | None = None  # the row of average gains


def make_grid(results: Results) -> Grid:
    """Lay a table out: for each column our number, the paper's where it prints one, and the gain over the baseline."""
    table = results.table
    columns = list(dict.fromkeys(cell.column for cell in table.cells))
    places = {(cell.row, cell.column): cell for cell in table.cells}
    grid = Grid([table.axis or ''], [])
    for row in dict.fromkeys(cell.row for cell in table.cells):
        grid.rows.append([Entry(row, kind='name')])
    closing = [Entry('average gain', kind='name')]
    for column in columns:
        cells = results.column(column)
        printed, compared = any(c.printed is not None for c in cells), [c for c in cells if c.baseline]
        grid.head.append(column)
        closing.append(Entry())
        for line in grid.rows:
            line.append(ours(results, places.get((line[0].main, column)), grid))
        if printed:
            grid.head.append('paper')
            closing.append(Entry())
            for line in grid.rows:
                line.append(paper(places.get((line[0].main, column))))
        if compared:
            grid.head.append(f'gain over {baseline_name(results, compared)}')
            averaged = results.has_average(column)
            closing.append(gain(results.average_gain(column) if averaged else None, compared[0]))
            for line in grid.rows:
                line.append(gain_entry(results, places.get((line[0].main, column))))
        if compared and printed:
            grid.head.append("paper's gain")
            closing.append(average_of_paper(results, column))
            for line in grid.rows:
                cell = places.get((line[0].main, column))
                line.append(printed_gain(results.printed_gain(cell) if cell else None))
    if not table.axis and any(entry.main for entry in closing[1:]):
        grid.closing = closing
    return grid


def ours(results: Results, cell: Cell | None, grid: Grid) -> Entry:
    """Return our number with the letters of its shortcomings."""
    if cell is None:
        return Entry()
    result = results.by_id[cell.id]
    if cell.config is None:
        return Entry('-')
    letters = [grid.notes.setdefault(mark, letter(len(grid.notes))) for mark in result.marks]
    if result.mean is None:
        return Entry('', marks=' '.join(letters))
    return Entry(number(result.mean), deviation(result.mean), ' '.join(letters))


def paper(cell: Cell | None) -> Entry:
    """Return the paper's number; nothing for a training of ours that it does not have."""
    if cell is None or (cell.printed is None and cell.config is not None):
        return Entry(kind='paper')
    std = '' if cell.printed_std is None else f'± {cell.printed_std:.2f}'
    return Entry('-' if cell.printed is None else f'{cell.printed:.2f}', std, kind='paper')


def gain_entry(results: Results, cell: Cell | None) -> Entry:
    """Return the gain of a cell."""
    return gain(results.gain(cell), cell) if cell and cell.baseline else Entry(kind='gain')


def gain(value: Interval | None, cell: Cell) -> Entry:
    """Return a gain with its interval."""
    if value is None:
        return Entry(kind='gain')
    interval = '' if value.low is None else f'[{value.low:+.2f}, {value.high:+.2f}]'
    return Entry(f'{value.mean:+.2f}', interval, kind='less' if less_is_better(cell.metric) else 'gain')


def printed_gain(value: float | None) -> Entry:
    """Return the paper's gain."""
    return Entry('' if value is None else f'{value:+.2f}', kind='paper')


def average_of_paper(results: Results, column: str) -> Entry:
    """Return the average gain that the paper prints and, where that is another, the one of its numbers."""
    if not results.has_average(column):
        return printed_gain(None)
    recomputed = printed_gain(results.average_printed_gain(column))
    if results.table.averages is None:
        return recomputed
    printed = printed_gain(results.table.averages[column])
    return printed if printed == recomputed else replace(printed, extra=f'(recomputed {recomputed.main})')


def baseline_name(results: Results, compared: list[Cell]) -> str:
    """Return what the cells of a column are compared with: a column, a row, or several."""
    bases = [results.by_id[cell.baseline or ''].cell for cell in compared if cell.baseline in results.by_id]
    columns, rows = {base.column for base in bases}, {base.row for base in bases}
    if len(columns) == 1 and columns != {compared[0].column}:
        own = compared[0].column.split(', ')
        return ', '.join(part for part in columns.pop().split(', ') if part not in own)
    return f'{results.table.axis} {rows.pop()}'.strip() if len(rows) == 1 else 'baseline'


def number(mean: Mean) -> str:
    """Return a mean."""
    return f'{mean.value:.2f}'


def deviation(mean: Mean) -> str:
    """Return the deviation of a mean."""
    return '' if mean.std is None else f'± {mean.std:.2f}'


def letter(count: int) -> str:
    """Return a, b, ... z, aa, ab, ..."""
    first, last = divmod(count, 26)
    return (letter(first - 1) if first else '') + chr(ord('a') + last)


def facts(results: Results) -> list[str]:
    """Say what the numbers are, how many runs there are, and what they cost."""
    table, runs = results.table, results.runs()
    wanted = {t.place for result in results.by_id.values() for t in result.trials}
    done = [trial for trial in runs if trial.state.kind == 'done']
    seeds = sorted({trial.seed for trial in runs})
    hours = sum(trial.record.get('hours') or 0 for trial in runs)
    metrics = dict.fromkeys((cell.metric, cell.protocol) for cell in table.cells if cell.config)
    words = {'median_last10': 'median of the last 10 epochs', 'best': 'best epoch', 'last': 'last epoch'}
    words |= {f'ema_{protocol}': f'{said}, averaged weights' for protocol, said in words.items()}
    kinds = [  # once for a run, or at each validation
        f'{m}{unit_of(m)}' + (f', {words[p]}' if is_validated(m) else '') for m, p in metrics
    ]
    if any(less_is_better(metric) for metric, _ in metrics):
        kinds.append('of errors, memory and hours less is better')
    gains = f'gains are paired by seed, with 95 % {INTERVAL_WORDS[results.interval]}'
    return [
        f'{"; ".join(kinds)}; mean ± sample deviation over trials; {gains}.',
        f'{len(done)} of {len(wanted)} runs done (seeds {", ".join(map(str, seeds)) or "none"}), {hours:.2f} h in all.',
    ]
