"""The scripts of docs/examples run, and what they train learns."""

import re
import runpy
import warnings

import pytest
from conftest import ROOT

FOLDER = ROOT / 'docs' / 'examples'
# Chance is a tenth; after so many epochs of 14 steps each has seen clearly more than that.
LEARNED = {'plain_loop': (3, 0.6), 'lightning_module': (3, 0.6), 'timm_loop': (3, 60.0)}


def test_each_script_is_run_and_shown():
    names = {file.stem for file in FOLDER.glob('*.py')}
    page = (ROOT / 'docs' / 'examples.md').read_text()
    assert names == set(LEARNED)
    assert names == set(re.findall(r'\]\(examples/(\w+)\.py\)', page))


@pytest.mark.parametrize('name', LEARNED)
def test_what_the_page_shows_of_a_script_is_in_it(name):
    """The page shows the lines that matter, in order; `...` stands for those between."""
    page, script = (ROOT / 'docs' / 'examples.md').read_text(), (FOLDER / f'{name}.py').read_text()
    shown = re.search(rf'From\s+\[{name}\.py\].*?```python\n(.*?)```', page, re.DOTALL)[1]
    lines = iter([line.strip() for line in script.splitlines()])
    for line in shown.splitlines():
        if line.strip() and line.strip() != '...':
            assert line.strip() in lines, line  # an iterator: each after the one before


@pytest.mark.slow
@pytest.mark.parametrize('name', LEARNED)
def test_an_example_learns(name):
    epochs, enough = LEARNED[name]
    if name == 'lightning_module':
        pytest.importorskip('lightning')
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')  # of Lightning, about torch
        main = runpy.run_path(str(FOLDER / f'{name}.py'))['main']
        assert main(epochs) > enough
