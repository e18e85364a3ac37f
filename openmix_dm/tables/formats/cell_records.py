"""A collected table as CSV or JSON: one record for each cell, with every number."""

import csv
import io
import json
from typing import Any

from openmix_dm.tables.archive.run_entries import KIND, config_name, run_entries, without_places
from openmix_dm.tables.formats.evidence import Evidence, average_evidence, evidence
from openmix_dm.tables.results import Result, Results
from openmix_dm.utils.sealed import seal


def records(results: Results) -> list[dict[str, Any]]:
    """Return a record for each cell."""
    found = {(each.row, each.column): each for each in evidence(results)}
    return [record(results, each, found.get((each.cell.row, each.cell.column))) for each in results.by_id.values()]


def record(results: Results, result: Result, found: Evidence | None) -> dict[str, Any]:
    """Return all that is known of a cell; numbers are not rounded."""
    cell, mean = result.cell, result.mean
    return {
        'table': results.table.name,
        'cell': cell.id,
        'row': cell.row,
        'column': cell.column,
        'config': config_name(cell),
        'options': without_places(' '.join(cell.options)),
        'metric': cell.metric,
        'protocol': cell.protocol,
        'paper': cell.printed,
        'paper_std': cell.printed_std,
        'mean': mean.value if mean else None,
        'std': mean.std if mean else None,
        'trials': len(result.finished),
        'values': {str(seed): value for seed, value in result.finished.items()},
        'baseline': cell.baseline,
        **_evidence(found),
        'paper_gain': results.printed_gain(cell),
        'below_protocol': without_places('; '.join(result.marks)),
        'states': {str(trial.seed): trial.state.kind for trial in result.trials},
        'hours': sum(trial.record.get('hours') or 0 for trial in result.trials),
        'peak_memory_mb': max((trial.record.get('peak_memory_mb') or 0 for trial in result.trials), default=0) or None,
    }


def _evidence(found: Evidence | None) -> dict[str, Any]:
    if found is None:
        return dict.fromkeys(('gain', 'gain_low', 'gain_high', 'gain_std', 'p', 'p_holm', 'seeds_find'))
    return {
        'gain': found.gain.mean,
        'gain_low': found.gain.low,
        'gain_high': found.gain.high,
        'gain_std': found.std,
        'p': found.p,
        'p_holm': found.p_holm,
        'seeds_find': {str(seeds): gain for seeds, gain in found.seeds_find.items()},
    }


def to_json(results: Results) -> str:
    """Return the table, its cells, its average gains and its runs as JSON: `collect --from` reads the runs."""
    table = results.table
    averages = {
        column: {
            **_evidence(average_evidence(results, column)),
            'paper_gain': results.average_printed_gain(column),  # of its numbers
            'paper_gain_printed': (table.averages or {}).get(column),
        }
        for column in dict.fromkeys(cell.column for cell in table.cells if results.has_average(cell.column))
    }
    head = {'kind': KIND, 'table': table.name, 'title': table.title, 'source': table.source, 'trials': table.trials}
    cells = {'interval': results.interval, 'average_gains': averages, 'cells': records(results)}
    return json.dumps(seal({**head, **cells, 'runs': run_entries(results)}), indent=1, allow_nan=False) + '\n'


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
