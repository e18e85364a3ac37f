import pytest

from openmix_dm.config.locate import find_cycle, find_fault, find_line, imports_code, inherited


@pytest.fixture
def files(tmp_path):
    (tmp_path / 'base.py').write_text(
        "model = dict(\n    mixer=dict(type='Mixup', alpha=1.0),\n    head={'loss': dict(eta=0.1)})\n"
        'schedules = [\n    dict(end=1),\n    dict(end=2),\n]\n'
    )
    (tmp_path / 'leaf.py').write_text("_base_ = ['base.py']\nmodel = dict(\n    mixer=dict(\n        alpha=2.0))\n")
    return tmp_path


@pytest.mark.parametrize(
    ('key', 'place'),
    [
        ('model.mixer.alpha', 'leaf.py:4'),
        ('model.mixer.type', 'base.py:2'),
        ('model.head.loss.eta', 'base.py:3'),
        ('schedules[1].end', 'base.py:6'),
        ('schedules', 'base.py:4'),
        ('model.nothing', None),
        ('nothing', None),
    ],
)
def test_a_key_is_found_where_it_was_last_set(files, key, place):
    assert find_line(files / 'leaf.py', key) == (str(files / place) if place else None)


def test_cycles_are_found_and_do_not_hang(tmp_path):
    for name, base in (('a', 'b'), ('b', 'c'), ('c', 'b')):
        (tmp_path / f'{name}.py').write_text(f"_base_ = '{base}.py'\n")
    assert [path.name for path in find_cycle(tmp_path / 'a.py')] == ['b.py', 'c.py', 'b.py']
    assert len(list(inherited(tmp_path / 'a.py'))) == 3


def test_two_ways_to_one_base_are_no_cycle(files):
    (files / 'other.py').write_text("_base_ = 'base.py'\n")
    (files / 'both.py').write_text("_base_ = ['leaf.py', 'other.py']\n")
    assert find_cycle(files / 'both.py') == []


def test_a_file_that_is_no_python_has_nothing(tmp_path):
    (tmp_path / 'a.py').write_text('model = dict(')
    assert find_line(tmp_path / 'a.py', 'model') is None


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('import os\nfrom mmengine.config import read_base\n', False),
        ('from openmix_dm.mixers import CutMix\n', False),
        ('import my_losses\n', True),
        ('from my_lab.losses import MyCE\n', True),
    ],
)
def test_a_config_that_imports_code_of_others_is_known_for_it(files, text, expected):
    (files / 'coded.py').write_text(text)
    (files / 'child.py').write_text("_base_ = 'coded.py'\n")
    assert imports_code(files / 'child.py') is expected


def test_a_fault_has_the_file_and_the_line_of_the_user(files):
    assert find_fault(files / 'leaf.py') is None
    (files / 'base.py').write_text('model = 1\nmodel = dict(\n')
    assert find_fault(files / 'leaf.py') == f"{files / 'base.py'}:2 is no Python: '(' was never closed"
    (files / 'base.py').unlink()
    assert find_fault(files / 'leaf.py') == f'{files / "leaf.py"} inherits {files / "base.py"}, which is not there'
