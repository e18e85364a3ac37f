"""The notebook of the tutorial, made of its page: `python tests/support/tutorial_notebook.py` writes it.

Text becomes cells of text, each command a cell of its own, files are written, and pictures are shown below the command
that makes them. Blocks that are not run, and what commands print, stay text.
"""

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

if __name__ == '__main__':
    sys.path.insert(0, 'tests')

from support.doc_blocks import BLOCK, ROOT, Block, block_of

PAGE = ROOT / 'docs' / 'tutorial.md'
NOTEBOOK = PAGE.with_suffix('.ipynb')
Cell = dict[str, Any]
# Commands are typed in the root of the repository; `python` has to be the one that runs the notebook.
SETUP = """\
import os
import sys
from pathlib import Path

if Path.cwd().name == 'docs':
    os.chdir('..')
os.environ['PATH'] = f'{Path(sys.executable).parent}{os.pathsep}{os.environ["PATH"]}'"""


def notebook() -> str:
    """Return the text that the file has to have. Outputs are left out: they would be of one day and one machine."""
    sources = list(cells(PAGE.read_text()))
    numbered = [{'cell_type': kind, 'id': f'cell-{number}', **rest} for number, (kind, rest) in enumerate(sources)]
    kernel = {'display_name': 'Python 3', 'language': 'python', 'name': 'python3'}
    metadata = {'kernelspec': kernel, 'language_info': {'name': 'python'}}
    whole = {'cells': numbered, 'metadata': metadata, 'nbformat': 4, 'nbformat_minor': 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + '\n'


def cells(page: str) -> Iterator[tuple[str, Cell]]:
    """Yield kind and content of each cell, in the order of the page."""
    title, page = page.split('\n', 1)
    yield text(title)
    yield code(SETUP)
    waiting = ''  # text up to the next block that runs
    place = 0
    for found in BLOCK.finditer(page):
        waiting += page[place : found.start()]
        place = found.end()
        block = block_of(found)
        if block.reason is not None:
            waiting += found[0].split('-->\n', 1)[1]
            continue
        if block.language not in ('bash', 'python'):  # what a command prints
            waiting += found[0]
            continue
        yield text(waiting)
        waiting = ''
        yield from map(code, sources(block))
    yield text(waiting + page[place:])


def sources(block: Block) -> Iterator[str]:
    """Yield what is run for a block: a file, a script, or commands one by one with the pictures that they make."""
    if block.file:
        yield f'%%writefile {block.file}\n{block.code}'
    elif block.language == 'python':
        yield block.code
    else:
        for command in block.code.splitlines():
            yield f'%%bash\n{command}'
            for picture in re.findall(r'--out (\S+\.png)', command):
                yield f"from IPython.display import Image\n\nImage('{picture}')"


def text(source: str) -> tuple[str, Cell]:
    return 'markdown', {'metadata': {}, 'source': lines(source)}


def code(source: str) -> tuple[str, Cell]:
    return 'code', {'execution_count': None, 'metadata': {}, 'outputs': [], 'source': lines(source)}


def lines(source: str) -> list[str]:
    return source.strip('\n').splitlines(keepends=True)


if __name__ == '__main__':
    NOTEBOOK.write_text(notebook())
