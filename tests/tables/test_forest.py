"""The forest plot: every gain and interval is where its number says."""

import re

import pytest
from support.table_folders import write_run, write_table

from openmix_dm.errors import ConfigError
from openmix_dm.tables.catalogue import read_table
from openmix_dm.tables.page.forest import forest
from openmix_dm.tables.plan import runs_of
from openmix_dm.tables.results import collect
from openmix_dm.utils.stats import Interval
from openmix_dm.visualization.forest_chart import Estimate, forest_chart

GAINS = {'r8_mixup_dm': (0.5, 1.0, 1.5), 'r8_cutmix_dm': (-1.0, 0.0, 0.4)}


def filled(tmp_path, trials=3):
    table = read_table(write_table(tmp_path))
    for run in runs_of(table, tmp_path, trials=trials):
        write_run(run, [70.0 + run.seed + GAINS.get(run.config.stem, (0, 0, 0))[run.seed]])
    return collect(table, tmp_path)


def test_rows_and_their_average(tmp_path):
    svg = forest(filled(tmp_path))
    words = re.findall(r'<text[^>]*>([^<]*)</text>', svg)
    numbers = [word.replace('\N{MINUS SIGN}', '-') for word in words if '[' in word]
    # mixup: 1 +- 4.3027 x 0.5 / sqrt 3; cutmix: -0.2 and deviation 0.7211; average: -0.25, 0.5, 0.95
    assert numbers == ['+1.00  [-0.24, +2.24]', '-0.20  [-1.99, +1.59]', '+0.40  [-1.11, +1.91]']
    assert [word for word in words if word in ('Mixup', 'CutMix', 'average')] == ['Mixup', 'CutMix', 'average']
    assert svg.count('class="estimate"') == 3
    assert 'gain over MCE: top-1 in points (95 % t-intervals, paired by seed)' in words
    assert 'A small table' in words
    assert 'A small table' not in forest(filled(tmp_path), titled=False)


def test_one_seed_is_a_point_without_ends(tmp_path):
    words = re.findall(r'<text[^>]*>([^<]*)</text>', forest(filled(tmp_path, trials=1)))
    assert '+0.50' in words
    assert not any('[' in word for word in words)


def test_without_gains_there_is_nothing_to_draw(tmp_path):
    table = read_table(write_table(tmp_path))
    with pytest.raises(ConfigError, match='small has no results yet'):
        forest(collect(table, tmp_path))
    alone = read_table(write_table(tmp_path, "title='A'\ncolumns=['c']\nrows={'r': ['digits/r8_mixup.py']}", 'alone'))
    with pytest.raises(ConfigError, match='alone has neither an axis nor a baseline'):
        forest(collect(alone, tmp_path))


def test_lines_are_drawn_from_top_to_bottom_at_their_numbers():
    shown = [
        Estimate('a', 'one', Interval(1.0, 0.5, 1.5, 3)),
        Estimate('a', 'two', Interval(-2.0, None, None, 1)),
        Estimate('all', 'one', Interval(0.25, 0.0, 0.5, 3), total=True),
    ]
    figure = forest_chart('t', shown, 'x')
    (axis,) = figure.axes
    assert [label.get_text() for label in axis.get_yticklabels()] == ['a', '', 'all']
    squares = [line for line in axis.lines if line.get_gid() == 'estimate']
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in squares] == [(1.0, 0), (-2.0, 1)]
    (diamond,) = axis.patches
    assert (diamond.get_xy()[:, 0].min(), diamond.get_xy()[:, 0].max()) == (0.0, 0.5)
    bottom, top = axis.get_ylim()
    assert bottom > 2 > 0 > top
    left, right = axis.get_xlim()
    assert left < -2.0 < 1.5 < right
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ['one', 'two']


def test_a_legend_with_long_names_stays_within_the_figure():
    groups = [f'Tiny-ImageNet, ResNeXt-50-32x4d, DM(CE) {number}' for number in range(5)]
    figure = forest_chart('t', [Estimate('a', group, Interval(1.0, 0.5, 1.5, 3)) for group in groups], 'x')
    figure.draw_without_rendering()
    legend = figure.legends[0].get_window_extent()
    assert 0 <= legend.x0 < legend.x1 <= figure.bbox.width
    assert 0 <= legend.y0 < legend.y1 <= figure.bbox.height
