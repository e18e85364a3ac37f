"""The page: what is on it, and that it needs nothing else; test_page_script.py looks at it in a browser."""

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from support.table_folders import write_run, write_table

from openmix_dm.tables.archive.parts import collect_parts
from openmix_dm.tables.catalogue import read_table
from openmix_dm.tables.formats.cell_records import to_json
from openmix_dm.tables.formats.grid import Entry, make_grid
from openmix_dm.tables.formats.text import to_markdown
from openmix_dm.tables.page.looks import COLOURS
from openmix_dm.tables.page.page import direction, to_html
from openmix_dm.tables.page.plots import ASIDE, effect, printed_points
from openmix_dm.tables.page.sheets import sheets
from openmix_dm.tables.page.themed import VARIABLES
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
    assert not re.search(r'(url\((?!#)|@import|http://(?!www\.w3\.org/(2000/svg|1999/xlink))|https://)', page)
    assert checker.tags.count('svg') == 1 + 1 + 3  # all numbers, the gains, and learning curves for each row
    assert checker.tags.count('script') == 1
    assert checker.tags.count('img') == 5 * 6  # six pictures for each config
    linked = {address[1:] for address in checker.addresses if address.startswith('#')}
    assert linked <= set(checker.ids)
    assert len(set(checker.ids)) == len(checker.ids)
    for text in ('Mixup(alpha=0.2)', 'DecoupledCE(eta=0.1)', 'images/s', '0.50 GB', 'config_hash'.replace('_', ' ')):
        assert text in page


def test_the_policy_forbids_every_request(tmp_path):
    page = to_html(collect(read_table(write_table(tmp_path)), tmp_path))
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)[1]
    rules = dict(rule.strip().split(' ', 1) for rule in policy.split(';'))
    assert rules.pop('style-src') == "'unsafe-inline'"  # charts have styles; it allows no address
    assert rules.pop('img-src') == 'data:'
    script = re.search('<script>(.*?)</script>', page, re.DOTALL)[1]
    assert rules.pop('script-src') == f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
    assert rules == {'default-src': "'none'", 'base-uri': "'none'", 'form-action': "'none'"}
    assert page.index('Content-Security-Policy') < page.index('<style')


def test_tables_have_captions_and_headers(tmp_path):
    page = to_html(filled(tmp_path))
    tables = re.findall(r'<table.*?</table>', page, re.DOTALL)
    assert len(tables) == 1 + 1 + 5  # the table, the tests, and the runs of each config
    for table in tables:
        assert '<caption>' in table
        assert '<th>' not in table
        head = re.search('<thead>.*</thead>', table)[0]
        assert head.count('<th scope="col"') == head.count('<th') - 1 > 0  # and <thead
    assert page.count('<th scope="row" class="name">') == 3 + 1
    assert page.count('<svg role="img" aria-label="') == page.count('<svg')


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


def test_the_page_shows_what_ran(tmp_path):
    table = read_table(write_table(tmp_path))
    for run in runs_of(table, tmp_path, '*', trials=2):
        short = ['train_cfg.max_epochs=3', 'model.mixer.alpha=0.7'] if run.config.stem == 'r8_mixup' else []
        write_run(run, [20.0, 60.0, 80.0], options=short if run.seed else short[:1])
    page = to_html(collect(table, tmp_path, 2))
    sections = re.findall(r'<details class="run" id="([^"]*)">(.*?)</table>', page, re.DOTALL)
    said = {name: re.findall(r'<p>(.*?)</p>', text) for name, text in sections}
    assert [line.partition(': ')[0] for line in said['mixup/mce']] == ['seed 0', 'seed 1']
    assert ['Mixup(alpha=1.0)' in line for line in said['mixup/mce']] == [True, False]
    assert 'Mixup(alpha=0.7)' in said['mixup/mce'][1]
    assert all('epochs 3;' in line for line in said['mixup/mce'])
    (vanilla,) = said['vanilla/mce']  # of all seeds: they differ in nothing else
    assert 'epochs 40;' in vanilla
    assert vanilla.startswith('backbone')


def test_what_ran_is_said_where_its_config_was_not_kept(tmp_path):
    table = read_table(write_table(tmp_path))
    (run, *_) = runs_of(table, tmp_path)
    write_run(run, [20.0, 60.0], options=['train_cfg.max_epochs=3'])
    (tmp_path / 'part.json').write_text(to_json(collect(table, tmp_path)))
    page = to_html(collect_parts(table, [tmp_path / 'part.json']))
    assert 'its settings were not kept with its numbers; other than in the table: train_cfg.max_epochs 3' in page
    assert 'epochs 40;' not in page


@pytest.mark.parametrize(('top1s', 'cut'), [([20.0, 60.0, 80.0], False), ([20.0, 60.0, 80.0, 81.0, 82.0], True)])
def test_the_first_rise_is_left_out_only_where_it_is(tmp_path, top1s, cut):
    table = read_table(write_table(tmp_path))
    write_run(runs_of(table, tmp_path)[0], top1s)
    assert ('leaves out the first rise' in to_html(collect(table, tmp_path))) == cut


def test_hostile_names_stay_words(tmp_path):
    bad = '<img src=x onerror=alert(1)>"\'&$x^{$'
    text = f"title={bad!r}\ncolumns=['c', {bad!r}]\nbaseline='c'\ntrials=2\n"
    text += f"rows={{{bad!r}: ['digits/r8_mixup.py', 'digits/r8_mixup_dm.py']}}"
    table = read_table(write_table(tmp_path, text))
    for run in runs_of(table, tmp_path):
        write_run(
            run, [50.0, 60.0], state='done' if run.seed else f'failed: {bad}', config_hash=bad, hardware={'gpus': [bad]}
        )
        config = run.folder / 'config.py'
        config.write_text(config.read_text() + f'bad = {{{bad!r}: {bad!r}}}\nglobal_batch_size = {bad!r}\n')
    page = to_html(collect(table, tmp_path))
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert '<img src=x' not in page
    assert checker.tags.count('script') == 1
    assert all(address.startswith(('data:', '#')) for address in checker.addresses)
    assert page.count('&lt;img src=x') > 10


def test_a_run_folder_of_anybodys_cannot_make_the_page_build_what_it_names(tmp_path):
    table = read_table(write_table(tmp_path))
    (run, *_) = runs_of(table, tmp_path)
    write_run(run, [50.0])
    config = run.folder / 'config.py'
    config.write_text(config.read_text().replace("'NoMix'", "'os.system'"))
    page = to_html(collect(table, tmp_path))
    assert 'asks for the type &#x27;os.system&#x27;' in page
    assert '<img' not in page


def luminance(colour):
    levels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [level / 12.92 if level <= 0.04045 else ((level + 0.055) / 1.055) ** 2.4 for level in levels]
    return sum(weight * level for weight, level in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize('theme', [0, 1])
def test_words_and_lines_can_be_read_on_their_grounds(theme):
    colours = {name: pair[theme] for name, pair in COLOURS.items()}
    for ground in ('--ground', '--wash'):
        for words in ('--ink', '--soft', '--up', '--down', '--accent'):
            assert contrast(colours[words], colours[ground]) >= 4.5, (words, ground)
    lines = [name for name in colours if name.startswith('--series')]
    bright = ('--series-3', '--series-4', '--series-5') if theme == 0 else ()  # markers tell them apart, too
    for name in lines:
        assert contrast(colours[name], colours['--ground']) >= (2 if name in bright else 3), name


def test_all_colours_of_charts_are_variables_of_the_page(tmp_path):
    page = to_html(filled(tmp_path))
    assert set(VARIABLES.values()) <= set(COLOURS)
    charts = ''.join(re.findall(r'<svg.*?</svg>', page, re.DOTALL))
    assert set(re.findall(r'(?:fill|stroke): ([^;"]*)', re.sub(r'var\([^)]*\)', 'variable', charts))) <= {
        'variable',
        'none',
    }


def head_of(part):
    return part.head[1:]


@pytest.mark.parametrize(
    ('printed', 'expected'),
    [
        # 6 fields a group: each has a sheet of its own
        ('paper', [['a, x', 'paper', 'a, y', 'paper', 'gain over x', "paper's gain"]]),
        # 3 fields a group: two groups share a sheet
        ('', [['a, x', 'a, y', 'gain over x', 'b, x', 'b, y', 'gain over x'], ['c, x', 'c, y', 'gain over x']]),
    ],
)
def test_a_wide_table_is_printed_in_parts(tmp_path, printed, expected):
    rows = "{'r': ['digits/r8_mixup.py', 'digits/r8_mixup_dm.py'] * 3}"
    text = f"title='W'\ncolumns=['a, x', 'a, y', 'b, x', 'b, y', 'c, x', 'c, y']\nrows={rows}\ntrials=1"
    results = collect(read_table(write_table(tmp_path, text)), tmp_path)
    cells = [
        replace(
            cell, printed=1.0 if printed else None, baseline=results.table.cells[place - 1].id if place % 2 else None
        )
        for place, cell in enumerate(results.table.cells)
    ]
    results = collect(replace(results.table, cells=tuple(cells)), tmp_path)
    grid = make_grid(results)
    parts = sheets(grid, results)
    assert [head_of(part) for part in parts][: len(expected)] == expected
    # nothing is lost, nothing is printed twice, every part has the names of the rows and its own averages
    assert [name for part in parts for name in head_of(part)] == grid.head[1:]
    assert [entry for part in parts for entry in part.rows[0][1:]] == grid.rows[0][1:]
    assert all(part.rows[0][0] == grid.rows[0][0] for part in parts)
    assert all(len(part.closing or part.head) == len(part.head) for part in parts)
    page = to_html(results)
    assert page.count('<table class="main') == 1 + len(parts)


def test_a_group_that_is_wider_than_a_sheet_is_cut_between_its_columns(tmp_path):
    columns = [f'loss {number}' for number in range(12)]
    rows = {'r': ['digits/r8_mixup.py'] * 12}
    text = f"title='W'\ncolumns={columns}\nrows={rows}\nbaseline='loss 0'\ntrials=1"
    results = collect(read_table(write_table(tmp_path, text)), tmp_path)
    parts = sheets(make_grid(results), results)
    assert [len(head_of(part)) for part in parts] == [7, 8, 8]
    assert all(head_of(part)[0].startswith('loss') for part in parts)  # not between a number and its gain


def test_a_small_table_is_printed_as_it_is(tmp_path):
    page = to_html(filled(tmp_path))
    assert page.count('<table class="main') == 1


def test_a_legend_of_long_names_stays_inside_of_the_chart():
    def chart(names):
        lines = [Line(name, [1, 2], [1, 2], [1, 2], [1, 2]) for name in names]
        figure = line_chart('title', lines, 'x', 'y', (0, 3))
        figure.canvas.draw()
        return figure, figure.legends[0].get_window_extent()

    for letters in (2, 12, 34):
        figure, box = chart([f'{number}{"n" * letters}' for number in range(6)])
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.width
    short, _ = chart([str(number) for number in range(6)])
    assert figure.get_figheight() > short.get_figheight()  # lines of the legend take nothing from the curves
