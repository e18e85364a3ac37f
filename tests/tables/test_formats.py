import csv
import io
import json

import pytest
from support.table_folders import write_run, write_table

from openmix_dm.tables.catalogue import read_table
from openmix_dm.tables.cells import Cell, Table
from openmix_dm.tables.formats.cell_records import to_csv, to_json
from openmix_dm.tables.formats.grid import letter, make_grid
from openmix_dm.tables.formats.text import escape, to_latex, to_markdown
from openmix_dm.tables.plan import runs_of
from openmix_dm.tables.results import collect

NUMBERS = {'r8_vanilla': [95.0], 'r8_mixup': [90.0, 91.0, 92.0], 'r8_mixup_dm': [91.0, 93.0, 95.0]}


@pytest.fixture
def results(tmp_path):
    table = read_table(write_table(tmp_path))
    for run in runs_of(table, tmp_path):
        values = NUMBERS.get(run.config.stem, [])
        if run.seed < len(values):
            write_run(run, [values[run.seed]])
    return collect(table, tmp_path)


def test_markdown(results):
    lines = to_markdown(results).splitlines()
    assert lines[0] == '**A small table**'
    assert lines[2] == '|  | MCE | DM(CE) | gain over MCE |'
    assert lines[4] == '| Vanilla | 95.00<sup>a</sup> | - |  |'
    assert lines[5] == '| Mixup | 91.00 ± 1.00 | 93.00 ± 2.00 | +2.00 [-0.48, +4.48] |'
    assert lines[6] == '| CutMix |  |  |  |'
    assert lines[7] == '| average gain |  |  | +2.00 [-0.48, +4.48] |'
    assert '<sup>a</sup> 1 of 3 trials  ' in lines
    assert lines[-1] == '7 of 15 runs done (seeds 0, 1, 2), 0.07 h in all.'


def test_latex(results):
    text = to_latex(results)
    assert r'    Mixup & 91.00 {\scriptsize $\pm$ 1.00} & 93.00 {\scriptsize $\pm$ 2.00} & +2.00' in text
    assert r'Vanilla & 95.00$^{a}$ & - &  \\' in text
    assert text.count(r'\begin{') == text.count(r'\end{') == 2
    assert escape('50 % of a_b & ~x') == r'50 \% of a\_b \& \textasciitilde{}x'


def test_json_has_everything_unrounded(results):
    data = json.loads(to_json(results))
    assert data['table'] == 'small'
    (cell,) = [cell for cell in data['cells'] if cell['cell'] == 'mixup/dm-ce']
    assert (cell['mean'], cell['std'], cell['values']) == (93.0, 2.0, {'0': 91.0, '1': 93.0, '2': 95.0})
    assert cell['gain_high'] == pytest.approx(2 + 4.302652729 / 3**0.5)
    assert data['average_gains']['DM(CE)']['gain'] == 2.0
    (vanilla,) = [cell for cell in data['cells'] if cell['cell'] == 'vanilla/mce']
    assert vanilla['below_protocol'] == '1 of 3 trials'
    assert vanilla['states'] == {'0': 'done', '1': 'waiting', '2': 'waiting'}


def test_csv_has_a_line_for_each_cell(results):
    rows = list(csv.DictReader(io.StringIO(to_csv(results))))
    assert len(rows) == 6
    (row,) = [row for row in rows if row['cell'] == 'mixup/dm-ce']
    assert (row['mean'], row['values'], row['paper']) == ('93.0', '0=91.0 1=93.0 2=95.0', '')


def test_the_papers_number_stands_beside_ours(tmp_path):
    cells = (
        Cell('m/mce', 'Mixup', 'MCE', 'digits/r8_mixup.py', printed=79.12),
        Cell('m/dm', 'Mixup', 'DM(CE)', 'digits/r8_mixup_dm.py', printed=80.44, printed_std=0.1, baseline='m/mce'),
    )
    table = Table('t', 'T', cells, trials=1, source='Table 1')
    for run, value in zip(runs_of(table, tmp_path), (79.0, 79.5), strict=True):
        write_run(run, [value])
    grid = make_grid(collect(table, tmp_path))
    assert grid.head == ['', 'MCE', 'paper', 'DM(CE)', 'paper', 'gain over MCE', "paper's gain"]
    assert [entry.main for entry in grid.rows[0]] == ['Mixup', '79.00', '79.12', '79.50', '80.44', '+0.50', '+1.32']
    assert grid.rows[0][4].extra == '± 0.10'
    assert [entry.main for entry in grid.closing] == ['average gain', '', '', '', '', '+0.50', '+1.32']


def test_rows_may_be_compared_with_a_row(tmp_path):
    rows = "{x: [dict(config='digits/r8_mixup_dm.py', options=['model.head.loss.eta=' + x])] for x in ('0', '1')}"
    text = f"title = 'E'\ncolumns = ['Mixup']\nrows = {rows}\nbaseline = '0'\naxis = 'eta'\ntrials = 1"
    grid = make_grid(collect(read_table(write_table(tmp_path, text)), tmp_path))
    assert grid.head == ['eta', 'Mixup', 'gain over eta 0']
    assert grid.closing is None


def test_letters_do_not_run_out():
    assert [letter(n) for n in (0, 25, 26, 27, 52)] == ['a', 'z', 'aa', 'ab', 'ba']
