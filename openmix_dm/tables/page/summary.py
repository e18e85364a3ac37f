"""The top of the page: how far the table is, the best gain, and all of its numbers at a glance."""

from collections import Counter
from html import escape

from openmix_dm.runs.state import Kind
from openmix_dm.tables.cells import less_is_better
from openmix_dm.tables.formats.evidence import Evidence, average_evidence, evidence
from openmix_dm.tables.formats.grid import INTERVAL_WORDS
from openmix_dm.tables.page.dots import dot_plots
from openmix_dm.tables.page.plots import effect
from openmix_dm.tables.page.themed import for_page
from openmix_dm.tables.results import Results, Trial

# what people ask -> the states that runs are in
PROGRESS: dict[str, tuple[Kind, ...]] = {
    'done': ('done',),
    'running': ('running',),
    'failed': ('failed', 'damaged'),
    'stopped': ('stopped', 'stale'),
    'missing': ('waiting',),
}
CUT = 'Bars are 95 % {}; one that reaches the edge of a frame goes on beyond it.'


def summary(results: Results) -> str:
    """Return the cards, and below them the numbers as a plot."""
    cards = [progress_card(results), *gain_cards(results)]
    return f'<section class="cards" aria-label="summary">{"".join(cards)}</section>{overview(results)}'


def count_runs(results: Results) -> dict[str, int]:
    """Return how many runs of the table are done, running, failed, stopped and missing; all are named."""
    trials: dict[str, Trial] = {t.place: t for result in results.by_id.values() for t in result.trials}
    kinds = Counter(trial.state.kind for trial in trials.values())
    return {name: sum(kinds[kind] for kind in of) for name, of in PROGRESS.items()}


def progress_card(results: Results) -> str:
    """Return how many runs are in which state, as numbers and as a bar."""
    counts = count_runs(results)
    total = sum(counts.values())
    words = ', '.join(f'{count} {name}' for name, count in counts.items())
    parts = ''.join(f'<i class="{name}" style="flex-grow: {count}"></i>' for name, count in counts.items() if count)
    items = ''.join(
        f'<li><i class="{name}"></i>{count} {name}</li>' for name, count in counts.items() if count or name != 'stopped'
    )
    return (
        f'<div class="card"><h2>Runs</h2><p class="big">{counts["done"]} <small>of {total} done</small></p>'
        f'<div class="bar" role="img" aria-label="{words}">{parts}</div><ul class="legend">{items}</ul>'
        f'{below_protocol(results)}</div>'
    )


def below_protocol(results: Results) -> str:
    """Say how many numbers are not what the table asks for; letters tell why."""
    numbers = [result for result in results.by_id.values() if result.mean]
    marked = sum(bool(result.marks) for result in numbers)
    return f'<p class="note">{marked} of {len(numbers)} numbers are below their protocol.</p>' if marked else ''


def gain_cards(results: Results) -> list[str]:
    """Return the best gain, and the average one of each column where there are few; none where nothing is compared."""
    found = evidence(results)
    if not found:
        return []
    columns = results.columns(compared=True)
    averages = [each for column in columns if (each := average_evidence(results, column)) and not results.table.axis]
    best = best_gain(results, found)
    more = f'; the largest of {len(found)}, which is above the truth on average' if len(found) > 1 else ''
    cards = [gain_card('Best gain', best, f'{best.row}, {best.column}{more}')]
    if len(found) > 1 and len(averages) <= 2:
        cards += [gain_card('Average gain', each, each.column) for each in averages]
    return cards


def best_gain(results: Results, found: list[Evidence]) -> Evidence:
    """Return the largest gain; where less is better, the smallest."""
    signs = {(cell.row, cell.column): -1 if less_is_better(cell.metric) else 1 for cell in results.table.cells}
    return max(found, key=lambda each: signs[each.row, each.column] * each.gain.mean)


def gain_card(title: str, each: Evidence, words: str) -> str:
    """Return a gain with its interval, and whether that leaves zero out."""
    low, high, seeds = each.gain.low, each.gain.high, each.gain.count
    if low is None or high is None:
        interval = f'{seeds} seed: no interval' if seeds == 1 else 'no interval'
    else:
        holds = 'holds 0' if low <= 0 <= high else 'leaves 0 out'
        interval = f'[{low:+.2f}, {high:+.2f}], which {holds}; {seeds} seeds'
    return (
        f'<div class="card"><h2>{title}</h2><p class="big">{each.gain.mean:+.2f}</p><p>{interval}</p>'
        f'<p class="note">{escape(words)}</p></div>'
    )


def overview(results: Results) -> str:
    """Return the plot of all numbers: over the axis of the table, or as dots, with the paper's beside ours."""
    if not any(result.finished for result in results.by_id.values()):
        return ''
    table = results.table
    if table.axis:
        return f'<div class="charts one">{for_page(effect(results), table.title)}</div>'
    plots = dot_plots(results)
    title = 'Paper and ours' if any(cell.printed is not None for cell in table.cells) else 'Numbers'
    kind = ' one' if len(plots) == 1 else ' dots'
    return (
        f'<h2>{title}</h2><div class="charts{kind}">{"".join(plots)}</div>'
        f'<p class="note">{CUT.format(INTERVAL_WORDS[results.interval])}</p>'
    )
