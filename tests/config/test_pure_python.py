"""mmengine's pure-Python configs: the same checks, the same fingerprint, the same training as the text form."""

import json
import re

import cv2
import numpy as np
import pytest
from support.short_runs import train

from openmix_dm.commands.train import main
from openmix_dm.config.check import validate
from openmix_dm.config.load import fingerprint, load_config, to_text
from openmix_dm.errors import ConfigError
from openmix_dm.registry import registered_name
from openmix_dm.runs.folder import RunFolder

CHAIN = """
from mmengine.config import read_base

with read_base():
    from .base import *

from openmix_dm.mixers import Mixup

model.update(mixer=dict(type=Mixup, alpha=0.2))
"""


def registered():
    """All registered classes by name."""
    from mmengine.registry import Registry

    from openmix_dm import registry

    found = {}
    for each in vars(registry).values():
        if isinstance(each, Registry):
            each.import_from_location()
            for level in filter(None, (each.parent, each)):
                found |= level.module_dict
    return found


def as_python(config):
    """Write a config as a pure-Python one: imports, and classes for their names."""
    classes, used = registered(), {}

    def write(value):
        if isinstance(value, dict):
            return (
                'dict('
                + ', '.join(f'{key}={kind(item) if key == "type" else write(item)}' for key, item in value.items())
                + ')'
            )
        if isinstance(value, list | tuple):
            return str(type(value)([Raw(write(item)) for item in value]))
        return repr(value)

    def kind(name):
        used[name] = classes[name]
        return name

    lines = [f'{key} = {write(value)}' for key, value in config.to_dict().items()]
    imports = [f'from {cls.__module__} import {cls.__name__} as {name}' for name, cls in used.items()]
    return '\n'.join([*imports, *lines]) + '\n'


class Raw(str):
    __repr__ = str.__str__


@pytest.fixture
def chain(tmp_path, root):
    """imagenet/r50_mixup_dm.py written out as a base without its mixer, and a leaf that adds it."""
    text = load_config(root / 'configs/imagenet/r50_mixup_dm.py')
    without = text.copy()
    without.model = {key: value for key, value in text.model.to_dict().items() if key != 'mixer'}
    without = {key: value for key, value in without.to_dict().items() if not key.startswith('_')}
    (tmp_path / 'base.py').write_text(as_python(type(text)(without)))
    (tmp_path / 'leaf.py').write_text(CHAIN)
    return tmp_path / 'leaf.py', text


def test_a_chain_has_the_fingerprint_of_the_text_form(chain):
    path, text = chain
    pure = load_config(path)
    validate(pure)
    expected = {key: value for key, value in text.to_dict().items() if not key.startswith('_')}
    assert json.loads(json.dumps(pure.to_dict())) == json.loads(json.dumps(expected))
    assert pure.model.mixer == {'type': 'Mixup', 'alpha': 0.2}
    assert fingerprint(pure) == fingerprint(type(text)(expected))
    assert 'openmix_dm.' not in re.sub(r"default_scope = '[^']*'", '', to_text(pure))  # registered names only


def test_a_chain_trains_on_a_tiny_folder(chain, tmp_path):
    path, _ = chain
    for split in ('train', 'val'):
        for name in ('a', 'b'):
            folder = tmp_path / 'images' / split / name
            folder.mkdir(parents=True)
            for number in range(4):
                cv2.imwrite(str(folder / f'{number}.jpg'), np.random.randint(0, 255, (40, 40, 3), np.uint8))
    options = [f'{phase}_dataloader.{key}' for phase in ('train', 'val') for key in (
        f'dataset.root={tmp_path}/images', 'num_workers=0')]  # fmt: skip
    small = ("model.backbone=dict(_delete_=True,type='ThinResNet',depth=8)", 'train_cfg.max_epochs=1')
    arguments = [
        str(path),
        '--work-dir',
        str(tmp_path / 'run'),
        '--cfg-options',
        *options,
        *small,
        'global_batch_size=4',
    ]
    assert main(arguments) == 0
    assert RunFolder(tmp_path / 'run').read()['state'] == 'done'
    assert main([*arguments[:3], '--resume', *arguments[3:]]) == 0  # its config.py is plain


def test_a_misspelt_argument_is_refused_as_elsewhere(chain):
    path, _ = chain
    path.write_text(CHAIN.replace('alpha', 'alfa'))
    with pytest.raises(ConfigError, match='did you mean alpha'):
        validate(load_config(path))


def test_a_base_that_inherits_itself_is_refused(tmp_path):
    (tmp_path / 'a.py').write_text('from mmengine.config import read_base\nwith read_base():\n    from .a import *\n')
    with pytest.raises(ConfigError, match='inherits itself'):
        load_config(tmp_path / 'a.py')


def test_classes_in_a_plain_config(tmp_path, root):
    config = tmp_path / 'classes.py'
    config.write_text(
        f"from openmix_dm.mixers import CutMix\n_base_ = '{root}/configs/digits/r8_mixup_dm.py'\n"
        'model = dict(mixer=dict(type=CutMix, alpha=0.2))\n'
    )
    loaded = load_config(config)
    assert loaded.model.mixer == {'type': 'CutMix', 'alpha': 0.2}
    assert fingerprint(loaded) == fingerprint(load_config(root / 'configs/digits/r8_cutmix_dm.py'))
    assert train(tmp_path / 'run', config=config) == 0


def test_names_of_classes():
    from torch.optim import SGD

    from openmix_dm.mixers import CutMix

    assert (registered_name(CutMix), registered_name(SGD), registered_name(dict)) == ('CutMix', 'SGD', None)
