"""What a loader gives depends on seed and place alone."""

import gc
import multiprocessing
import time
from functools import partial

import cv2
import numpy as np
import pytest
import torch

from openmix_dm.engine import loader as dataloader
from openmix_dm.engine import loader as worker_start
from openmix_dm.engine.loader import build_dataloader

STEPS = [
    {'type': 'RandomResizedCrop', 'size': 24, 'interpolation': 'bicubic'},
    {'type': 'RandomFlip'},
    {'type': 'RandAugment', 'policy': 'rand-m9-mstd0.5-inc1'},
]


@pytest.fixture
def root(tmp_path):
    draw = np.random.default_rng(0)
    for name in 'ab':
        (tmp_path / 'train' / name).mkdir(parents=True)
        for number in range(6):
            small = draw.integers(0, 256, (5, 6, 3), dtype=np.uint8)
            cv2.imwrite(str(tmp_path / 'train' / name / f'{number}.jpg'), cv2.resize(small, (60, 50)))
    return tmp_path


def batches(root, epoch=1, first=0, **options):
    dataset = {'type': 'ImageFolder', 'root': str(root), 'split': 'train', 'transforms': STEPS}
    loader = build_dataloader(dataset, {'type': 'TrainBatches'}, batch_size=6, seed=4, **options)
    loader.batch_sampler.start_at(epoch, first)
    return list(loader)


def same(some, others):
    return len(some) == len(others) and all(
        torch.equal(one[name], other[name]) for one, other in zip(some, others, strict=True) for name in one
    )


def test_copies_of_an_image_are_augmented_differently(root):
    (first, _) = batches(root, repeats=3)
    assert first['inputs'].shape == (6, 3, 24, 24)
    for copies in (first['inputs'][:3], first['inputs'][3:]):
        assert len({copy.numpy().tobytes() for copy in copies}) == 3
    assert len(set(first['labels'][:3].tolist())) == 1


def test_any_batch_can_be_the_first(root):
    whole = batches(root, repeats=3)
    assert same(batches(root, first=1, repeats=3), whole[1:])
    assert not same(batches(root, epoch=2, repeats=3), whole)


def test_workers_and_their_number_change_nothing(root):
    whole = batches(root, repeats=3)
    for workers in (1, 2):
        assert same(batches(root, repeats=3, num_workers=workers), whole)


def sleeper(folder, starts, worker):
    """Sleep without end in so many starts."""
    starts_so_far = len(list(folder.iterdir()))
    (folder / str(starts_so_far)).touch()
    while starts_so_far < starts:
        time.sleep(1)


def test_workers_that_hang_at_their_start_are_started_anew(root, tmp_path, monkeypatch):
    whole, folder = batches(root, repeats=3), tmp_path / 'starts'
    folder.mkdir()
    monkeypatch.setattr(dataloader, '_prepare_worker', partial(sleeper, folder, 2))
    monkeypatch.setattr(worker_start.RestartingLoader.__init__, '__kwdefaults__', {'start_within': 1.0})
    before = set(multiprocessing.active_children())
    with pytest.warns(UserWarning, match='did not start within 1 s'):
        assert same(batches(root, repeats=3, num_workers=1, timeout=10), whole)
    assert len(list(folder.iterdir())) == 3
    gc.collect()
    assert set(multiprocessing.active_children()) <= before
