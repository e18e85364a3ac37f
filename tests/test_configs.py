"""Every config of the repository loads by mmengine alone, validates, and builds a model that learns."""

import pytest
import torch
from conftest import ROOT
from mmengine.config import Config

from openmix_dm.engine import config as configs
from openmix_dm.engine.resolve import resolve
from openmix_dm.engine.validate import validate
from openmix_dm.registry import MODELS

CONFIGS = sorted(path for path in (ROOT / 'configs').rglob('*.py') if path.parent.name != '_base_')


def name(path):
    return str(path.relative_to(ROOT / 'configs'))


@pytest.mark.parametrize('path', CONFIGS, ids=name)
def test_config_loads_validates_and_builds(path):
    config = Config.fromfile(path)
    assert config.to_dict() == configs.load_config(path).to_dict()
    validate(config)
    resolve(config, world_size=1)
    with torch.device('meta'):
        model = MODELS.build(config.model)
        size = 224 if path.parent.name == 'imagenet' else 16
        inputs, labels = torch.empty(4, 3, size, size), torch.empty(4, dtype=torch.long)
    losses = model(inputs, labels, mode='loss')
    sum(losses.values()).backward()
    assert all(parameter.grad is not None for parameter in model.parameters() if parameter.requires_grad)


@pytest.mark.parametrize('path', CONFIGS, ids=name)
def test_a_leaf_is_short_and_says_what_it_is(path):
    lines = path.read_text().splitlines()
    assert lines[0].startswith('# ')
    code = [line for line in lines if line.strip() and not line.startswith('#')]
    assert len(code) <= 8


def test_the_digits_have_every_loss():
    have = {path.stem for path in CONFIGS if path.parent.name == 'digits'}
    for mixer in ('vanilla', 'mixup', 'cutmix'):
        for loss in ('', '_dm', '_mbce', '_mbce2', '_dmbce'):
            assert f'r8_{mixer}{loss}' in have


def test_the_papers_values_of_the_imagenet_cell():
    config = configs.load_config(ROOT / 'configs/imagenet/r50_mixup_dm.py')
    assert config.model.mixer.to_dict() == {'type': 'Mixup', 'alpha': 0.2}
    assert config.model.head.loss.to_dict() == {'type': 'DecoupledCE', 'eta': 0.1}
    assert config.global_batch_size == 256
    assert config.train_cfg.max_epochs == 100
    assert config.optim_wrapper.optimizer.to_dict() == {'type': 'SGD', 'lr': 0.1, 'momentum': 0.9, 'weight_decay': 1e-4}
