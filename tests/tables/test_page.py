"""The page: what is on it, that it needs nothing else, and (in a browser) that it shows."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from support.table_folders import write_run, write_table

from openmix_dm.tables.catalogue import read_table
from openmix_dm.tables.formats.grid import Entry
from openmix_dm.tables.formats.text import to_markdown
from openmix_dm.tables.page.page import direction, to_html
from openmix_dm.tables.page.plots import ASIDE, effect, printed_points
from openmix_dm.tables.plan import runs_of
from openmix_dm.tables.results import collect
from openmix_dm.visualization.charts import Line, line_chart, to_svg

ETA = """
title = 'Top-1 over eta'
columns = ['Mixup <b>', 'CutMix']
rows = {
    x: [dict(config=f'digits/r8_{m}_dm.py', options=['model.head.loss.eta=' + x]) for m in ('mixup', 'cutmix')]
    for x in ('0', '0.1', '1')
}
baseline = '0'
axis = 'eta'
trials = 2
"""


def filled(tmp_path, text=None):
    table = read_table(write_table(tmp_path, text) if text else write_table(tmp_path))
    for number, run in enumerate(runs_of(table, tmp_path)):
        if number % 7 != 6:
            write_run(run, [20.0, 60 + number, 80 + number / 3, 90 + number / 5])
    return collect(table, tmp_path)


class Checker(HTMLParser):
    """Check that tags close, and gather addresses and texts."""

    EMPTY = ('meta', 'link', 'img', 'br')

    def __init__(self):
        super().__init__()
        self.open, self.addresses, self.tags, self.ids = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        values = dict(attributes)
        self.addresses += [values[name] for name in ('src', 'href') if name in values]
        self.ids += [values['id']] if 'id' in values else []
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_has_everything_and_needs_nothing(tmp_path):
    page = to_html(filled(tmp_path))
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert all(address.startswith(('data:', '#')) for address in checker.addresses)
    assert not re.search(r'(url\((?!#)|@import|<script|http://(?!www\.w3\.org/(2000/svg|1999/xlink))|https://)', page)
    assert checker.tags.count('svg') == 3  # a chart for each row
    assert checker.tags.count('img') == 5 * 6  # six pictures for each config
    linked = {address[1:] for address in checker.addresses if address.startswith('#')}
    assert linked <= set(checker.ids)
    assert len(set(checker.ids)) == len(checker.ids)
    for text in ('Mixup(alpha=0.2)', 'DecoupledCE(eta=0.1)', 'images/s', '0.50 GB', 'config_hash'.replace('_', ' ')):
        assert text in page


def test_the_page_is_the_same_every_time(tmp_path):
    results = filled(tmp_path)
    assert to_html(results) == to_html(results)


def test_a_table_that_has_not_begun_has_a_page(tmp_path):
    page = to_html(collect(read_table(write_table(tmp_path)), tmp_path))
    assert '<svg' not in page
    assert '0 of 15 runs done' in page


def test_names_are_escaped_and_an_axis_is_plotted(tmp_path):
    page = to_html(filled(tmp_path, ETA))
    assert 'Mixup <b>' not in page
    assert 'Mixup &lt;b&gt;' in page
    assert page.count('class="curve"') == 2 + 3 * 2  # the plot, and the learning curves of three rows


def test_the_plot_shows_means_and_deviations(tmp_path):
    svg = effect(filled(tmp_path, ETA))
    assert svg.count('class="curve"') == 2
    assert '>eta (bars: ± deviation over seeds)</text>' in svg
    assert all(f'>{value}</text>' in svg for value in ('0', '0.1', '1'))


def test_the_papers_numbers_are_points_of_their_own(tmp_path):
    table = replace_cells(read_table(write_table(tmp_path, ETA)), {'0.1/cutmix': 97.5, '1/mixup-b': 99.0})
    for run in runs_of(table, tmp_path):
        write_run(run, [90.0] * 10)
    results = collect(table, tmp_path)
    assert printed_points(results, 'Mixup <b>', ['0', '0.1', '1'], 0) == [(2, 99.0)]
    assert printed_points(results, 'CutMix', ['0', '0.1', '1'], 1) == [(1 + ASIDE, 97.5)]
    svg = effect(results)
    assert ">the paper's tables</text>" in svg.replace('&#39;', "'")
    assert svg.count('class="curve"') == 2
    assert '>98</text>' in svg  # the frame holds them
    head, *rows = [line.split(' | ') for line in to_markdown(results).splitlines() if line.startswith('| ')]
    assert [row[2].strip() for row in rows[1:]] == ['', '', '99.00']  # no dash: a dash is what the paper prints
    assert (head[2], len(rows[3])) == ('paper', len(head))


def replace_cells(table, printed):
    return replace(table, cells=tuple(replace(cell, printed=printed.get(cell.id)) for cell in table.cells))


def test_pictures_are_missing_with_a_reason(tmp_path, monkeypatch):
    monkeypatch.setenv('OPENMIX_DM_DATA', str(tmp_path / 'nothing'))
    text = "title='I'\ncolumns=['c']\nrows={'r': ['imagenet/r50_mixup.py']}\ntrials=1"
    page = to_html(filled(tmp_path, text))
    assert 'no pictures: ' in page
    assert '<svg' in page


@pytest.mark.parametrize(
    ('kind', 'interval', 'colour'),
    [
        ('gain', '[+0.10, +0.30]', ' better'),
        ('gain', '[-0.10, +0.30]', ''),
        ('gain', '[-0.30, -0.10]', ' worse'),
        ('less', '[-0.30, -0.10]', ' better'),
        ('less', '[+0.10, +0.30]', ' worse'),
        ('gain', '', ''),
        ('paper', '± 0.10', ''),
    ],
)
def test_a_gain_is_coloured_where_its_interval_leaves_zero_out(kind, interval, colour):
    assert direction(Entry('x', interval, kind=kind)) == colour


def test_a_chart_places_points_within_its_frame():
    line = Line('a', [0, 10], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0])
    figure = line_chart('t', [line], 'x', 'y', (0.0, 1.0))
    axis = figure.axes[0]
    assert axis.get_ylim()[0] < 0 < 1 < axis.get_ylim()[1]
    svg = to_svg(figure)
    (path,) = re.findall(r'class="curve">\s*<path d="([^"]*)"', svg)
    (x0, y0), (x1, y1) = (map(float, pair) for pair in re.findall(r'[ML] ([\d.]+) ([\d.]+)', path))
    assert x0 < x1  # to the right
    assert y1 < y0  # upwards


def test_two_charts_on_a_page_share_no_name():
    line = Line('a', [0, 10], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0])
    names = [set(re.findall(r' id="([^"]+)"', to_svg(line_chart(t, [line], 'x', 'y', (0.0, 1.0))))) for t in 'st']
    assert names[0]
    assert not names[0] & names[1]


LOOK = """<script>
const look = {
  images: [...document.images].map(image => image.complete && image.naturalWidth),
  curves: [...document.querySelectorAll('.curve')].map(line => line.getBBox().width),
  frames: [...document.querySelectorAll('svg')].map(svg => svg.getBoundingClientRect().width),
  table: document.querySelector('table.main').getBoundingClientRect().height,
  wide: document.documentElement.scrollWidth > window.innerWidth,
};
console.log('LOOK' + JSON.stringify(look));
</script>"""


@pytest.mark.browser
def test_a_browser_shows_the_page(tmp_path):
    browser = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))), None)
    if browser is None:
        pytest.skip('there is no Chromium on this machine: apt-get install chromium')
    page = to_html(filled(tmp_path)).replace('<details', '<details open').replace('</body>', f'{LOOK}</body>')
    (tmp_path / 'page.html').write_text(page)
    flags = ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--window-size=1320,1800']
    log = ['--enable-logging=stderr', '--v=0', f'--screenshot={tmp_path}/page.png']
    done = subprocess.run([browser, *flags, *log, f'file://{tmp_path}/page.html'], capture_output=True, timeout=120)
    said = [line for line in done.stderr.decode(errors='replace').splitlines() if 'CONSOLE' in line]
    (line,) = [line for line in said if 'LOOK' in line]
    assert len(said) == 1, said  # no error, no warning: nothing but what this test asks
    look = json.loads(re.search(r'LOOK(\{.*\})', line)[1])
    assert look['images'] == [16] * 30
    assert len(look['curves']) == 5
    assert min(look['curves']) > 100
    assert min(look['frames']) > 300
    assert look['table'] > 100
    assert not look['wide']
    assert (tmp_path / 'page.png').stat().st_size > 20_000
