"""Configs by their names, and configs of a user's own that inherit them."""

import shutil

import pytest
from conftest import ROOT

import openmix_dm
from openmix_dm.config.load import fingerprint, load_config
from openmix_dm.config.plain import read_plain_config
from openmix_dm.config.shipped import find_config, is_config, list_configs, short_name
from openmix_dm.errors import ConfigError

OURS = ROOT / 'configs' / 'digits' / 'r8_mixup_dm.py'


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_names_are_those_of_the_files():
    files = [f'{file.parent.name}/{file.stem}' for file in (ROOT / 'configs').glob('*/*.py')]
    assert list_configs() == sorted(name for name in files if not name.startswith(('_base_/', 'tables/')))
    assert openmix_dm.list_configs('digits/r8_mixup*') == [
        f'digits/r8_mixup{end}' for end in ('', '_dm', '_dmbce', '_mbce', '_mbce2')
    ]
    assert openmix_dm.list_configs('nothing') == []


@pytest.mark.parametrize(
    'name',
    [
        'digits/r8_mixup_dm',
        'digits/r8_mixup_dm.py',
        'configs/digits/r8_mixup_dm.py',
        'openmix_dm::digits/r8_mixup_dm.py',
        str(OURS),
        OURS,
    ],
)
def test_a_config_has_many_names(name, elsewhere):
    assert find_config(name) == OURS
    assert openmix_dm.get_config(name, ['model.mixer.alpha=3']).model.mixer.alpha == 3


def test_a_path_that_exists_wins(elsewhere):
    (elsewhere / 'digits' / 'r8_mixup_dm').mkdir(parents=True)  # a folder is no config
    assert find_config('digits/r8_mixup_dm') == OURS
    own = elsewhere / 'digits' / 'r8_mixup_dm.py'
    own.touch()
    assert find_config('digits/r8_mixup_dm.py').resolve() == own
    assert find_config('digits/r8_mixup_dm').resolve() == own
    assert find_config('openmix_dm::digits/r8_mixup_dm') == OURS


@pytest.mark.parametrize(
    ('name', 'said'),
    [
        ('digits/r8_mixup_dn', 'did you mean digits/r8_mixup_dm?'),
        ('configs/digit/r8_mixup_dm.py', 'did you mean digits/r8_mixup_dm?'),
        ('r8_flexmatch', 'did you mean digits_semi/r8_flexmatch?'),
        ('mine/expriment.py', 'did you mean experiment.py?'),
        ('../configs/digits/r8_mixup_dm', 'there is no config'),
        ('', 'there is no config'),
        ('.', 'there is no config'),
        ('x' * 5000, 'there is no config'),
        ('a\0b', 'there is no config'),
    ],
)
def test_a_wrong_name_is_told_with_the_nearest(name, said, elsewhere):
    (elsewhere / 'mine').mkdir()
    (elsewhere / 'mine' / 'experiment.py').touch()
    with pytest.raises(ConfigError) as error:
        find_config(name)
    assert said in str(error.value)


def test_the_shortest_name_leads_back(elsewhere, monkeypatch):
    assert short_name(OURS) == 'digits/r8_mixup_dm'
    (elsewhere / 'digits').mkdir()
    shutil.copy(OURS, 'digits')
    assert short_name(OURS) == str(OURS)  # the name would mean the other one here
    assert short_name(elsewhere / 'digits' / 'r8_mixup_dm.py') == 'digits/r8_mixup_dm.py'
    monkeypatch.chdir(ROOT)
    assert short_name(OURS) == 'configs/digits/r8_mixup_dm.py'


def test_words_that_are_configs(elsewhere):
    assert is_config('digits/r8_mixup')
    assert is_config('anything.py')
    assert not is_config('Mixup')
    assert not is_config('work_dirs/digits/r8_mixup/seed0')


# ---- inherited by configs of a user's own ----


@pytest.mark.parametrize(
    'base',
    ["'openmix_dm::digits/r8_mixup_dm.py'", "['openmix_dm::digits/r8_mixup_dm']", "'openmix_dm::digits/r8_mixup_dm'"],
)
def test_a_base_of_ours(base, elsewhere):
    (elsewhere / 'mine.py').write_text(
        f'_base_ = {base}\nmodel = dict(mixer=dict(alpha={{{{_base_.model.mixer.alpha}}}}))\n'
    )
    config = load_config('mine')
    assert fingerprint(config) == fingerprint(load_config(OURS))
    assert '_scope_' not in str(config.to_dict())  # run folders do not hold any


def test_ours_beside_one_of_the_users(elsewhere):
    (elsewhere / 'speed.py').write_text('channels_last = True\n')
    (elsewhere / 'mine.py').write_text("_base_ = ['openmix_dm::digits/r8_mixup_dm.py', './speed.py']\n")
    config = load_config('mine.py')
    assert config.channels_last
    assert config.model.mixer.type == 'Mixup'


def test_a_base_that_is_not_there(elsewhere):
    (elsewhere / 'mine.py').write_text("_base_ = 'openmix_dm::digits/r8_mixup_dn.py'\n")
    with pytest.raises(ConfigError, match=r'mine.py inherits .*did you mean digits/r8_mixup_dm'):
        load_config('mine.py')
    (elsewhere / 'mine.py').write_text("_base_ = 'openmix_dm::../setup.py'\n")
    with pytest.raises(ConfigError, match='which is not there'):
        load_config('mine.py')
    (elsewhere / 'mine.py').write_text("_base_ = 'mmnone::digits/r8_mixup_dm.py'\n")
    with pytest.raises(ConfigError, match='mmnone'):  # mmengine's own words
        load_config('mine.py')


def test_what_is_wrong_in_a_base_of_ours_is_found_there(elsewhere):
    from openmix_dm.config.locate import find_line

    (elsewhere / 'mine.py').write_text("_base_ = 'openmix_dm::digits/r8_mixup_dm.py'\n")
    assert str(ROOT / 'configs') in str(find_line(elsewhere / 'mine.py', 'model.mixer.type'))


@pytest.mark.parametrize('line', ['from openmix_dm.configs.digits.r8_mixup_dm import *', 'from .plain import *'])
def test_a_pure_python_config_cannot_inherit_a_plain_one(line, elsewhere):
    """mmengine would leave out what that one inherits."""
    shutil.copy(OURS, elsewhere / 'plain.py')
    text = (elsewhere / 'plain.py').read_text().replace("'r8.py'", f"'{OURS.parent}/r8.py'")
    (elsewhere / 'plain.py').write_text(text)
    (elsewhere / 'pure.py').write_text(f'from mmengine.config import read_base\n\nwith read_base():\n    {line}\n')
    with pytest.raises(ConfigError, match='inherits by a _base_ line itself'):
        load_config('pure.py')


def test_nothing_of_a_run_folder_is_inherited(elsewhere):
    """Its config is data: a name in it does not make us read other files."""
    (elsewhere / 'config.py').write_text("_base_ = 'openmix_dm::digits/r8_mixup_dm.py'\ntrain_cfg = {}\n")
    assert 'model' not in read_plain_config(elsewhere / 'config.py')


def test_mixers_by_name():
    mixers = openmix_dm.list_mixers()
    assert mixers == sorted(mixers)
    assert {'Mixup', 'CutMix', 'SAMix'} <= set(mixers)
