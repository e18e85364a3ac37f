"""What the documentation shows runs: every code block, unless a comment above it says why not.

`<!-- not run: reason -->` excuses a block. A Python block that starts with `# some/file.py` is that file; others are
scripts. The blocks of a page run in order, in a copy of the repository's configs and tools.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

import pytest
from conftest import ROOT

PAGES = [ROOT / 'README.md', *sorted((ROOT / 'docs').glob('*.md'))]
BLOCK = re.compile(r'(?:<!-- not run: (?P<reason>[^>]*?) -->\n)?```(?P<language>\w+)\n(?P<code>.*?)```', re.DOTALL)
FILE = re.compile(r'# ([\w./-]+\.py)\n')


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    reason: str | None

    @property
    def file(self):
        named = FILE.match(self.code)
        return named.group(1) if named else None


def blocks(page):
    found = [Block(m['language'], m['code'], m['reason']) for m in BLOCK.finditer(page.read_text())]
    return [block for block in found if block.language in ('bash', 'python')]


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


def shorten(code):
    """Train for two epochs instead of many: the commands stay as they are otherwise."""
    lines = []
    for line in code.replace('epoch_40.pth', 'epoch_2.pth').splitlines():
        line = re.sub(r'\s+#\s.*$', '', line)
        trains = re.search(r'(train\.py|dist_train\.sh) ', line) and '--dry-run' not in line
        if trains or 'table.py run' in line:
            line += ' train_cfg.max_epochs=2' if '--cfg-options' in line else ' --cfg-options train_cfg.max_epochs=2'
        if 'table.py run' in line and 'dry-run' not in line:
            line = line.replace('table.py run', 'table.py run --trials 1')
        lines.append(line)
    return '\n'.join(lines)


@pytest.mark.slow
@pytest.mark.parametrize('page', [page for page in PAGES if any(b.reason is None for b in blocks(page))], ids=name)
def test_blocks_run(page, tmp_path):
    shutil.copytree(ROOT / 'configs', tmp_path / 'configs')
    for folder in ('tools', 'openmix_dm', 'docs'):
        (tmp_path / folder).symlink_to(ROOT / folder)
    (tmp_path / 'bin').mkdir()
    (tmp_path / 'bin' / 'python').write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tmp_path / 'bin' / 'python').chmod(0o755)
    environment = {
        **os.environ,
        'PATH': f'{tmp_path / "bin"}:{os.environ["PATH"]}',
        'PYTHONPATH': str(tmp_path),
        'OMP_NUM_THREADS': '1',
    }
    for block in blocks(page):
        if block.reason is not None:
            continue
        if block.file:
            (tmp_path / block.file).write_text(block.code)
            continue
        command = ['python', '-c', block.code] if block.language == 'python' else ['bash', '-ec', shorten(block.code)]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f'{block.code}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}'
