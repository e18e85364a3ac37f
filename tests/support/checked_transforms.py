"""Transforms from a config that has gone through the real check, and what they draw."""

import random
from functools import cache

import numpy as np
import torch
from conftest import ROOT

from openmix_dm.config.check import validate
from openmix_dm.config.load import load_config
from openmix_dm.registry import TRANSFORMS
from openmix_dm.visualization.sample_images import sample_photographs
from openmix_dm.visualization.transform_examples import shown_configs

PLACE = 'train_dataloader.dataset.transforms'


@cache
def config_of_images():
    return load_config(ROOT / 'configs' / 'imagenet' / 'r50_mixup_dm.py')


def checked(*configs):
    """Check a config with these transforms, and build them from it."""
    config = config_of_images().copy()
    config.train_dataloader.dataset.transforms = list(configs)
    validate(config)
    return [TRANSFORMS.build(each) for each in config.train_dataloader.dataset.transforms]


@cache
def examples(package):
    """A config of each transform of a package that can be used, by its name."""
    shown = [config for configs in shown_configs().values() for config in configs]
    return {config['type']: config for config in shown if config['type'].startswith(f'{package}/')}


@cache
def photograph():
    """160 x 200 pixels of a photograph, which nobody may change; none is quite black or white."""
    image = sample_photographs()[1][100:260, 120:320] // 2 + 30
    image.flags.writeable = False
    return image


def generators():
    """The states of all generators that are seeded by the key of a sample."""
    return random.getstate(), str(np.random.get_state()), torch.default_generator.get_state().tolist()
