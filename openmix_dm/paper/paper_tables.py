"""The tables of the paper, each cell with the config that makes its number."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from openmix_dm.paper.naming import config_of, is_semi, paper, parts_of
from openmix_dm.paper.recipe_settings import expected_settings
from openmix_dm.paper.rules import expected_semi_values, expected_values
from openmix_dm.paper.semi_settings import expected_semi_settings
from openmix_dm.tables.cells import Cell, Metric, Protocol, Said, Table

METRICS: dict[str, Metric] = {
    'top1_acc': 'top1',
    'fgsm_error': 'fgsm',
    'gpu_memory': 'memory',
    'total_training_time': 'hours',
}

METRIC_WORDS = {'top1': '', 'fgsm': 'FGSM error', 'memory': 'memory (GB)', 'hours': 'time (h)'}

GPU_OF_COSTS = 'A100'  # Table 10: "on a single A100 GPU"

# The loss that a loss is compared with; Vanilla, which has no mixing, is compared with nothing.
COMPARED = {'dm': 'mce', 'mbce2': 'mbce', 'dmbce': 'mbce', 'mce-high': 'mce', 'mce-low': 'mce'}

# Where the paper compares a row with another one than its COMPARED: semi-supervised methods with no mixing at all.
COMPARED_PLAIN = ('finetuning', 'cotuning', 'mixmatch', 'fixmatch')


@cache
def paper_tables() -> tuple[Table, ...]:
    """Return the 17 tables of results in the paper's order, 663 cells in all."""
    return tuple(_table(printed) for printed in paper()['tables'])


@cache
def supervised_tables() -> tuple[Table, ...]:
    """Return the 14 tables without semi-supervised methods."""
    pairs = zip(paper()['tables'], paper_tables(), strict=True)
    return tuple(table for printed, table in pairs if not is_semi(printed['cells'][0]))


@cache
def _cells_by_config() -> dict[str, list[tuple[Table, Cell]]]:
    found: dict[str, list[tuple[Table, Cell]]] = {}
    for table in paper_tables():
        for cell in table.runnable():
            found.setdefault(str(cell.config), []).append((table, cell))
    return found


def cells_of(config: str) -> list[tuple[Table, Cell]]:
    """Return the cells that a config fills, given as `cifar100/r18_mixup.py`; none for a config of one's own."""
    return list(_cells_by_config().get(config, []))


def _table(printed: dict[str, Any]) -> Table:
    cells = {_id(cell): cell for cell in printed['cells']}
    made = tuple(_cell(cell, printed, set(cells)) for cell in printed['cells'])

    def expected(cell: Cell) -> dict[str, Any]:
        said = cells[cell.id]
        return expected_semi_values(said) if is_semi(said) else expected_values(said)

    def settings(cell: Cell) -> dict[str, Said]:
        said = cells[cell.id]
        return expected_semi_settings(said) if is_semi(said) else expected_settings(said)

    return Table(
        printed['id'],
        printed['caption'],
        made,
        trials=3,
        source=printed['paper_number'],
        averages=_averages(printed, made),
        expected=expected,
        settings=settings,
    )


def _averages(printed: dict[str, Any], cells: Sequence[Cell]) -> dict[str, float]:
    """Return the average gains that a table prints, by column; right or wrong."""
    found = {}
    for average in printed['avg_gain']:
        said = average['column']
        columns = {
            cell.column
            for cell in cells
            if all(cell.facts[key] == said[key] for key in ('dataset', 'backbone', 'loss'))
            and set(said['setting'].split(';')) <= set(cell.facts['setting'].split(';'))
        }
        (column,) = columns
        found[column] = average['paper_value']
    return found


def _cell(printed: dict[str, Any], table: dict[str, Any], ids: set[str]) -> Cell:
    metric = METRICS[printed['metric']]
    return Cell(
        id=_id(printed),
        row=printed['method'],
        column=_column(printed, table['cells']),
        config=config_of(printed),
        metric=metric,
        protocol=_protocol(printed, metric),
        printed=printed['value'],
        printed_std=printed['std'],
        baseline=_baseline(printed, ids),
        hardware=GPU_OF_COSTS if metric in ('memory', 'hours') else '',
        facts={name: printed[name] for name in ('dataset', 'backbone', 'method', 'loss', 'setting')},
    )


def _id(printed: dict[str, Any], loss: str | None = None) -> str:
    """Return e.g. 'cifar100/r18/mixup/dm/400e/fgsm': the tokens of the config, and the metric if it is another."""
    folder, backbone, method, own_loss, variant = parts_of(printed)
    metric = METRICS[printed['metric']]
    if metric in ('memory', 'hours'):
        variant = ''
    return '/'.join(
        filter(None, [folder, backbone, method, loss or own_loss, variant, '' if metric == 'top1' else metric])
    )


def _baseline(printed: dict[str, Any], ids: set[str]) -> str | None:
    """Return the id of the cell that the paper compares with; none for a baseline and for a dash."""
    _, _, method, loss, _ = parts_of(printed)
    against = 'ce' if is_semi(printed) and method in COMPARED_PLAIN else COMPARED.get(loss)
    if against is None or loss == against or printed['value'] is None:
        return None
    if is_semi(printed) and loss == 'mce':  # +Mixup is a baseline itself
        return None
    other = _id(printed, loss=against)
    return other if other in ids else None


def _protocol(printed: dict[str, Any], metric: Metric) -> Protocol:
    if metric != 'top1':
        return 'last'
    if not is_semi(printed):
        return 'median_last10'
    return 'ema_best' if printed['setting_fields']['recipe'] == 'ssl_scratch' else 'best'


def _column(printed: dict[str, Any], cells: list[dict[str, Any]]) -> str:
    """Return what tells a column from the others of its table."""
    parts = [printed[name] for name in ('dataset', 'backbone') if len({cell[name] for cell in cells}) > 1]
    variants = {parts_of(cell)[4] for cell in cells}
    metric = METRICS[printed['metric']]
    if len(variants) > 1 and metric in ('top1', 'fgsm') and parts_of(printed)[4]:
        parts.append(_variant_words(parts_of(printed)[4], is_semi(printed)))
    if not _losses_are_rows(cells):
        parts.append('MCE' if printed['loss'] == 'CE' else printed['loss'])
    parts.append(METRIC_WORDS[metric])
    return ', '.join(filter(None, parts)) or printed['dataset']


def _losses_are_rows(cells: list[dict[str, Any]]) -> bool:
    losses: dict[str, set[str]] = {}
    for cell in cells:
        losses.setdefault(cell['method'], set()).add(cell['loss'])
    return all(len(found) == 1 for found in losses.values())


def _variant_words(variant: str, semi: bool) -> str:
    if variant.endswith('pct'):
        return f'{variant.removesuffix("pct")} %'
    if variant.endswith('e'):
        return f'{variant.removesuffix("e")} epochs'
    return f'{variant} labels' if semi else variant
