"""The notebook of the tutorial is the page, and runs in a kernel."""

import nbformat
import pytest
from nbclient import NotebookClient
from support.doc_blocks import blocks, shorten, workspace
from support.tutorial_notebook import NOTEBOOK, PAGE, notebook


def written():
    return nbformat.read(NOTEBOOK, as_version=4)


def test_the_notebook_is_made_of_the_page():
    assert NOTEBOOK.read_text() == notebook(), 'run: python tests/support/tutorial_notebook.py'
    nbformat.validate(written())


def test_the_notebook_has_every_block_that_runs():
    sources = '\n'.join(cell.source for cell in written().cells if cell.cell_type == 'code')
    for block in blocks(PAGE):
        assert all((line in sources) == (block.reason is None) for line in block.code.strip().splitlines())


@pytest.mark.slow
def test_the_notebook_runs(tmp_path, monkeypatch):
    """In a kernel, in place of the blocks of the page (tests/test_docs.py), with two epochs for each training."""
    for name, value in workspace(tmp_path).items():
        monkeypatch.setenv(name, value)
    (tmp_path / 'docs').unlink()  # a link to the pages: the way up would lead out of this folder
    (tmp_path / 'docs').mkdir()
    book = written()
    for cell in book.cells:
        if cell.source.startswith('%%bash'):
            cell.source = shorten(cell.source)
    start = {'metadata': {'path': str(tmp_path / 'docs')}}  # where Jupyter starts it
    NotebookClient(book, timeout=600, resources=start).execute()
    pictures = [cell for cell in book.cells if cell.source.startswith('from IPython.display')]
    assert pictures
    for cell in pictures:
        assert [output.output_type for output in cell.outputs] == ['execute_result'], cell.source
        assert cell.outputs[0].data['image/png']
    printed = ''.join(output.get('text', '') for cell in book.cells for output in cell.get('outputs', ()))
    assert '| Mixup |' in printed
