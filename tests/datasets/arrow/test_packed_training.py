"""Packed images train as unpacked ones do, bit for bit, and resume exactly."""

import cv2
import numpy as np
import pytest
import torch
from support.short_runs import PowerCut, final, power_cut, same, train

from openmix_dm.commands.prepare_data import main
from openmix_dm.datasets import Digits, HuggingFaceImages, SampleIndex
from openmix_dm.datasets.samplers.stream_batches import StreamSamples
from openmix_dm.datasets.streams import Streams
from openmix_dm.registry import TRANSFORMS

CROP = {'type': 'BatchRandomCrop', 'padding': 1, 'mode': 'constant'}
EACH = {'type': 'BatchEach', 'transforms': [{'type': 'RandAugment'}]}
PHOTOGRAPHS = [{'type': 'RandomResizedCrop', 'size': 16}, {'type': 'RandomFlip'}]
SQUARE = [{'type': 'ResizeShortEdge', 'size': 18}, {'type': 'CenterCrop', 'size': 16}]


@pytest.fixture(scope='module')
def packed(tmp_path_factory):
    """The digits at 16 px, and photographs in folders, beside what they were packed from."""
    root = tmp_path_factory.mktemp('data')
    for k in range(60):
        noise = np.random.default_rng(k).integers(0, 256, (5, 7, 3), dtype=np.uint8)
        path = root / 'photos' / ('train' if k < 50 else 'val') / 'abcdef'[k % 6] / f'{k}.{"png" if k % 4 else "jpg"}'
        path.parent.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(path), cv2.resize(noise, (24 + k % 5, 20)))
    for name, *options in (('digits',), ('folder', '--root', str(root / 'photos'))):
        assert main(['pack', name, *options, '--out', str(root / f'{name}-packed'), '--shard-images', '400']) == 0
    return root


def sets(train_set, val_set):
    return [
        f'{phase}_dataloader.dataset={ {"_delete_": True, **value} }'
        for phase, value in (('train', train_set), ('val', val_set))
    ]


def digits(root):
    """The data sets as options: first from memory, then packed."""
    path = {'type': 'HuggingFaceImages', 'path': str(root / 'digits-packed')}
    for kind in ({'type': 'Digits'}, path):
        yield sets({**kind, 'split': 'train', 'transforms': [CROP]}, {**kind, 'split': 'test'})


def photographs(root):
    files = {'type': 'ImageFolder', 'root': str(root / 'photos')}
    path = {'type': 'HuggingFaceImages', 'path': str(root / 'folder-packed')}
    for kind in (files, path):
        yield [
            *sets(
                {**kind, 'split': 'train', 'transforms': PHOTOGRAPHS}, {**kind, 'split': 'val', 'transforms': SQUARE}
            ),
            'global_batch_size=10',
        ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ('images', 'workers'),
    [(digits, 0), pytest.param(digits, 2, marks=pytest.mark.slow), (photographs, 0), (photographs, 2)],
)
def test_training_is_the_same_and_resumes_exactly(packed, tmp_path, monkeypatch, images, workers):
    unpacked, options = images(packed)
    assert train(tmp_path / 'unpacked', *unpacked) == 0
    loading = (f'train_dataloader.num_workers={workers}', 'default_hooks.checkpoint.save_every_iters=2')
    assert train(tmp_path / 'packed', *options, *loading) == 0
    expected = final(tmp_path / 'unpacked')
    assert same(final(tmp_path / 'packed')['state_dict'], expected['state_dict'])
    with power_cut(monkeypatch, 8), pytest.raises(PowerCut):
        train(tmp_path / 'cut', *options, *loading)
    assert train(tmp_path / 'cut', *options, *loading, arguments=('--resume',)) == 0
    assert same(final(tmp_path / 'cut')['state_dict'], expected['state_dict'])
    assert same(final(tmp_path / 'cut')['optimizer'], expected['optimizer'])


def test_streams_are_the_same(packed):
    """Views of whole batches, of one image, and none; the splits of labelled images are found by the packed name."""
    path = {'type': 'HuggingFaceImages', 'path': str(packed / 'digits-packed'), 'split': 'train'}
    views = {'labelled_views': [[CROP]], 'unlabelled_views': [[CROP, EACH], []], 'count': 40, 'ratio': 2}
    one, other = (Streams(dataset, **views) for dataset in ({'type': 'Digits', 'split': 'train'}, path))
    assert one._labelled.tolist() == other._labelled.tolist()
    samples = [SampleIndex(k, 1000 + k) for k in range(12)]
    batch = StreamSamples(samples[:4], samples[4:])
    assert same(one.__getitems__(batch), other.__getitems__(batch))


def test_plain_numbers_are_not_augmented(packed):
    memory = Digits('test', transforms=[CROP, {'type': 'BatchResize', 'size': 9}])
    data = HuggingFaceImages(
        str(packed / 'digits-packed'), 'test', transforms=[CROP, {'type': 'BatchResize', 'size': 9}]
    )
    assert same(data.__getitems__([3, 5, 8]), memory.__getitems__([3, 5, 8]))
    assert same(data[7], memory[7])
    assert torch.equal(data[SampleIndex(7, 3)]['inputs'], memory[SampleIndex(7, 3)]['inputs'])


def test_transforms_say_what_they_take():
    """A registered transform that is handed a generator is one of whole batches, and says so."""
    TRANSFORMS.import_from_location()
    ours = {name: each for name, each in TRANSFORMS.module_dict.items() if each.__module__.startswith('openmix_dm')}
    assert len(ours) > 10
    for name, each in ours.items():
        handed = 'generator' in each.__call__.__code__.co_varnames[: each.__call__.__code__.co_argcount]
        assert getattr(each, 'takes_batches', False) == handed, name
