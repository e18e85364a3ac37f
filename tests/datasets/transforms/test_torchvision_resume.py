"""Each transform of torchvision v2 in the loader of a run: after a stop comes what would have come without one."""

from functools import cache

import cv2
import pytest
import torch
from support.checked_transforms import examples, photograph
from support.short_runs import CONFIG

from openmix_dm.config.check import validate
from openmix_dm.config.load import load_config
from openmix_dm.config.resolve import resolve
from openmix_dm.engine.build import build_loader
from openmix_dm.engine.loader import stop_workers

EXAMPLES = examples('torchvision')
SAME_SIZE = {'type': 'torchvision/Resize', 'size': (24, 24)}  # some cut or turn: a batch needs one size


@pytest.fixture(scope='module')
def pieces(tmp_path_factory):
    """Eight pieces of a photograph in two classes."""
    root = tmp_path_factory.mktemp('pieces')
    for number in range(8):
        place = root / 'train' / 'ab'[number % 2]
        place.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(place / f'{number}.png'), photograph()[2 * number :, 4 * number :])
    return root


@cache
def batches(pieces, name, workers=0, first=0):
    """The batches of the third epoch, from one of them on, by the loader that a run of this config has."""
    transform, config = EXAMPLES[name], load_config(CONFIG, ['global_batch_size=2', 'model.head.num_classes=2'])
    config.randomness = {'seed': 3}
    crops = [] if transform['type'].endswith(('FiveCrop', 'TenCrop')) else [SAME_SIZE]
    config.train_dataloader = {
        'dataset': {'type': 'ImageFolder', 'root': str(pieces), 'split': 'train', 'transforms': [transform, *crops]},
        'sampler': {'type': 'TrainBatches'},
        'num_workers': workers,
    }
    validate(config)
    loader = build_loader(resolve(config, world_size=1), 'train')
    loader.batch_sampler.start_at(2, first)
    found = [(batch['inputs'], batch['labels']) for batch in loader]
    if workers:
        stop_workers(loader)
    return found


@pytest.mark.slow
@pytest.mark.parametrize('workers', [0, 2])
@pytest.mark.parametrize('name', EXAMPLES)
def test_a_loader_that_starts_in_the_middle_goes_on_as_one_that_did_not_stop(pieces, name, workers):
    whole, rest = batches(pieces, name), batches(pieces, name, workers, first=2)
    assert len(whole) == 4
    for (images, labels), (expected, expected_labels) in zip(rest, whole[2:], strict=True):
        assert torch.equal(images, expected)
        assert torch.equal(labels, expected_labels)
