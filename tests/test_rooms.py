"""The house: imports point to the ground, names of files are used once, functions take values."""

import ast
import re
from collections import Counter
from html import unescape
from pathlib import Path

import pytest
from conftest import ROOT
from support.house import PACKAGE, imports_of, modules, room_of
from support.house_drawing import FLOORS

# From the ground up: a room may import itself and the rooms before it. Only the registries' `locations` point up.
ROOMS = (
    'ground',  # errors, structures, registry, compat, version, invocation
    'utils',
    'losses',
    'mixers',
    'backbones',
    'heads',
    'classifiers',
    'datasets',
    'semi',
    'evaluation',
    'visualization',
    'config',
    'runs',
    'launch',
    'engine',
    'analysis',
    'tables',
    'paper',
    'export',
    'commands',
    'openmix_dm',  # __init__.py, what a user imports
)
# Data sets whose preparation has a file of their name.
MIRRORED = {'fine_grained', 'imagenet'}
MIXED_ROOM = 14  # files that a room of different things may have
# Shelves of alike things may be long.
SHELVES = {'mixers', 'commands', 'datasets/prepare', 'analysis/studies'}
FILES = sorted((ROOT / PACKAGE).rglob('*.py'))


def upward(file: Path) -> list[str]:
    own = ROOMS.index(room_of(file))
    return [f'line {line}: {name}' for line, name in imports_of(file) if ROOMS.index(room_of(modules()[name])) > own]


@pytest.mark.parametrize('file', FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_imports_point_to_the_ground(file):
    """Those inside of functions and of `if TYPE_CHECKING` too."""
    assert not upward(file)


def test_an_import_upwards_would_be_seen(tmp_path, monkeypatch):
    modules()  # kept from now on: those of the house itself, whichever test is the first of its process
    (tmp_path / 'utils').mkdir()
    file = tmp_path / 'utils' / 'helper.py'
    file.write_text('def work():\n    from openmix_dm.engine import runner\n    from openmix_dm import load\n')
    monkeypatch.setattr('support.house.HOUSE', tmp_path)
    assert [name for _, name in imports_of(file)] == ['openmix_dm.engine', 'openmix_dm.engine.runner', 'openmix_dm']
    assert room_of(file) == 'utils'


def test_every_room_is_in_the_list():
    assert {room_of(file) for file in FILES} == set(ROOMS)


def test_the_drawing_shows_the_rooms_in_their_order():
    assert [room for floor in FLOORS for room in floor] == list(ROOMS[:-1])  # all but the door, openmix_dm itself
    words = ' '.join(re.findall(r'>([^<]+)</text>', (ROOT / 'docs/figures/house.svg').read_text()))
    assert all(text in unescape(words) for floor in FLOORS for room in floor.items() for text in room)


def test_no_two_files_have_one_name():
    names = Counter(file.stem for file in FILES if file.stem not in {'__init__', 'base'})
    twice = {name for name, count in names.items() if count > 1}
    assert twice <= MIRRORED
    assert all(names[name] == 2 for name in twice)


def test_rooms_of_different_things_are_small():
    sizes = Counter(str(file.parent.relative_to(ROOT / PACKAGE)) for file in FILES)
    assert {room for room, size in sizes.items() if size > MIXED_ROOM} <= SHELVES


@pytest.mark.parametrize('file', FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_only_commands_see_the_command_line(file):
    if room_of(file) == 'commands':
        return
    named = [node.lineno for node in ast.walk(ast.parse(file.read_text())) if getattr(node, 'attr', '') == 'Namespace']
    assert not named


def test_helpers_have_names_of_their_own():
    """`from engine.runs import` in a test must not be a helper that stands before a module of that name."""
    support = {file.stem for file in (ROOT / 'tests' / 'support').glob('*.py')}
    assert not support & {file.stem for file in FILES}
    helpers = [file for file in (ROOT / 'tests').rglob('*.py') if not file.stem.startswith('test_')]
    rooms = {file.relative_to(ROOT / 'tests').parts[0] for file in helpers}
    assert rooms == {'conftest.py', 'support', 'reference', 'data'}
