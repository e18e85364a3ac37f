import csv
import io
import json

import pytest
from support.table_folders import write_run, write_table

from openmix_dm.runs.folder import RunFolder
from openmix_dm.tables.catalogue import read_table
from openmix_dm.tables.cells import Cell, Table
from openmix_dm.tables.formats.cell_records import to_csv, to_json
from openmix_dm.tables.formats.grid import letter, make_grid
from openmix_dm.tables.formats.text import escape, to_latex, to_markdown
from openmix_dm.tables.page.page import to_html
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


def table_of(tmp_path, averages):
    cells = (
        Cell('m/mce', 'Mixup', 'MCE', 'digits/r8_mixup.py', printed=70.0),
        Cell('m/dm', 'Mixup', 'DM(CE)', 'digits/r8_mixup_dm.py', printed=71.0, baseline='m/mce'),
        Cell('c/mce', 'CutMix', 'MCE', 'digits/r8_cutmix.py', printed=60.0),
        Cell('c/dm', 'CutMix', 'DM(CE)', 'digits/r8_cutmix_dm.py', printed=60.5, baseline='c/mce'),
    )
    table = Table('t', 'T', cells, trials=1, source='Table 1', averages=averages)
    for run, value in zip(runs_of(table, tmp_path), (79.0, 79.5, 70.0, 71.0), strict=True):
        write_run(run, [value])
    return collect(table, tmp_path)


def test_a_printed_average_stands_beside_the_recomputed_one(tmp_path):
    """The paper's gains are 1 and 0.5; ours 0.5 and 1."""
    results = table_of(tmp_path, {'DM(CE)': 0.3})
    assert [line for line in to_markdown(results).splitlines() if line.startswith('| average gain')] == [
        '| average gain |  |  |  |  | +0.75 | +0.30 (recomputed +0.75) |'
    ]
    assert r'+0.30 {\scriptsize (recomputed +0.75)}' in to_latex(results)
    assert '+0.30<span class="extra">(recomputed +0.75)</span>' in to_html(results)
    average = json.loads(to_json(results))['average_gains']['DM(CE)']
    assert [average[name] for name in ('gain', 'paper_gain', 'paper_gain_printed')] == [0.75, 0.75, 0.3]
    assert '| +0.75 | +0.75 |' in to_markdown(table_of(tmp_path / 'same', {'DM(CE)': 0.75}))


def test_there_is_no_average_where_the_paper_has_none(tmp_path):
    results = table_of(tmp_path, {})
    for text in (to_markdown(results), to_latex(results), to_html(results)):
        assert 'average gain' not in text
    assert json.loads(to_json(results))['average_gains'] == {}


MARK = 'measured on 1 x 1 threads of a CPU, not on one A100'


def test_costs_of_another_machine_are_marked_in_every_format(tmp_path):
    cells = tuple(
        Cell(metric, 'Mixup', metric, 'digits/r8_mixup.py', metric=metric, printed=8.2, hardware=hardware)
        for metric, hardware in (('memory', 'A100'), ('hours', 'A100'), ('top1', ''))
    )
    table = Table('t', 'T', cells, trials=1)
    (run,) = runs_of(table, tmp_path)
    write_run(run, [50.0])
    folder = RunFolder(run.folder)
    folder.update(hardware={**folder.read()['hardware'], 'threads': 1, 'gpus': []})
    results = collect(table, tmp_path)
    assert f'<sup>a</sup> {MARK}' in to_markdown(results)
    assert [entry.marks for entry in make_grid(results).rows[0] if entry.kind == 'ours'] == ['a', 'a', '']
    assert f'$^{{a}}$ {MARK}' in to_latex(results)
    assert f'<sup>a</sup> {MARK}' in to_html(results)
    marked = [cell['below_protocol'] for cell in json.loads(to_json(results))['cells']]
    assert marked == [row['below_protocol'] for row in csv.DictReader(io.StringIO(to_csv(results)))] == [MARK, MARK, '']


@pytest.mark.parametrize(
    ('gpus', 'world_size', 'is_marked'),
    [
        (['NVIDIA A100-SXM4-80GB'], 1, False),
        (['NVIDIA A100-PCIE-40GB'] * 8, 1, False),  # one of the eight
        (['NVIDIA A100-SXM4-80GB'] * 8, 8, True),
        (['NVIDIA H100 80GB HBM3'], 1, True),
        (['NVIDIA A100-SXM4-40GB MIG 3g.20gb'], 1, True),
        (['NVIDIA A100-SXM4-80GB', 'NVIDIA T4'], 1, True),  # nobody knows which
    ],
)
def test_one_a100_is_one_a100(tmp_path, gpus, world_size, is_marked):
    cell = Cell('hours', 'Mixup', 'hours', 'digits/r8_mixup.py', metric='hours', hardware='A100')
    table = Table('t', 'T', (cell,), trials=1)
    (run,) = runs_of(table, tmp_path)
    write_run(run, [50.0])
    RunFolder(run.folder).update(hardware={'gpus': gpus, 'threads': 4}, world_size=world_size)
    marks = collect(table, tmp_path).by_id['hours'].marks
    assert marks == ((f'measured on {world_size} x {", ".join(dict.fromkeys(gpus))}, not on one A100',) * is_marked)


def test_rows_may_be_compared_with_a_row(tmp_path):
    rows = "{x: [dict(config='digits/r8_mixup_dm.py', options=['model.head.loss.eta=' + x])] for x in ('0', '1')}"
    text = f"title = 'E'\ncolumns = ['Mixup']\nrows = {rows}\nbaseline = '0'\naxis = 'eta'\ntrials = 1"
    grid = make_grid(collect(read_table(write_table(tmp_path, text)), tmp_path))
    assert grid.head == ['eta', 'Mixup', 'gain over eta 0']
    assert grid.closing is None


def test_letters_do_not_run_out():
    assert [letter(n) for n in (0, 25, 26, 27, 52)] == ['a', 'z', 'aa', 'ab', 'ba']


def test_runs_too_short_for_the_median_are_marked_in_every_format(tmp_path):
    table = Table(
        't',
        'T',
        tuple(Cell(p, 'r', p, 'digits/r8_mixup.py', protocol=p) for p in ('median_last10', 'last')),
        trials=2,
    )
    for run, validations in zip(runs_of(table, tmp_path), (3, 19), strict=True):
        write_run(run, [90.0], validations=validations)
    results = collect(table, tmp_path)
    said = 'too short for the median of the last 10: 3 to 19 validations, not 20 or more'
    assert [result.marks for result in results.by_id.values()] == [(said,), ()]  # the last needs no more than one
    assert f'<sup>a</sup> {said}' in to_markdown(results)
    assert f'$^{{a}}$ {said}' in to_latex(results)
    assert f'<sup>a</sup> {said}' in to_html(results)
    assert [row['below_protocol'] for row in csv.DictReader(io.StringIO(to_csv(results)))] == [said, '']
    assert json.loads(to_json(results))['cells'][0]['below_protocol'] == said


def test_what_is_measured_after_a_short_training_has_no_median(tmp_path):
    table = Table('t', 'T', (Cell('h', 'r', 'h', 'digits/r8_mixup.py', metric='hours'),), trials=1)
    write_run(runs_of(table, tmp_path)[0], [90.0], validations=3)
    assert collect(table, tmp_path).by_id['h'].marks == ()


def test_validations_are_counted_where_run_json_does_not_say_how_many(tmp_path):
    table = Table('t', 'T', (Cell('c', 'r', 'c', 'digits/r8_mixup.py'),), trials=1)
    write_run(runs_of(table, tmp_path)[0], [90.0] * 4, validations=None)
    (mark,) = collect(table, tmp_path).by_id['c'].marks
    assert '4 validations' in mark
