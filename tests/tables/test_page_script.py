"""The page in a browser: it shows, it sorts, it asks nobody for anything."""

import http.server
import json
import re
import shutil
import subprocess
import threading

import pytest
from support.table_folders import write_run, write_table

from openmix_dm.tables.catalogue import read_table
from openmix_dm.tables.page.page import to_html
from openmix_dm.tables.page.script import POLICY, SCRIPT, digest
from openmix_dm.tables.plan import runs_of
from openmix_dm.tables.results import collect

pytestmark = pytest.mark.browser
FLAGS = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--hide-scrollbars',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--disable-quic',
    '--enable-logging=stderr',
]


@pytest.fixture(scope='module')
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp('runs')
    table = read_table(write_table(folder))
    for number, run in enumerate(runs_of(table, folder)):
        if number % 7 != 6:
            write_run(run, [20.0, 60 + number, 80 + number / 3, 90 + number / 5])
    return to_html(collect(table, folder))


def visit(address, folder, *flags):
    """Open an address in Chromium; return what its console says."""
    browser = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))), None)
    if browser is None:
        pytest.skip('there is no Chromium on this machine: apt-get install chromium')
    place = [f'--user-data-dir={folder}/profile', f'--screenshot={folder}/page.png']
    done = subprocess.run([browser, *FLAGS, *place, *flags, address], capture_output=True, timeout=120)
    return [line for line in done.stderr.decode(errors='replace').splitlines() if 'CONSOLE' in line]


def ask(page, script, folder, *flags):
    """Return what a script finds on the page, which has to allow it; nothing else may be said."""
    script = f"console.log('LOOK' + JSON.stringify((() => {{ {script} }})()));"
    allowed = page.replace(digest(SCRIPT), f'{digest(SCRIPT)} {digest(script)}')
    (folder / 'page.html').write_text(allowed.replace('</body>', f'<script>{script}</script></body>'))
    (line,) = visit(f'file://{folder}/page.html', folder, *flags)
    return json.loads(re.search(r'LOOK(.*)", source', line)[1])


LOOK = """return {
  images: [...document.images].map(image => image.complete && image.naturalWidth),
  curves: [...document.querySelectorAll('.curve')].map(line => line.getBBox().width),
  dots: document.querySelectorAll('.dot').length,
  frames: [...document.querySelectorAll('svg')].map(svg => svg.getBoundingClientRect().width),
  table: document.querySelector('table.main').getBoundingClientRect().height,
  wide: document.documentElement.scrollWidth > window.innerWidth,
  ground: getComputedStyle(document.body).backgroundColor,
  words: [...document.querySelectorAll('svg text')].map(text => getComputedStyle(text).fill),
};"""


@pytest.mark.parametrize('size', ['1320,1800', '500,900'])
def test_a_browser_shows_the_page(page, size, tmp_path):
    look = ask(page.replace('<details', '<details open'), LOOK, tmp_path, f'--window-size={size}')
    assert look['images'] == [16] * 30
    assert len(look['curves']) == 5
    assert min(look['curves']) > 100
    assert look['dots'] == 5
    assert min(look['frames']) > 300
    assert look['table'] > 100
    assert not look['wide']
    assert (tmp_path / 'page.png').stat().st_size > 20_000


def test_the_dark_page_has_light_words_in_its_charts(page, tmp_path):
    light = ask(page, LOOK, tmp_path, '--blink-settings=preferredColorScheme=1')
    assert (light['ground'], set(light['words'])) == ('rgb(255, 255, 255)', {'rgb(31, 35, 40)'})
    dark = ask(page, LOOK, tmp_path, '--blink-settings=preferredColorScheme=0')
    assert (dark['ground'], set(dark['words'])) == ('rgb(13, 17, 23)', {'rgb(230, 237, 243)'})


SORT = """
const table = document.querySelector('table.main');
const names = () => [...table.tBodies[0].rows].map(row => row.cells[0].textContent);
const heads = [...table.tHead.rows[0].cells];
const found = [names()];
for (const place of [1, 1, 1, 0]) {
  heads[place].querySelector('button').click();
  found.push([names(), heads.map(head => head.getAttribute('aria-sort'))]);
}
heads[2].querySelector('button').click();
return [...found, names(), table.tFoot.textContent.includes('average')];
"""


def test_a_click_on_a_header_sorts(page, tmp_path):
    before, down, up, usual, by_name, by_column, foot = ask(page, SORT, tmp_path)
    assert before == ['Vanilla', 'Mixup', 'CutMix']  # 73.33, 74.00, 73.67
    assert down == [['Mixup', 'CutMix', 'Vanilla'], ['none', 'descending', 'none', 'none']]
    assert up == [['Vanilla', 'CutMix', 'Mixup'], ['none', 'ascending', 'none', 'none']]
    assert usual == [before, ['none'] * 4]
    assert by_name == [['Vanilla', 'Mixup', 'CutMix'], ['descending', 'none', 'none', 'none']]
    assert by_column[-1] == 'Vanilla'  # which has no number there
    assert foot


@pytest.fixture
def world():
    """Stand for all hosts of the world; remember what they were asked for."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        pages: dict = {}

        def do_GET(self):
            asked.append(f'{self.headers["Host"]}{self.path}')
            found = self.pages.get(self.path)
            self.send_response(200 if found else 404)
            self.send_header('Content-Type', 'text/html; charset=utf-8')
            self.end_headers()
            self.wfile.write((found or '').encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1], Handler.pages, asked
    server.shutdown()
    server.server_close()


HOSTILE = (
    '<img src="http://elsewhere.test/picture.png"><link rel="stylesheet" href="http://elsewhere.test/style.css">'
    '<script src="http://elsewhere.test/script.js"></script><script>fetch("http://elsewhere.test/fetch")</script>'
    '<style>body { background: url(http://elsewhere.test/ground.png) }</style>'
)


def test_the_page_asks_nobody_even_if_something_on_it_would(page, world, tmp_path):
    port, pages, asked = world
    hostile = page.replace('</h1>', f'</h1>{HOSTILE}')
    pages.update({'/page': page, '/hostile': hostile, '/free': hostile.replace(POLICY, '')})
    everywhere = f'--host-resolver-rules=MAP * 127.0.0.1:{port}'
    assert visit('http://page.test/page', tmp_path, everywhere) == []
    visit('http://page.test/hostile', tmp_path, everywhere)
    of_tests = [each for each in asked if '.test' in each]
    assert of_tests == ['page.test/page', 'page.test/hostile']
    visit('http://page.test/free', tmp_path, everywhere)  # so that this test can fail
    assert {each for each in asked if each.startswith('elsewhere')} >= {
        f'elsewhere.test/{name}' for name in ('picture.png', 'style.css', 'script.js', 'fetch', 'ground.png')
    }
