"""The tests of a table's gains against scipy's own and against Holm's correction by hand."""

import json

import pytest
from scipy import stats
from support.table_folders import write_run, write_table

from openmix_dm.tables.catalogue import read_table
from openmix_dm.tables.formats.cell_records import to_json
from openmix_dm.tables.formats.evidence import average_evidence, evidence, evidence_grid, p_text
from openmix_dm.tables.plan import runs_of
from openmix_dm.tables.results import collect
from openmix_dm.utils.stats import gain_found

TABLE = """
title = 'Two columns'
columns = ['MCE', 'DM(CE)', 'eta 1']
_eta = ['model.head.loss.eta=1.0']
rows = {
    name: [f'digits/r8_{name}.py', f'digits/r8_{name}_dm.py', dict(config=f'digits/r8_{name}_dm.py', options=_eta)]
    for name in ('mixup', 'cutmix', 'fmix')
}
baseline = 'MCE'
trials = 4
"""
# of seeds 0 to 3, by column and row; the last row of the second column has one seed
GAINS = {
    'DM(CE)': {'mixup': (1.0, 1.2, 0.9, 1.4), 'cutmix': (0.1, -0.3, 0.2, 0.4), 'fmix': (0.5, 0.9, 0.1, 0.8)},
    'eta 1': {'mixup': (0.3, 0.1, 0.2, 0.6), 'cutmix': (-1.0, -2.0, -1.5, -1.4), 'fmix': (0.5,)},
}


def filled(tmp_path):
    table = read_table(write_table(tmp_path, TABLE))
    for run in runs_of(table, tmp_path):
        row = run.config.stem.split('_')[1]
        column = 'eta 1' if run.options else 'DM(CE)' if run.config.stem.endswith('_dm') else ''
        gains = GAINS[column][row] if column else (0, 0, 0, 0)
        if run.seed < len(gains):
            write_run(run, [60.0 + 3 * run.seed + gains[run.seed]])
    return collect(table, tmp_path)


@pytest.fixture
def results(tmp_path):
    return filled(tmp_path)


def test_every_row_is_tested_and_corrected_within_its_column(results):
    found = {(each.column, each.row): each for each in evidence(results)}
    raw = {
        (column, row): stats.ttest_1samp(gains, 0).pvalue
        for column, rows in GAINS.items()
        for row, gains in rows.items()
        if len(gains) > 1
    }
    for place, expected in raw.items():
        assert found[place].p == pytest.approx(expected)
    first = [raw['DM(CE)', row] for row in ('mixup', 'fmix', 'cutmix')]
    assert first == sorted(first)  # so that by hand: times 3, 2 and 1
    assert [found['DM(CE)', row].p_holm for row in ('mixup', 'fmix', 'cutmix')] == pytest.approx(
        [3 * first[0], 2 * first[1], first[2]]
    )
    assert found['eta 1', 'fmix'].p is None  # one seed: no test, and nothing that the others are corrected for
    assert found['eta 1', 'cutmix'].p_holm == pytest.approx(2 * raw['eta 1', 'cutmix'])


def test_the_average_is_one_test(results):
    average = average_evidence(results, 'DM(CE)')
    means = [sum(gains) / 3 for gains in zip(*GAINS['DM(CE)'].values(), strict=True)]
    assert average.p == pytest.approx(stats.ttest_1samp(means, 0).pvalue)
    assert average.p_holm is None
    assert average.seeds_find == {n: pytest.approx(gain_found(stats.tstd(means), n)) for n in (12, 24, 48)}
    assert average_evidence(results, 'eta 1').p is None  # rows have different seeds


def test_json_and_table_have_all_of_it(results):
    data = json.loads(to_json(results))
    cells = {cell['cell']: cell for cell in data['cells']}
    assert cells['mixup/dm-ce']['p'] == pytest.approx(stats.ttest_1samp(GAINS['DM(CE)']['mixup'], 0).pvalue)
    assert cells['mixup/mce']['p'] is None
    assert cells['fmix/eta-1']['seeds_find'] == {}
    assert data['average_gains']['DM(CE)']['p_holm'] is None
    grid = evidence_grid(results)
    assert [row[0].main for row in grid.rows] == [
        *('mixup, DM(CE)', 'cutmix, DM(CE)', 'fmix, DM(CE)', 'average, DM(CE)'),
        *('mixup, eta 1', 'cutmix, eta 1', 'fmix, eta 1', 'average, eta 1'),
    ]
    assert grid.rows[0][1].main == '4'
    assert all(len(row) == len(grid.head) for row in grid.rows)


def test_p_values_as_one_prints_them():
    assert [p_text(p) for p in (None, 0.0, 0.00009, 0.0312, 1.0)] == ['', '< 0.0001', '< 0.0001', '0.0312', '1.0000']
