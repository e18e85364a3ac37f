"""What the documentation shows runs: every code block, unless a comment above it says why not.

The blocks of a page run in order, in a copy of the repository's configs and tools, as forks of one process.
"""

import json
import re
import subprocess
import sys

import pytest
from conftest import ROOT
from support import page_runner
from support.doc_blocks import blocks, shorten, workspace
from support.tutorial_notebook import PAGE as TUTORIAL

PAGES = [*sorted(ROOT.glob('*.md')), *sorted((ROOT / 'docs').glob('*.md'))]
# Run elsewhere: the tutorial as a notebook (tests/test_notebook.py), the README's two examples by tests/test_readme.py.
ELSEWHERE = (TUTORIAL, ROOT / 'README.md')
RUN = [page for page in PAGES if page not in ELSEWHERE and any(block.reason is None for block in blocks(page))]


def name(page):
    return page.name


@pytest.mark.parametrize('page', PAGES, ids=name)
def test_blocks_can_be_read_and_excuses_have_reasons(page):
    text = page.read_text()
    assert text.count('```') % 2 == 0
    assert text.count('<!-- not run:') == sum(block.reason is not None for block in blocks(page))
    for block in blocks(page):
        assert block.reason is None or len(block.reason) > 10
        if block.language == 'python':
            compile(block.code, str(page), 'exec')
        else:
            subprocess.run(['bash', '-n'], input=block.code, text=True, check=True)


@pytest.mark.parametrize('page', PAGES, ids=name)
def test_links_lead_somewhere(page):
    for target in re.findall(r'\]\(([^)#]+?)(?:#[^)]*)?\)', page.read_text()):
        if not target.startswith('http'):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize('page', PAGES, ids=name)
def test_commands_name_options_that_exist(page):
    """The commands in running text, which nobody runs, are at least tools that exist with configs that exist."""
    for tool in re.findall(r'tools/[\w.]+', page.read_text()):
        assert (ROOT / tool.rstrip('.')).exists(), tool
    for config in re.findall(r'(?<![\w/])configs/[\w-]+/[\w.-]+\.py', page.read_text()):
        written = [block.file for block in blocks(page) if block.file]
        assert (ROOT / config).exists() or config in written, config


@pytest.mark.slow
@pytest.mark.parametrize('page', RUN, ids=name)
def test_blocks_run(page, tmp_path):
    run = [block for block in blocks(page) if block.reason is None]
    steps = [
        (block.file or block.language, block.code if block.language == 'python' else shorten(block.code))
        for block in run
    ]
    done = subprocess.run(
        [sys.executable, page_runner.__file__],
        input=json.dumps(steps),
        cwd=tmp_path,
        env=workspace(tmp_path),
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, f'{done.stdout[-2000:]}\n{done.stderr[-4000:]}'
