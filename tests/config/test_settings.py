"""A config as one flat dict: defaults of our classes filled in, names as --cfg-options takes them."""

import json

import pytest
from mmengine.config import Config
from support.loaded_cells import load

from openmix_dm.config.load import load_config
from openmix_dm.config.settings import differences, flat, settings_of
from openmix_dm.mixers import CutMix


def test_names_are_those_of_cfg_options(tmp_path):
    """Every setting can be written back by its name, and then is what it was set to."""
    path = load('cub200/r18_samix_dm.py').filename
    settings = settings_of(load_config(path))
    options = [f'{name}={value!r}' for name, value in settings.items() if not name.startswith('train_cfg')]
    assert settings_of(load_config(path, options)) == settings
    changed = settings_of(load_config(path, ['train_dataloader.dataset.transforms.1.scale=[0.3, 1.0]']))
    assert differences(changed, settings, ('train_dataloader',)) == {
        'train_dataloader.dataset.transforms.1.scale': ([0.3, 1.0], [0.5, 1.0])
    }


def test_what_is_left_out_is_the_default():
    said = {'type': 'ResizeMix', 'alpha': 1.0, 'scope': (0.1, 0.8), 'interpolation': 'nearest', 'per_sample': False}
    assert flat(said, 'mixer') == flat({'type': 'ResizeMix', 'alpha': 1.0}, 'mixer')
    assert flat({'type': 'ResizeMix', 'alpha': 1.0}, 'mixer')['mixer.partner'] == 'shift'


@pytest.mark.parametrize(
    ('part', 'expected'),
    [
        ({'type': 'SGD', 'lr': 0.1}, {'x.type': 'SGD', 'x.lr': 0.1}),  # torch's: what is said
        ({'type': 'NobodysTransform', 'size': 3}, {'x.type': 'NobodysTransform', 'x.size': 3}),
        ({'type': dict, 'size': 3}, {'x.type': 'dict', 'x.size': 3}),
        ([{'a': (1, 2)}, [{'b': None}]], {'x.0.a': [1, 2]}),
        ([], {'x': []}),
        (None, {}),
        (0.5, {'x': 0.5}),
        ({'head.': {'lr_mult': 10}}, {'x.head..lr_mult': 10}),
    ],
)
def test_any_part_is_taken(part, expected):
    assert flat(part, 'x') == expected


def test_a_class_stands_for_its_name():
    assert flat({'type': CutMix, 'alpha': 1.0}, 'x') == flat({'type': 'CutMix', 'alpha': 1.0}, 'x')


def test_configs_of_any_kind_have_settings():
    assert settings_of(Config({})) == {}
    own = Config({'model': {'type': 'mine.Net', 'parts': {3: object}}, 'train_dataloader': None, 'default_hooks': None})
    assert settings_of(own) == {'model.type': 'mine.Net', 'model.parts.3': 'object'}
    for name in ('digits/r8_samix.py', 'digits_semi/r8_fixmatch.py'):
        json.dumps(settings_of(load(name)), allow_nan=False)


def test_only_the_parts_that_are_asked_for_are_compared():
    found, expected = {'a.b': 1, 'a.c': 2, 'ab': 3, 'd': 4}, {'a.b': 1, 'd': 5}
    assert differences(found, expected, ('a',)) == {'a.c': (2, None)}
    assert differences(found, expected, ('d',)) == {'d': (4, 5)}
    assert differences({}, expected, ('a',)) == {'a.b': (None, 1)}
