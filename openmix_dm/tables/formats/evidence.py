"""What the gains of a table prove: paired t-tests, Holm's correction over rows, and what more seeds would find."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from openmix_dm.tables.formats.grid import Entry, Grid, baseline_name, gain
from openmix_dm.tables.results import Results
from openmix_dm.utils.stats import Interval, average_differences, gain_found, holm, mean_of, t_test

AVERAGE = 'average'


@dataclass(frozen=True)
class Evidence:
    """One gain over a baseline, and what speaks for it; None where there are too few seeds."""

    row: str
    column: str
    gain: Interval
    std: float | None = None  # of the differences of paired seeds
    p: float | None = None
    p_holm: float | None = None  # corrected for the rows of the column
    seeds_find: dict[int, float] = field(default_factory=dict)  # number of seeds -> gain that they would find


def evidence(results: Results) -> list[Evidence]:
    """Return the evidence for each gain; the family that p-values are corrected for are the rows of a column."""
    found = [
        _tested(cell.row, cell.column, each, results.differences(cell), results.power)
        for cell in results.table.cells
        if (each := results.gain(cell)) is not None
    ]
    return [each for column in results.columns() for each in _corrected([e for e in found if e.column == column])]


def average_evidence(results: Results, column: str) -> Evidence | None:
    """Return the evidence for the average gain of a column: one test, which needs no correction."""
    average = results.average_gain(column) if results.has_average(column) else None
    if average is None:
        return None
    return _tested(AVERAGE, column, average, average_differences(results.pairs(column)), results.power)


def _tested(row: str, column: str, found: Interval, differences: Sequence[float], power: Sequence[int]) -> Evidence:
    mean = mean_of(differences)
    if mean is None or mean.std is None:
        return Evidence(row, column, found)
    std = mean.std
    return Evidence(row, column, found, std, t_test(differences), None, {n: gain_found(std, n) for n in power})


def _corrected(rows: list[Evidence]) -> list[Evidence]:
    corrected = iter(holm([each.p for each in rows if each.p is not None]))
    return [each if each.p is None else replace(each, p_holm=next(corrected)) for each in rows]


def evidence_grid(results: Results) -> Grid:
    """Lay the evidence out as a table: a line for each gain, and for the average of each column."""
    columns, tested = results.columns(compared=True), evidence(results)
    head = ['', 'seeds', f'gain over {_baseline(results)}', 'deviation', 'p', 'p (Holm)']
    grid = Grid([*head, *(f'{seeds} seeds find' for seeds in results.power)], [])
    for column in columns:
        lines = [each for each in tested if each.column == column]
        average = None if results.table.axis else average_evidence(results, column)
        for each in (*lines, *([average] if average else [])):
            name = f'{each.row}, {column}' if len(columns) > 1 else each.row
            grid.rows.append(_line(results, each, name))
    return grid


def _baseline(results: Results) -> str:
    compared = [cell for cell in results.table.cells if cell.baseline]
    names = {baseline_name(results, list(cells)) for _, cells in itertools.groupby(compared, lambda cell: cell.column)}
    return names.pop() if len(names) == 1 else 'baseline'


def _line(results: Results, each: Evidence, name: str) -> list[Entry]:
    (cell, *_) = (cell for cell in results.column(each.column) if cell.baseline)
    numbers = [_number(each.std), p_text(each.p), p_text(each.p_holm)]
    numbers += [_number(each.seeds_find.get(seeds)) for seeds in results.power]
    return [
        Entry(name, kind='name'),
        Entry(str(each.gain.count)),
        gain(each.gain, cell),
        *(Entry(text) for text in numbers),
    ]


def _number(value: float | None) -> str:
    return '' if value is None else f'{value:.2f}'


def p_text(value: float | None) -> str:
    """Return a p-value as one prints it."""
    return '' if value is None else '< 0.0001' if value < 0.0001 else f'{value:.4f}'


def evidence_facts(results: Results) -> list[str]:
    """Say what the numbers of the evidence are."""
    facts = [
        'p: two-sided paired t-test; p (Holm): corrected for the rows that are compared in a column. The average is '
        'one test of the mean over rows, and is not corrected.'
    ]
    if results.power:
        facts.append(
            'n seeds find: the size of a gain that the test (p < 0.05) would find in n seeds with a probability of '
            '80 %, if the deviation between seeds is the one found here.'
        )
    return facts
