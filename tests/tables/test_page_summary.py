"""The top of the page: progress, the best gain, and the dot plot, against hand-computed numbers."""

import re
from dataclasses import replace

import pytest
from support.table_folders import write_run, write_table

from openmix_dm.tables.catalogue import read_table
from openmix_dm.tables.page.dots import column_groups, dot_plots, split_names
from openmix_dm.tables.page.summary import count_runs, summary
from openmix_dm.tables.plan import runs_of
from openmix_dm.tables.results import collect
from openmix_dm.utils.stats import Interval
from openmix_dm.visualization.dot_chart import Dot, dot_chart, frame

GAINS = {'r8_mixup_dm': (0.5, 1.0, 1.5), 'r8_cutmix_dm': (-1.0, 0.0, 0.4)}


@pytest.fixture
def table(tmp_path):
    return read_table(write_table(tmp_path))


def fill(table, root):
    for run in runs_of(table, root):
        write_run(run, [70.0 + run.seed + GAINS.get(run.config.stem, (0, 0, 0))[run.seed]])
    return collect(table, root)


def words(text):
    return re.sub(r'\s+', ' ', re.sub('<[^>]*>', ' ', text))


def test_runs_are_counted_by_what_has_become_of_them(table, tmp_path):
    states = ['done', 'done', 'running', 'failed: RuntimeError: x', 'preempted']
    for run, state in zip(runs_of(table, tmp_path), states, strict=False):
        write_run(run, [50.0], state=state)
    results = collect(table, tmp_path)
    assert count_runs(results) == {'done': 2, 'running': 1, 'failed': 1, 'stopped': 1, 'missing': 10}
    said = words(summary(results))
    assert '2 of 15 done' in said
    assert '2 done 1 running 1 failed 1 stopped 10 missing' in said
    assert 'aria-label="2 done, 1 running, 1 failed, 1 stopped, 10 missing"' in summary(results)


def test_a_run_that_two_cells_share_is_counted_once(tmp_path):
    text = "title='S'\ncolumns=['a', 'b']\nrows={'r': ['digits/r8_mixup.py'] * 2}\ntrials=2"
    results = collect(read_table(write_table(tmp_path, text)), tmp_path)
    assert count_runs(results) == {'done': 0, 'running': 0, 'failed': 0, 'stopped': 0, 'missing': 2}


def test_the_best_gain_has_its_interval(table, tmp_path):
    said = words(summary(fill(table, tmp_path)))
    # 1 +- 4.3027 x 0.5 / sqrt 3; average over rows: -0.25, 0.5, 0.95
    assert 'Best gain +1.00 [-0.24, +2.24], which holds 0; 3 seeds Mixup, DM(CE); the largest of 2' in said
    assert 'Average gain +0.40 [-1.11, +1.91], which holds 0; 3 seeds DM(CE)' in said


def test_where_less_is_better_the_best_gain_is_the_smallest(table, tmp_path):
    fill(table, tmp_path)
    for run in runs_of(table, tmp_path):
        dm = run.config.stem.endswith('_dm')
        write_run(run, [70.0], seconds=36000 + dm * (3600 if 'cutmix' in run.config.stem else -3600))
    said = words(summary(collect(table.by_metric('hours'), tmp_path)))
    assert 'Best gain -1.00' in said
    assert 'Mixup, DM(CE); the largest of 2' in said


def test_numbers_below_their_protocol_are_counted(table, tmp_path):
    for run in runs_of(table, tmp_path, trials=1):
        write_run(run, [50.0])
    assert '5 of 5 numbers are below their protocol.' in words(summary(collect(table, tmp_path)))
    assert 'below their protocol' not in summary(collect(table, tmp_path, trials=1))


def test_the_paper_stands_beside_ours_in_a_dot_plot(table, tmp_path):
    printed = {'mixup/mce': 70.5, 'mixup/dm-ce': 73.0, 'vanilla/mce': 69.0}
    cells = tuple(replace(cell, printed=printed.get(cell.id)) for cell in table.cells)
    results = fill(replace(table, cells=cells), tmp_path)
    (plot,) = dot_plots(results)
    assert plot.count('class="dot"') == 5
    assert plot.count('class="printed"') == 3
    assert '>the paper</text>' in plot
    assert '<h2>Paper and ours</h2>' in summary(results)
    assert '<h2>Numbers</h2>' in summary(fill(table, tmp_path))


def test_columns_that_are_compared_share_a_plot(table, tmp_path):
    assert column_groups(collect(table, tmp_path)) == [['MCE', 'DM(CE)']]
    by_row = "title='R'\ncolumns=['a', 'b']\nrows={r: ['digits/r8_mixup.py'] * 2 for r in 'xy'}\nbaseline='x'"
    assert column_groups(collect(read_table(write_table(tmp_path, by_row)), tmp_path)) == [['a'], ['b']]
    assert split_names(['CIFAR-100, R18, MCE', 'CIFAR-100, R18, DM(CE)']) == ['CIFAR-100, R18', 'MCE', 'DM(CE)']
    assert split_names(['40 labels']) == ['40 labels', 'ours']


def test_dots_are_where_their_numbers_say():
    dots = [
        Dot('a', 'one', Interval(1.0, 0.5, 1.5, 3), 2.0),
        Dot('a', 'two', Interval(3.0, None, None, 1)),
        Dot('b', 'two', None, 2.5),
    ]
    (axis,) = dot_chart('t', dots, 'x').axes
    assert [label.get_text() for label in axis.get_yticklabels()] == ['a', 'b']
    drawn = [(line.get_gid(), line.get_xdata()[0], line.get_ydata()[0]) for line in axis.lines if line.get_gid()]
    assert drawn == [('printed', 2.0, -0.125), ('dot', 1.0, -0.125), ('dot', 3.0, 0.125), ('printed', 2.5, 1.0)]
    assert axis.get_ylim()[0] > 1 > 0 > axis.get_ylim()[1]


def test_an_interval_of_two_seeds_does_not_squeeze_the_numbers():
    narrow, wide = Interval(10.0, 9.5, 10.5, 3), Interval(12.0, -80.0, 104.0, 2)
    low, high = frame([Dot('a', 's', narrow), Dot('b', 's', wide)])
    assert 8.0 < low < 9.5
    assert 12.0 < high < 14.0
    assert frame([Dot('a', 's', narrow)])[0] < 9.5
