"""Workers that cannot hand over a batch are refused when the run is built; those that may not are warned of."""

import os
import warnings
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
import torch
from support import short_runs as runs
from support.fault_cases import small_disk

from openmix_dm.datasets import ImageFolder
from openmix_dm.engine import loader as loaders
from openmix_dm.engine import shared_memory
from openmix_dm.engine.shared_memory import check_shared_memory
from openmix_dm.errors import ResourceError

DIGITS = {'type': 'Digits', 'split': 'train', 'size': 8}
STREAMS = {
    'type': 'Streams', 'dataset': DIGITS, 'count': 40, 'labelled_views': [[]], 'unlabelled_views': [[], []], 'ratio': 7,
}  # fmt: skip
TRAIN, EVAL = {'type': 'TrainBatches'}, {'type': 'EvalBatches'}


@pytest.fixture
def free(monkeypatch):
    """Return a function that pretends how much of the shared memory is free."""
    true = os.statvfs

    def pretend(size, total=2**26):
        found = SimpleNamespace(f_frsize=1, f_blocks=total, f_bfree=size, f_bavail=size)
        monkeypatch.setattr(os, 'statvfs', lambda path: found if path == '/dev/shm' else true(path))

    return pretend


def build(dataset, sampler, workers=2, batch_size=50, prefetch_factor=3):
    return loaders.build_dataloader(
        dataset, sampler, batch_size, seed=0, num_workers=workers, prefetch_factor=prefetch_factor
    )


def true_bytes(dataset, sampler):
    """What the first batch really holds, with nobody's help."""
    pending, size = [next(iter(build(dataset, sampler, workers=0)))], 0
    while pending:
        part = pending.pop()
        if isinstance(part, torch.Tensor):
            size += part.nbytes
        elif not isinstance(part, str | int | float | None):
            pending += part.values() if isinstance(part, dict) else part
    return size


@pytest.fixture
def folder(tmp_path):
    for name in 'ab':
        (tmp_path / 'train' / name).mkdir(parents=True)
        for number in range(40):
            cv2.imwrite(str(tmp_path / 'train' / name / f'{number}.png'), np.zeros((9, 12, 3), np.uint8))
    return {'type': 'ImageFolder', 'root': str(tmp_path), 'split': 'train'}


@pytest.mark.parametrize('kind', ['digits', 'evaluation', 'files', 'files of a test', 'streams', 'foreign'])
def test_one_batch_is_what_has_to_fit(kind, folder, free):
    dataset, sampler = {
        'digits': (DIGITS, TRAIN),
        'evaluation': (DIGITS, EVAL),
        'files': (folder, TRAIN),
        'files of a test': (folder, EVAL),
        'streams': (STREAMS, {'type': 'StreamBatches'}),
        'foreign': ({'type': 'mmengine.ConcatDataset', 'datasets': [folder]}, TRAIN),
    }[kind]
    needed, loader = true_bytes(dataset, sampler), build(dataset, sampler)
    free(needed - 1)
    with pytest.raises(ResourceError, match=r'train_dataloader: /dev/shm has .* one takes .*--shm-size.*num_workers'):
        check_shared_memory({'train': loader, 'val': None})
    free(needed)
    with pytest.warns(UserWarning, match=r'2 workers load up to 6 batches .*bus error.*num_workers'):
        check_shared_memory({'train': loader, 'val': None})
    free(6 * needed)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        check_shared_memory({'train': loader, 'val': None})


@pytest.mark.parametrize('case', ['no workers', 'no limit', 'no /dev/shm', 'plenty'])
def test_nothing_is_read_where_nothing_can_be_said(case, folder, free, monkeypatch):
    free({'no limit': 0, 'plenty': 2**30}.get(case, 10), total=0 if case == 'no limit' else 2**30)
    if case == 'no /dev/shm':
        monkeypatch.setattr(shared_memory, 'SHARED', '/nowhere')
    monkeypatch.setattr(ImageFolder, 'read_bytes', lambda self, index: pytest.fail('read'))
    check_shared_memory({'train': build(folder, TRAIN, workers=0 if case == 'no workers' else 2)})


def test_a_rank_without_images_needs_nothing(free, monkeypatch):
    loader = build(DIGITS, EVAL)
    loader.batch_sampler.places = range(0)
    free(0)
    check_shared_memory({'val': loader})


def test_a_disk_that_is_really_small(tmp_path, monkeypatch):
    with small_disk(tmp_path / 'shm', '8k') as disk:
        monkeypatch.setattr(shared_memory, 'SHARED', str(disk))
        with pytest.raises(ResourceError, match=r'has 0\.01 MB free of 0\.01 MB'):
            check_shared_memory({'train': build(DIGITS, TRAIN)})
        (disk / 'full').write_bytes(bytes(8192))
        with pytest.raises(ResourceError, match=r'has 0\.00 MB free of 0\.01 MB'):
            check_shared_memory({'train': build(DIGITS, TRAIN, batch_size=1)})


def test_a_run_is_refused_before_it_has_a_folder(tmp_path, free, capfd):
    free(1000)
    assert runs.train(tmp_path / 'run', 'val_dataloader.num_workers=1') == ResourceError.exit_code
    assert 'FAILED cause=resources: val_dataloader: /dev/shm has 0.00 MB free' in capfd.readouterr().err
    assert not (tmp_path / 'run').exists()


def test_a_look_changes_no_draw(tmp_path, free):
    """The look seeds generators by the key of an image; the weights of a run do not depend on it."""
    options = ('train_cfg.max_epochs=1', 'train_dataloader.num_workers=1')
    assert runs.train(tmp_path / 'a', *options) == 0
    free(200 * 3 * 8 * 8 + 200 * 8)
    with pytest.warns(UserWarning, match='bus error'):
        assert runs.train(tmp_path / 'b', *options) == 0
    assert runs.same(runs.final(tmp_path / 'a', 1)['state_dict'], runs.final(tmp_path / 'b', 1)['state_dict'])
