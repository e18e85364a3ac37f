"""What setup.py and requirements.txt declare is what the package imports, and nothing else."""

import ast
import re
import runpy
import sys

import pytest
import setuptools
from conftest import ROOT

# Packages whose name is not that of what is imported.
DISTRIBUTIONS = {
    'PIL': 'pillow',
    'cv2': 'opencv-python',
    'mmcv': 'mmcv-lite',
    'sklearn': 'scikit-learn',
    'turbojpeg': 'pyturbojpeg',
}
# Used without an import statement of ours: the digits are a file inside of scikit-learn, torch.utils.tensorboard
# imports tensorboard, mmengine's backends import W&B and MLflow, mmcv imports PyTurboJPEG, torch imports ONNX's.
INDIRECT = {
    'scikit-learn': "find_spec('sklearn')",
    'tensorboard': 'torch.utils.tensorboard',
    'wandb': 'WandbVisBackend',
    'mlflow': 'MLflowVisBackend',
    'pyturbojpeg': "'turbojpeg'",
    'onnx': 'torch.onnx.export',
    'onnxscript': 'torch.onnx.export',
}
TESTING = {'pytest', 'pytest-xdist', 'hypothesis', 'ruff', 'mypy', 'nbclient', 'nbformat', 'ipykernel'}
TOOLS = {*TESTING, 'mkdocs', 'mkdocs-material', 'mkdocstrings', 'mkdocstrings-python'}
EXAMPLES = {'lightning': 'lightning_module.py'}  # what a script of docs/examples imports, and nothing else here
SOURCES = {path: path.read_text() for path in sorted((ROOT / 'openmix_dm').rglob('*.py'))}


def name_of(requirement):
    return re.match(r'[A-Za-z0-9._-]+', requirement).group().lower().replace('_', '-')


@pytest.fixture(scope='module')
def declared():
    """What setup.py hands to setuptools: names that are needed, and names of the extras."""
    caught = {}
    before, setuptools.setup = setuptools.setup, lambda **options: caught.update(options)
    try:
        runpy.run_path(str(ROOT / 'setup.py'))
    finally:
        setuptools.setup = before
    extras = {name_of(each) for extra in caught['extras_require'].values() for each in extra}
    return {name_of(each) for each in caught['install_requires']}, extras


def imported():
    """Return the packages that any module of ours imports, wherever in it."""
    found = set()
    for source in SOURCES.values():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition('.')[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                found.add(node.module.partition('.')[0])
    return {
        DISTRIBUTIONS.get(name, name).replace('_', '-') for name in found - {*sys.stdlib_module_names, 'openmix_dm'}
    }


def test_all_that_is_imported_is_declared(declared):
    needed, extras = declared
    assert imported() <= needed | extras


def test_all_that_is_declared_is_used(declared):
    needed, extras = declared
    unused = (needed | extras) - imported() - TOOLS - {*EXAMPLES}
    assert unused <= {*INDIRECT}
    for name in unused:
        assert any(INDIRECT[name] in source for source in SOURCES.values()), name


@pytest.mark.parametrize('name', EXAMPLES)
def test_what_only_an_example_needs_is_imported_there(name, declared):
    needed, extras = declared
    assert name in extras - needed - imported()
    assert f'import {name}' in (ROOT / 'docs' / 'examples' / EXAMPLES[name]).read_text()


def test_nothing_is_declared_twice(declared):
    needed, extras = declared
    assert not needed & extras


def test_exact_versions_are_pinned_for_all_that_is_needed(declared):
    lines = [line for line in (ROOT / 'requirements.txt').read_text().splitlines() if line and line[0] not in '#-']
    pinned = {name_of(line) for line in lines if '==' in line}
    assert len(pinned) == len(lines)
    assert declared[0] <= pinned <= declared[0] | declared[1]
