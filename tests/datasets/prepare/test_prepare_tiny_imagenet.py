"""tools/prepare_data.py tiny-imagenet, on a tiny copy of the published archive."""

import numpy as np
import pytest
from support import archive_layouts as layouts

from openmix_dm.commands.prepare_data import main
from openmix_dm.datasets import TinyImageNet
from openmix_dm.datasets.prepare.data_set import PUBLISHED

PLACE = 'tiny-imagenet-200'


def prepare(root, *more):
    return main(['tiny-imagenet', '--root', str(root), '--no-verify', *map(str, more)])


@pytest.mark.parametrize('how', ['zip', 'folder'])
def test_the_loader_serves_the_published_images(tmp_path, how, capsys):
    root = tmp_path / 'tiny'
    if how == 'zip':
        assert prepare(root, '--archive', layouts.zipped(tmp_path / 'a.zip', layouts.tiny_imagenet())) == 0
    else:
        layouts.folder(root, layouts.tiny_imagenet())
        assert prepare(root) == 0
    for split in ('train', 'val'):
        data = TinyImageNet(str(root), split)
        assert data.classes == sorted(layouts.WNIDS)
        assert len(data) == 6
        assert isinstance(data.images.numpy().base, np.memmap) or data.memory_mapped
        batch = data.__getitems__(range(6))
        grey = batch['inputs'].float().mean(dim=(1, 2, 3))
        assert (grey - 60 * batch['labels']).abs().max() < 4
        assert batch['inputs'].shape == (6, 3, 64, 64)
    assert TinyImageNet(str(root), 'train').labels.tolist() == [0, 0, 1, 1, 2, 2]
    assert prepare(root) == 0
    assert 'nothing to do' in capsys.readouterr().out


def test_images_stay_on_disk(tmp_path):
    prepare(tmp_path / 'tiny', '--archive', layouts.zipped(tmp_path / 'a.zip', layouts.tiny_imagenet()))
    data = TinyImageNet(str(tmp_path / 'tiny'), 'train')
    data.images[0] = 9  # copy on write: the file keeps what it has
    assert np.load(tmp_path / 'tiny' / 'train_images.npy')[0].max() < 9


def test_counts_and_sums_are_those_of_the_published_set(tmp_path, monkeypatch, capsys):
    archive = layouts.zipped(tmp_path / 'a.zip', layouts.tiny_imagenet())
    command = ['tiny-imagenet', '--root', str(tmp_path / 'tiny'), '--archive', str(archive)]
    assert main(command) == 3
    assert 'expected md5 90528d7ca1a48142e341f4ef8d21d0de, got' in capsys.readouterr().err
    monkeypatch.setattr('openmix_dm.datasets.prepare.data_set.verify_hash', lambda *_: None)
    assert main(command) == 3
    assert 'train: expected 200 classes and 100,000 images, got 3 and 6' in capsys.readouterr().err
    assert not (tmp_path / 'tiny').exists()


@pytest.mark.parametrize(
    ('name', 'content', 'said'),
    [
        ('train/n01443537/images/n01443537_1.JPEG', b'', 'n01443537_1.JPEG cannot be decoded as an image (0 bytes)'),
        (
            'train/n01443537/images/n01443537_1.JPEG',
            b'<html>',
            'n01443537_1.JPEG cannot be decoded as an image (6 bytes)',
        ),
        ('val/images/val_1.JPEG', layouts.jpeg(1), 'val_1.JPEG: expected an image of 64 x 64 pixels, got 12 x 8'),
        ('val/images/val_1.JPEG', layouts.jpeg(1, (64, 64))[:-30], 'val_1.JPEG cannot be decoded as an image ('),
        ('val/val_annotations.txt', b'val_0.JPEG\tn00000000\t0\t0\n', 'val_annotations.txt, line 1: expected'),
        ('val/val_annotations.txt', b'val_9.JPEG\tn01443537\t0\t0\n', "got 'val_9.JPEG"),
        ('wnids.txt', b'n01443537\nn02124075\n', 'missing none, too many n04067472'),
        ('wnids.txt', b'n01443537\nn02124075\nn04067472\nn09999999', 'missing n09999999, too many none'),
    ],
)
def test_a_damaged_set_is_refused_by_name(tmp_path, capsys, name, content, said):
    files = {**layouts.tiny_imagenet(), f'{PLACE}/{name}': content}
    assert prepare(tmp_path / 'tiny', '--archive', layouts.zipped(tmp_path / 'a.zip', files)) == 3
    assert said in capsys.readouterr().err
    assert 'index.json' not in layouts.below(tmp_path / 'tiny')
    assert not [file for file in layouts.below(tmp_path / 'tiny') if file.endswith('.part')]


def test_a_split_without_images_is_no_crash(tmp_path, capsys):
    files = {**layouts.tiny_imagenet(), f'{PLACE}/val/val_annotations.txt': b''}
    assert prepare(tmp_path / 'tiny', '--archive', layouts.zipped(tmp_path / 'a.zip', files)) == 0
    assert '6 train, 0 val images' in capsys.readouterr().out


def test_check(tmp_path, monkeypatch, capsys):
    root = tmp_path / 'tiny'
    prepare(root, '--archive', layouts.zipped(tmp_path / 'a.zip', layouts.tiny_imagenet()))
    monkeypatch.setitem(PUBLISHED['tiny-imagenet'], 'classes', 3)
    monkeypatch.setitem(PUBLISHED['tiny-imagenet'], 'counts', {'train': 6, 'val': 6})
    assert main(['check', 'tiny-imagenet', '--root', str(root)]) == 0
    monkeypatch.setitem(PUBLISHED['tiny-imagenet'], 'counts', {'train': 9, 'val': 6})
    assert main(['check', 'tiny-imagenet', '--root', str(root)]) == 3
    assert 'train: expected 3 classes and 9 images, got 3 and 6' in capsys.readouterr().out
