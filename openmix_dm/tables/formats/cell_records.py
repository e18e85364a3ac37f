"""A collected table as CSV or JSON: one record for each cell, with every number."""

import csv
import io
import json
from typing import Any

from openmix_dm.tables.results import Result, Results
from openmix_dm.utils.stats import Interval


def records(results: Results) -> list[dict[str, Any]]:
    """Return a record for each cell."""
    return [record(results, result) for result in results.by_id.values()]


def record(results: Results, result: Result) -> dict[str, Any]:
    """Return all that is known of a cell; numbers are not rounded."""
    cell, mean, gain = result.cell, result.mean, results.gain(result.cell)
    return {
        'table': results.table.name,
        'cell': cell.id,
        'row': cell.row,
        'column': cell.column,
        'config': cell.config,
        'options': ' '.join(cell.options),
        'metric': cell.metric,
        'protocol': cell.protocol,
        'paper': cell.printed,
        'paper_std': cell.printed_std,
        'mean': mean.value if mean else None,
        'std': mean.std if mean else None,
        'trials': len(result.finished),
        'values': {str(seed): value for seed, value in result.finished.items()},
        'baseline': cell.baseline,
        **_gain(gain),
        'paper_gain': results.printed_gain(cell),
        'below_protocol': '; '.join(result.marks),
        'states': {str(trial.seed): trial.state.kind for trial in result.trials},
        'hours': sum(trial.record.get('hours') or 0 for trial in result.trials),
        'peak_memory_mb': max((trial.record.get('peak_memory_mb') or 0 for trial in result.trials), default=0) or None,
    }


def _gain(gain: Interval | None) -> dict[str, float | None]:
    if gain is None:
        return {'gain': None, 'gain_low': None, 'gain_high': None}
    return {'gain': gain.mean, 'gain_low': gain.low, 'gain_high': gain.high}


def to_json(results: Results) -> str:
    """Return the table, its cells and its average gains as JSON."""
    table = results.table
    averages = {
        column: {
            **_gain(results.average_gain(column)),
            'paper_gain': results.average_printed_gain(column),  # of its numbers
            'paper_gain_printed': (table.averages or {}).get(column),
        }
        for column in dict.fromkeys(cell.column for cell in table.cells if results.has_average(cell.column))
    }
    head = {'table': table.name, 'title': table.title, 'source': table.source, 'trials': table.trials}
    return json.dumps({**head, 'average_gains': averages, 'cells': records(results)}, indent=1, allow_nan=False) + '\n'


def to_csv(results: Results) -> str:
    """Return a line for each cell; what has several values is written key=value."""
    rows = records(results)
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator='\n')
    writer.writeheader()
    for row in rows:
        writer.writerow({key: _flat(value) for key, value in row.items()})
    return out.getvalue()


def _flat(value: Any) -> Any:
    return ' '.join(f'{k}={v}' for k, v in value.items()) if isinstance(value, dict) else value
