"""Each transform of mmcv by its name: what mmcv itself gives for BGR, drawn by the key of the sample."""

import pickle
import random

import mmcv.transforms
import numpy as np
import pytest
from mmengine import registry as mmengine
from mmengine.registry import DefaultScope
from support.checked_transforms import PLACE, checked, examples, generators, photograph

from openmix_dm.datasets import RandomFlip
from openmix_dm.datasets.samplers.sample_index import seed_draws
from openmix_dm.datasets.transforms.mmcv_bridge import BRIDGE
from openmix_dm.errors import ConfigError
from openmix_dm.registry import TRANSFORMS, registered_name

ALL = set(mmcv.transforms.__all__) & set(mmengine.TRANSFORMS.module_dict)
FLIP = {'type': 'mmcv/RandomFlip', 'prob': 0.5}
GREY = {'type': 'mmcv/RandomGrayscale', 'prob': 0.5, 'channel_weights': (0.2, 0.7, 0.1)}
RESIZE = {'type': 'mmcv/Resize', 'scale': (50, 30)}
CONTAINERS = {
    'mmcv/Compose': {'transforms': [FLIP, {'type': 'mmcv/RandomApply', 'transforms': GREY, 'prob': 0.7}, RESIZE]},
    'mmcv/RandomApply': {'transforms': [GREY, FLIP], 'prob': 0.7},
    'mmcv/RandomChoice': {'transforms': [[FLIP, RESIZE], [GREY], RESIZE], 'prob': [0.5, 0.25, 0.25]},
}
CONFIGS = {name: {**config, **CONTAINERS.get(name, {})} for name, config in examples('mmcv').items()}
each = pytest.mark.parametrize('config', CONFIGS.values(), ids=CONFIGS)


def directly(config):
    """Build it with mmcv alone, as if we were not there."""
    if isinstance(config, list):
        return [directly(inner) for inner in config]
    arguments = {key: value for key, value in config.items() if key != 'type'}
    if 'transforms' in arguments:
        arguments['transforms'] = directly(arguments['transforms'])
    with DefaultScope.overwrite_default_scope('mmengine'):
        return getattr(mmcv.transforms, config['type'].split('/')[1])(**arguments)


def by_mmcv(config, seed):
    transform = directly(config)
    random.seed(seed)
    np.random.seed(seed)
    with DefaultScope.overwrite_default_scope('mmengine'):
        result = transform({'img': photograph()[..., ::-1].copy()})['img']
    return np.dstack([result] * 3) if result.ndim == 2 else result[..., ::-1]


def test_every_transform_is_used_or_refused():
    assert len(ALL) == 19
    assert set(BRIDGE.usable()) | set(BRIDGE.refused) == ALL
    assert set(CONFIGS) == {f'mmcv/{name}' for name in BRIDGE.usable()}


@each
@pytest.mark.parametrize('scope', ['openmix_dm', 'mmengine'])
def test_it_gives_what_mmcv_gives(config, scope):
    """In a run, too, where plain names such as `Resize` and `Pad` mean our classes."""
    with DefaultScope.overwrite_default_scope(scope):
        (transform,) = checked(config)
        for seed in range(6):
            seed_draws(seed)
            assert np.array_equal(transform(photograph()), by_mmcv(config, seed))


@each
def test_it_says_whether_it_draws(config):
    half = {'prob': 0.5} if isinstance(config.get('prob'), float) else {}
    (transform,) = checked({**config, **half})
    again = pickle.loads(pickle.dumps(transform))
    results, drawn = [], False
    for seed in range(12):
        seed_draws(seed)
        before = generators()
        results.append(transform(photograph()))
        drawn |= generators() != before
        seed_draws(seed)
        assert np.array_equal(results[-1], again(photograph()))
    assert transform.needs_draws is drawn
    assert transform.needs_draws is not all(np.array_equal(results[0], other) for other in results)


def test_values_of_channels_are_in_the_order_of_mmcv():
    """Blue, green, red, as in mmcv's own configs; RandomGrayscale can be told that it is RGB."""
    one = {**GREY, 'prob': 1.0, 'channel_weights': (1, 0, 0)}
    for config, channel in ((one, 2), ({**one, 'color_format': 'rgb'}, 0), ({**one, 'keep_channels': True}, 2)):
        grey = checked(config)[0](photograph())
        assert grey.shape == photograph().shape
        assert all(np.array_equal(grey[..., k], photograph()[..., channel]) for k in range(3))
    red = {'img': (0, 0, 255)}
    pad = checked({'type': 'mmcv/Pad', 'size': (210, 160), 'pad_val': red})[0](photograph())
    assert np.array_equal(pad[:, :200], photograph())
    assert (pad[:, 200:] == (255, 0, 0)).all()
    crop = {'type': 'mmcv/CenterCrop', 'crop_size': (300, 160), 'auto_pad': True, 'pad_cfg': {'pad_val': red}}
    assert (checked(crop)[0](photograph())[:, 200:] == (255, 0, 0)).all()


@pytest.mark.parametrize('name', BRIDGE.refused)
def test_others_are_refused_with_the_reason(name):
    with pytest.raises(ConfigError) as error:
        checked({'type': f'mmcv/{name}'})
    assert str(error.value).startswith(f'{PLACE}[0].type: mmcv/{name} cannot be used here: {BRIDGE.refused[name]}')


@pytest.mark.parametrize(
    ('config', 'said'),
    [
        ({'type': 'mmcv/RandomFlipp'}, r'\[0\]\.type: .*; did you mean mmcv/RandomFlip\?'),
        ({'type': 'RandomChoiceResize'}, r'\[0\]\.type: .*; did you mean mmcv/RandomChoiceResize\?'),
        ({'type': 'mmcv/RandomFlip', 'probb': 0.5}, r'\[0\]\.probb .*; did you mean prob\?'),
        ({'type': 'mmcv/RandomFlip', 'prob': 1.5}, r'\[0\]: .*assert 0 <= prob <= 1'),
        ({'type': 'mmcv/RandomFlip'}, r'\[0\]: .*must be float or list of float'),
        ({**RESIZE, 'interpolation': 'cubic'}, r'\[0\]: .*fails whatever the size of the image: KeyError'),
        (
            {'type': 'mmcv/RandomResize', 'scale': (9, 9), 'ratio_range': (0.5, 1.0), 'keep_ration': True},
            r'\[0\]\.keep_ration .*; did you mean keep_ratio\?',
        ),
        ({'type': 'mmcv/RandomChoiceResize', 'scales': [9], 'resize_type': 'Pad'}, r"resize_type must be 'Resize'"),
        ({'type': 'mmcv/CenterCrop', 'crop_size': 9, 'pad_cfg': {'type': 'Resize'}}, r"pad_cfg\.type must be 'Pad'"),
        ({**GREY, 'color_format': 'hsv'}, r'\[0\]: .*never in HSV'),
        ({**GREY, 'channel_weights': (1, 1)}, r'\[0\]: .*fails whatever the size'),
        ({'type': 'mmcv/RandomChoice', 'transforms': [[FLIP], [{**FLIP, 'p': 1.0}]]}, r'\.transforms\[1\]\[0\]\.p '),
    ],
)  # fmt: skip
def test_mistakes_are_found_by_the_check(config, said):
    with pytest.raises(ConfigError, match=said) as error:
        checked(config)
    assert str(error.value).startswith(PLACE)


def test_plain_names_stay_ours():
    """mmcv registers its own with mmengine by plain names, which are found only where somebody has imported it."""
    assert mmengine.TRANSFORMS.get('RandomFlip') is mmcv.transforms.RandomFlip
    assert TRANSFORMS.get('RandomFlip') is RandomFlip
    assert isinstance(TRANSFORMS.build({'type': 'RandomFlip', 'prob': 1.0}), RandomFlip)
    assert TRANSFORMS.get('RandomChoiceResize') is None
    assert 'RandomChoiceResize' not in TRANSFORMS.names()
    assert registered_name(mmcv.transforms.RandomFlip) == 'mmcv/RandomFlip'
    assert TRANSFORMS.get('mmengine.RandomFlip') is TRANSFORMS.get('mmcv/RandomFlip')
    assert registered_name(TRANSFORMS.get('mmcv/RandomFlip')) == 'mmcv/RandomFlip'
