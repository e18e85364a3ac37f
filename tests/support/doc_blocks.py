"""Code blocks of the documentation: found, shortened, and a folder to run them in.

`<!-- not run: reason -->` excuses a block. A Python block that starts with `# some/file.py` is that file; others are
scripts.
"""

import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r'(?:<!-- not run: (?P<reason>[^>]*?) -->\n)?```(?P<language>\w+)\n(?P<code>.*?)```', re.DOTALL)
FILE = re.compile(r'# ([\w./-]+\.py)\n')


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    reason: str | None

    @property
    def file(self) -> str | None:
        named = FILE.match(self.code)
        return named.group(1) if named else None


def block_of(found: re.Match[str]) -> Block:
    return Block(found['language'], found['code'], found['reason'])


def blocks(page: Path) -> list[Block]:
    found = map(block_of, BLOCK.finditer(page.read_text()))
    return [block for block in found if block.language in ('bash', 'python')]


def shorten(code: str) -> str:
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


def workspace(folder: Path) -> dict[str, str]:
    """Put a copy of the configs, and the rest of the repository, into a folder; return the environment to run there."""
    shutil.copytree(ROOT / 'configs', folder / 'configs')
    for name in ('tools', 'openmix_dm', 'docs'):
        (folder / name).symlink_to(ROOT / name)
    (folder / 'bin').mkdir()
    (folder / 'bin' / 'python').write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (folder / 'bin' / 'python').chmod(0o755)
    return {
        **os.environ,
        'PATH': f'{folder / "bin"}:{os.environ["PATH"]}',
        'PYTHONPATH': str(folder),
        'OMP_NUM_THREADS': '1',
    }
