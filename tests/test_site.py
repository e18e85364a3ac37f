"""The site builds without a warning, lists every class that a config can name, and asks nothing of the outside.

It needs the extra `docs`, which .ci/run installs after the plain tests: so all of it is slow, but for the browser's.
"""

import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from conftest import ROOT
from mmengine.registry import Registry

from openmix_dm import registry
from openmix_dm.utils.signatures import arguments_of

pytest.importorskip('mkdocstrings', reason="the site needs pip install -e '.[docs]'")
sys.path.insert(0, str(ROOT / 'docs' / 'site'))
import api_pages
import links


def build(folder, source=ROOT):
    environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'NO_MKDOCS_2_WARNING': '1'}
    # not --quiet: warnings are not counted then, and nothing is strict
    command = [sys.executable, '-m', 'mkdocs', 'build', '--strict', '--site-dir', str(folder)]
    return subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope='module')
def site(tmp_path_factory):
    if 'OPENMIX_DM_SITE' in os.environ:  # built already, by .ci/run
        return Path(os.environ['OPENMIX_DM_SITE'])
    folder = tmp_path_factory.mktemp('site')
    done = build(folder)
    assert done.returncode == 0, done.stderr
    return folder


class Document(HTMLParser):
    """What a page of the site refers to, and what it can be asked for."""

    def __init__(self, file):
        super().__init__()
        self.anchors, self.tags, self.links, self.loaded, self.scripts = set(), set(), [], [], []
        self._in_script = False
        self.feed(file.read_text())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.add(tag)
        self._in_script = tag == 'script'
        self.anchors |= {values[key] for key in ('id', 'name') if values.get(key)}
        if tag == 'a' and 'href' in values:
            self.links.append(values['href'])
        elif tag != 'a':
            self.loaded += [
                values[key] for key in ('src', 'href', 'srcset', 'data', 'poster', 'style') if values.get(key)
            ]

    def handle_data(self, data):
        if self._in_script:
            self.scripts.append(data)


@pytest.fixture(scope='module')
def documents(site):
    return {file: Document(file) for file in sorted(site.rglob('*.html'))}


@pytest.mark.slow
def test_every_class_that_a_config_can_name_has_its_entry(site):
    pages = {file: file.read_text() for file in (site / 'api').rglob('index.html')}
    entries = dict(part for text in pages.values() for part in entries_of(text))
    found = 0
    for each in [each for each in vars(registry).values() if isinstance(each, Registry)]:
        each.import_from_location()
        for name, target in each.module_dict.items():
            if target.__module__.split('.')[0] == registry.SCOPE:
                entry = entries[f'{target.__module__}.{target.__qualname__}']
                inherited = re.search('<p>Arguments, those of <code>[^<]+</code>: (.*?)</p>', entry)
                named = re.findall(r'<td>\s*<code>(\w+)</code>', entry)
                named += re.findall(r'<code>(\w+)</code>', inherited[1]) if inherited else []
                assert name in entry
                assert set(arguments_of(target).known) == set(named), name
                found += 1
    assert found == len(entries) > 80


def entries_of(text):
    """The entries of a page by their anchors, each up to the next one."""
    parts = re.split(r'<h2 id="(openmix_dm\.[\w.]+)"', text)
    return zip(parts[1::2], parts[2::2], strict=True)


@pytest.mark.slow
def test_every_registry_has_a_page():
    named = [name for page in api_pages.PAGES for name in page.registries]
    assert sorted(named) == sorted(name for name, each in vars(registry).items() if type_is_ours(each))


def type_is_ours(each):
    return isinstance(each, Registry) and each.scope == registry.SCOPE


@pytest.mark.slow
def test_every_link_leads_somewhere(site, documents):
    for file, document in documents.items():
        if file.name == '404.html':  # its links are of the root of a server
            continue
        for link in document.links:
            parts = urlsplit(link)
            if parts.scheme in ('http', 'https'):
                continue
            path = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            path = path / 'index.html' if path.is_dir() else path
            assert path.exists(), f'{file.relative_to(site)}: {link}'
            assert not parts.fragment or unquote(parts.fragment) in documents[path].anchors, f'{file}: {link}'


@pytest.mark.slow
def test_no_page_loads_anything_from_outside(site, documents):
    for file, document in documents.items():
        for loaded in document.loaded:
            assert not re.search(r'(https?:)?//', loaded), f'{file.relative_to(site)} loads {loaded}'
        for script in document.scripts:
            assert 'http' not in script, f'{file.relative_to(site)}: {script}'
        assert 'class="mermaid"' not in file.read_text()  # the theme would fetch what draws it
    for sheet in site.rglob('*.css'):
        assert not re.findall(r'(?:@import|url\()\s*[\'"]?(?:https?:)?//', sheet.read_text()), sheet.name


@pytest.mark.slow
def test_no_words_are_lost_as_tags(documents):
    """`<class>` in a docstring is a tag that no browser shows, unless it is written as code."""
    text = 'a br code em h1 h2 h3 img li ol p pre small span strong table tbody td th thead tr ul'
    frame = 'article body button div footer form head header html input label link main meta nav path script svg title'
    for file, document in documents.items():
        assert document.tags <= {*text.split(), *frame.split()}, file


@pytest.mark.slow
def test_the_search_finds_words_of_all_kinds_of_pages(site):
    index = json.loads((site / 'search' / 'search_index.json').read_text())
    places = {entry['location'].split('/')[0] for entry in index['docs']}
    assert {'tutorial', 'api', 'glossary', 'config_names', 'transforms'} <= places


@pytest.mark.slow
def test_a_page_that_leads_nowhere_fails(tmp_path):
    shutil.copytree(ROOT / 'docs' / 'site', tmp_path / 'docs' / 'site')
    (tmp_path / 'configs').mkdir()
    for name in links.SHOWN:
        (tmp_path / name).write_text('# Shown\n')
    (tmp_path / 'docs' / 'index.md').write_text(
        '# Home\n[1](no_page.md) [2](#no-anchor) [3](../no_file.py) [4](../configs)\n'
    )
    (tmp_path / 'docs' / 'forgotten.md').write_text('# In no navigation\n')
    config = (ROOT / 'mkdocs.yml').read_text().replace('  - docs/site/api_pages.py\n', '').partition('nav:')[0]
    (tmp_path / 'mkdocs.yml').write_text(f'{config}nav: [index.md, overview.md, config_names.md]\n')
    done = build(tmp_path / 'site', tmp_path)
    assert done.returncode != 0
    for name in ('no_page.md', '#no-anchor', '../no_file.py', 'forgotten.md'):
        assert name in done.stderr
    assert 'Aborted with 4 warnings' in done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ('folder', 'given', 'here', 'there'),
    [
        ('docs', '[a](losses.md#eta)', '[a](losses.md#eta)', '[a](losses.md#eta)'),
        ('docs', '[a](https://x.org)', '[a](https://x.org)', '[a](https://x.org)'),
        ('docs', '[a](#here)', '[a](#here)', '[a](#here)'),
        ('docs', '![a](figures/cam.png)', '![a](figures/cam.png)', '![a](figures/cam.png)'),
        ('', '![a](docs/mixers.png)', '![a](mixers.png)', '![a](mixers.png)'),
        ('docs', '[../tests/_x](../tests)', '`../tests/_x`', '[../tests/_x](https://x.org/y/tree/HEAD/tests)'),
        ('docs', '[a](../README.md#b)', '[a](overview.md#b)', '[a](overview.md#b)'),
        ('docs', '[`a`](../setup.py)', '`a`', '[`a`](https://x.org/y/blob/HEAD/setup.py)'),
        ('docs', '[a](../tests/losses)', 'a', '[a](https://x.org/y/tree/HEAD/tests/losses)'),
        ('docs/api', '[a](../../setup.py)', 'a', '[a](https://x.org/y/blob/HEAD/setup.py)'),
        ('docs/api', '[a](../losses.md)', '[a](../losses.md)', '[a](../losses.md)'),
        ('configs', '[a](../docs/losses.md)', '[a](losses.md)', '[a](losses.md)'),
        ('configs', '[a](_base_)', 'a', '[a](https://x.org/y/tree/HEAD/configs/_base_)'),
    ],
)
def test_links_to_files_of_the_repository(folder, given, here, there):
    assert links.rewrite(given, folder, None, ROOT) == here
    assert links.rewrite(given, folder, 'https://x.org/y', ROOT) == there


class Served(http.server.SimpleHTTPRequestHandler):
    """The site, and a proxy that refuses what is meant for others and writes down who it was."""

    asked: list[str] = []

    def do_GET(self):
        parts = urlsplit(self.path)
        if parts.hostname not in (None, 'site.test'):
            self.asked.append(parts.hostname)
            return self.send_error(403)
        self.path = parts.path
        return super().do_GET()

    def do_CONNECT(self):
        self.asked.append(self.path)
        self.send_error(403)

    def log_message(self, *_):
        pass


@pytest.mark.browser
def test_a_browser_asks_nobody_else(site, tmp_path):
    browser = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))), None)
    if browser is None:
        pytest.skip('there is no Chromium on this machine: apt-get install chromium')
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), partial(Served, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    flags = ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--window-size=1300,2000']
    flags += ['--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update']
    flags += ['--disable-sync', f'--user-data-dir={tmp_path}', f'--proxy-server=127.0.0.1:{server.server_port}']
    flags += ['--disable-features=AutofillServerCommunication', '--enable-logging=stderr', '--virtual-time-budget=9000']
    try:
        for page in ('tutorial/', 'transforms/', 'api/mixers/', 'transforms/?q=cutmix'):
            done = subprocess.run(
                [browser, *flags, '--dump-dom', f'http://site.test/{page}'],
                capture_output=True,
                text=True,
                timeout=120,
            )
            assert '</html>' in done.stdout, page
            assert 'md-code__button' in done.stdout, page  # the theme's script has run
            assert not [line for line in done.stderr.splitlines() if 'CONSOLE' in line], page
    finally:
        server.shutdown()
    assert not {name for name in Served.asked if not name.startswith(BROWSER)}


BROWSER = ('accounts.google.com', 'clients2.google.com', 'update.googleapis.com')  # whom Chromium asks by itself
