"""tools/prepare_data.py pack: the same images in the same order, whatever interrupts it; and check packed."""

import io
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import cv2
import datasets
import numpy as np
import pytest
from PIL import Image
from support.archive_layouts import jpeg
from support.command_runs import start
from torchvision.transforms.functional import resize

from openmix_dm.commands.prepare_data import main
from openmix_dm.datasets import CIFAR10, CUB200, Digits, HuggingFaceImages, ImageFolder, ImageList
from openmix_dm.datasets.prepare import pack as module
from openmix_dm.datasets.prepare import pack_encoding
from openmix_dm.errors import DataError, ResourceError


def pack(*arguments):
    return main(['pack', *map(str, arguments)])


def check(root, *arguments):
    return main(['check', 'packed', '--root', str(root), *arguments])


def photograph(seed, size):
    """Smooth colours, which a resize and JPEG keep well."""
    noise = np.random.default_rng(seed).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    return cv2.resize(noise, size, interpolation=cv2.INTER_CUBIC)


@pytest.fixture
def folder(tmp_path):
    """26 images of three classes, some of them large, one a PNG, in two splits."""
    root = tmp_path / 'mine'
    for k in range(26):
        path = root / ('train' if k < 20 else 'val') / 'abc'[k % 3] / f'{k:02d}.{"png" if k == 4 else "jpg"}'
        path.parent.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(path), photograph(k, (90 + k, 60) if k % 2 else (20, 30)))
    return root


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob('*')) if path.is_file()}


def same_images(packed, source):
    assert packed.labels.tolist() == np.asarray(source.labels).tolist()
    assert packed.classes == list(source.classes)
    for index in range(len(source)):
        own = source.decode(index) if hasattr(source, 'decode') else source.images[index].permute(1, 2, 0).numpy()
        assert np.array_equal(packed.decode(index), own)


# ---- what is packed ----


def test_a_folder(folder, tmp_path, capsys):
    assert pack('folder', '--root', folder, '--out', tmp_path / 'out', '--shard-images', 7) == 0
    said = capsys.readouterr().out
    assert 'train: 20 images' in said
    assert '(3 of 3 files written now)' in said
    for split in ('train', 'val'):
        source, packed = ImageFolder(str(folder), split), HuggingFaceImages(str(tmp_path / 'out'), split)
        same_images(packed, source)
        for index in range(len(source)):
            assert packed.read_bytes(index)[0] == Path(source.path(index)).read_bytes()
            assert packed.file_name(index) == source.file_name(index)
    assert check(tmp_path / 'out') == 0
    assert 'train: 3 classes, 20 images' in capsys.readouterr().out


def test_others_can_read_it(folder, tmp_path):
    """By what `datasets` promises, without a line of ours."""
    assert pack('folder', '--root', folder, '--out', tmp_path / 'out', '--shard-images', 7) == 0
    loaded = datasets.load_from_disk(str(tmp_path / 'out'))
    assert {split: len(part) for split, part in loaded.items()} == {'train': 20, 'val': 6}
    assert loaded['train'].features['label'].names == ['a', 'b', 'c']
    source = ImageFolder(str(folder), 'train')
    for index, row in enumerate(loaded['train']):
        assert row['label'] == source.labels[index]
        assert np.abs(np.array(row['image'].convert('RGB')).astype(int) - source.decode(index)).max() <= 1
    loaded['train'].save_to_disk(tmp_path / 'copy')
    same_images(HuggingFaceImages(str(tmp_path / 'copy')), source)


def test_images_in_memory_are_packed_without_loss(tmp_path, monkeypatch):
    monkeypatch.setenv('OPENMIX_DM_DATA', str(tmp_path))
    assert pack('digits', '--split', 'test') == 0
    packed = HuggingFaceImages('digits-packed', 'test')
    same_images(packed, Digits('test'))
    assert packed.name == 'digits'  # by which splits of labelled images are found


def test_published_data_sets_by_name(tmp_path, monkeypatch):
    monkeypatch.setenv('OPENMIX_DM_DATA', str(tmp_path))
    write_cifar10(tmp_path / 'cifar10')
    write_cub200(tmp_path / 'cub200')
    assert pack('cifar10') == pack('cub200', '--root', tmp_path / 'cub200') == 0
    for split in ('train', 'test'):
        same_images(HuggingFaceImages('cifar10-packed', split), CIFAR10(split=split))
        same_images(HuggingFaceImages('cub200-packed', split), CUB200(split=split))
    assert (tmp_path / 'cub200-packed' / 'splits' / 'cub200_15pct_s0.json').read_text() == '{"drawn": 1}'


def write_cifar10(root):
    root.mkdir()
    hashes = {}
    for split in ('train', 'test'):
        pixels = np.random.default_rng(0).integers(0, 256, (12, 3, 32, 32), dtype=np.uint8)
        for what, array in (('images', pixels), ('labels', np.arange(12) % 10)):
            np.save(root / f'{split}_{what}.npy', array)
        files = [f'{split}_{what}.npy' for what in ('images', 'labels')]
        hashes[split] = {'sha256': {file: module.sha256_of(root / file) for file in files}}
    index = {'name': 'cifar10', 'source': '', 'classes': [f'class {k}' for k in range(10)], 'splits': hashes}
    (root / 'index.json').write_text(json.dumps(index))


def write_cub200(root):
    (root / 'images').mkdir(parents=True)
    (root / 'splits').mkdir()
    (root / 'splits' / 'cub200_15pct_s0.json').write_text('{"drawn": 1}')
    (root / 'classes.txt').write_text('wren\nowl\n')
    for split, shades in (('train', (10, 80)), ('test', (150, 220))):
        (root / f'{split}.txt').write_text(''.join(f'images/{shade} b.jpg {k}\n' for k, shade in enumerate(shades)))
        for shade in shades:
            (root / 'images' / f'{shade} b.jpg').write_bytes(jpeg(shade))


def test_a_list_and_a_config(folder, tmp_path, monkeypatch):
    monkeypatch.setenv('OPENMIX_DM_DATA', str(tmp_path))
    (folder / 'some.txt').write_text('train/b/01.jpg 1\nval/a/21.jpg 0\n')
    assert pack('list', '--root', 'mine', '--list', 'some.txt', '--classes', 4) == 0
    same_images(HuggingFaceImages('mine-packed', 'some'), ImageList('mine', 'some.txt', num_classes=4))
    config = (
        "train_dataloader = dict(dataset=dict(type='Streams', dataset=dict(type='Digits', split='train', size=5)))\n"
    )
    config += (
        "val_dataloader = dict(dataset=dict(type='Digits', split='test', transforms=[dict(type='BatchRandomFlip')]))\n"
    )
    (tmp_path / 'small.py').write_text(config)
    assert pack(tmp_path / 'small.py') == 0
    same_images(HuggingFaceImages('small-packed', 'train'), Digits('train', size=5))
    same_images(HuggingFaceImages('small-packed', 'test'), Digits('test'))
    # what was packed can be packed
    (tmp_path / 'again.py').write_text(
        "train_dataloader = dict(dataset=dict(type='HuggingFaceImages', path='small-packed', split='train'))\n"
    )
    assert pack(tmp_path / 'again.py') == 0
    same_images(HuggingFaceImages('again-packed', 'train'), Digits('train', size=5))


def test_short_edge(folder, tmp_path):
    assert pack('folder', '--root', folder, '--out', tmp_path / 'out', '--short-edge', 32, '--quality', 90) == 0
    source, packed = ImageFolder(str(folder), 'train'), HuggingFaceImages(str(tmp_path / 'out'))
    assert packed.labels.tolist() == source.labels.tolist()
    for index in range(len(source)):
        stored, file = packed.read_bytes(index)[0], Path(source.path(index)).read_bytes()
        original = Image.open(io.BytesIO(file)).convert('RGB')
        if min(original.size) <= 32:
            assert stored == file
            continue
        smaller, reference = resize(original, 32, antialias=True), io.BytesIO()
        smaller.save(reference, 'JPEG', quality=90)
        expected, got = np.array(Image.open(reference)).astype(int), packed.decode(index)
        assert got.shape == expected.shape
        assert np.abs(got - expected).mean() < 0.5
        assert np.abs(got - np.array(smaller).astype(int)).mean() < 5
    assert {min(packed.decode(index).shape[:2]) for index in range(20)} == {20, 32}
    assert check(tmp_path / 'out') == 0


def test_the_turn_of_a_camera_stays_ignored(tmp_path):
    """A JPEG that is resized loses the note that it should be turned, which nobody here looks at."""
    exif = Image.Exif()
    exif[0x0112] = 6
    (tmp_path / 'mine' / 'train' / 'a').mkdir(parents=True)
    Image.fromarray(photograph(0, (80, 40))).save(tmp_path / 'mine' / 'train' / 'a' / '0.jpg', exif=exif)
    for out, options in (('whole', ()), ('small', ('--short-edge', 20))):
        assert pack('folder', '--root', tmp_path / 'mine', '--out', tmp_path / out, *options) == 0
    assert HuggingFaceImages(str(tmp_path / 'whole')).decode(0).shape == (40, 80, 3)
    assert HuggingFaceImages(str(tmp_path / 'small')).decode(0).shape == (20, 40, 3)


def test_names_that_are_no_text(tmp_path):
    folder = tmp_path / 'mine' / 'train' / 'a'
    folder.mkdir(parents=True)
    (folder / os.fsdecode(b'caf\xe9.jpg')).write_bytes(jpeg(7))
    assert pack('folder', '--root', tmp_path / 'mine', '--out', tmp_path / 'out') == 0
    assert HuggingFaceImages(str(tmp_path / 'out')).file_name(0) == 'a/caf\ufffd.jpg'


def test_large_images_are_written_in_smaller_pieces(folder, tmp_path, monkeypatch):
    """Arrow's columns of bytes end at 2 GB."""
    assert pack('folder', '--root', folder, '--out', tmp_path / 'one') == 0
    monkeypatch.setattr(pack_encoding, 'LARGEST', 3000)
    assert pack('folder', '--root', folder, '--out', tmp_path / 'many') == 0
    one, many = (HuggingFaceImages(str(tmp_path / name)) for name in ('one', 'many'))
    assert one._images._rows.num_chunks == 1 < many._images._rows.num_chunks
    same_images(many, one)


# ---- what is refused ----


@pytest.mark.parametrize(
    ('arguments', 'code', 'reason'),
    [
        (('digits', '--quality', '90'), 2, '--short-edge too'),
        (('digits', '--short-edge', '0'), 2, '1 or more, got 0'),
        (('digits', '--short-edge', '9', '--quality', '101'), 2, '--quality must be 1 to 100'),
        (('digits', '--split', 'val'), 2, '--split val: expected train or test'),
        (('digits', '--root', 'x'), 2, '--root has no meaning'),
        (('digits', '--list', 'x'), 2, '--list and --classes are for pack list'),
        (('folder',), 2, 'expected --root DIR'),
        (('list', '--root', 'x'), 2, 'expected --list FILE'),
        (('folder', '--root', 'nowhere'), 3, 'has no folder train or val or test'),
        (('cifar10',), 3, 'has no CIFAR-10 as it is prepared'),
        (('cifar11',), 2, 'did you mean cifar10'),
        (('nowhere.py',), 2, 'there is no config'),
    ],
)
def test_wrong_questions(tmp_path, monkeypatch, capsys, arguments, code, reason):
    monkeypatch.setenv('OPENMIX_DM_DATA', str(tmp_path))
    assert pack(*arguments) == code
    assert reason in capsys.readouterr().err
    assert not any(tmp_path.glob('*-packed'))


def test_a_folder_of_something_else_is_left_alone(folder, tmp_path, capsys):
    before = tree(folder)
    assert pack('folder', '--root', folder, '--out', folder) == 3
    assert 'holds other files' in capsys.readouterr().err
    assert tree(folder) == before
    assert pack('folder', '--root', folder, '--out', tmp_path / 'out') == 0
    assert pack('folder', '--root', folder, '--out', tmp_path / 'out', '--short-edge', 9) == 3
    assert 'short_edge None, quality None, now short_edge 9, quality 95' in capsys.readouterr().err
    (folder / 'train' / 'a' / '00.jpg').rename(folder / 'train' / 'a' / '000.jpg')
    assert pack('folder', '--root', folder, '--out', tmp_path / 'out') == 3
    assert 'source_sha256' in capsys.readouterr().err


def test_a_damaged_image_is_named(folder, tmp_path, capsys):
    (folder / 'train' / 'a' / '03.jpg').write_bytes(jpeg(1)[:-30])
    assert pack('folder', '--root', folder, '--out', tmp_path / 'small', '--short-edge', 32) == 3
    assert 'a/03.jpg cannot be decoded' in capsys.readouterr().err
    assert pack('folder', '--root', folder, '--out', tmp_path / 'whole') == 0  # files as they are
    with pytest.raises(DataError, match=r'whole \(train\), row 1 \(a/03\.jpg\) cannot be decoded'):
        HuggingFaceImages(str(tmp_path / 'whole'))[1]
    assert check(tmp_path / 'whole', '--quick') == 0
    assert check(tmp_path / 'whole') == 3
    assert 'row 1 (a/03.jpg) cannot be decoded' in capsys.readouterr().out


def test_a_full_disk_is_foreseen(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(shutil, 'disk_usage', lambda _: shutil._ntuple_diskusage(10**6, 10**6, 5000))
    assert pack('folder', '--root', folder, '--out', tmp_path / 'out') == 7
    assert 'too little space' in capsys.readouterr().err


def test_two_at_a_time_are_refused(folder, tmp_path):
    data = ImageFolder(str(folder), 'train')
    with module._alone(tmp_path / 'out' / 'train'), pytest.raises(ResourceError, match='another process'):
        module.pack_split(data, 'train', tmp_path / 'out', pack_encoding.Packing())


# ---- interrupted, damaged ----


class PowerCut(BaseException):
    pass


@pytest.mark.parametrize('step', ['encode', 'write_atomically', 'sha256_of', 'sync_folder', 'features_of'])
def test_it_goes_on_after_a_cut_anywhere(folder, tmp_path, monkeypatch, step):
    """Cut at the n-th call, then at the n-th of what was left, until nothing is."""
    arguments = ('folder', '--root', folder, '--shard-images', 6)
    monkeypatch.setattr(pack_encoding, 'SAMPLED', 1)
    assert pack(*arguments, '--out', tmp_path / 'whole') == 0
    where = pack_encoding if step == 'encode' else module
    original, left = getattr(where, step), [0]

    def cut(*arguments, **options):
        left[0] -= 1
        if left[0] < 0:
            raise PowerCut
        return original(*arguments, **options)

    monkeypatch.setattr(where, step, cut)
    for calls in range(100):
        left[0] = calls
        try:
            assert pack(*arguments, '--out', tmp_path / 'cut') == 0
            break
        except PowerCut:
            (tmp_path / 'cut' / 'train' / 'data-00009.arrow.tmp').write_bytes(b'a part')  # kill -9 leaves one
    assert calls > 1
    assert tree(tmp_path / 'cut') == tree(tmp_path / 'whole')


def test_what_is_there_is_not_written_again(folder, tmp_path, monkeypatch, capsys):
    arguments = ('folder', '--root', folder, '--out', tmp_path / 'out', '--shard-images', 6)
    assert pack(*arguments) == 0
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / 'out').rglob('*.arrow')}
    capsys.readouterr()
    assert pack(*arguments) == 0
    assert '(was packed before)' in capsys.readouterr().out
    (tmp_path / 'out' / 'train' / 'data-00001-of-00004.arrow').unlink()
    assert pack(*arguments) == 0
    assert '(1 of 4 files written now)' in capsys.readouterr().out
    changed = [path.name for path, when in before.items() if path.stat().st_mtime_ns != when]
    assert changed == ['data-00001-of-00004.arrow']


def test_an_unfinished_split_is_no_data_set(folder, tmp_path, capsys):
    arguments = ('folder', '--root', folder, '--out', tmp_path / 'out', '--shard-images', 6)
    assert pack(*arguments) == 0
    (tmp_path / 'out' / 'val' / 'state.json').unlink()
    (tmp_path / 'out' / 'dataset_dict.json').write_text('{"splits": ["train"]}')
    with pytest.raises(DataError, match=r'out/val is not packed to its end; run the same'):
        HuggingFaceImages(str(tmp_path / 'out'), 'val')
    assert check(tmp_path / 'out') == 3
    assert 'out/val is not packed to its end' in capsys.readouterr().out
    (tmp_path / 'out' / 'dataset_dict.json').unlink()
    with pytest.raises(DataError, match='not packed to its end'):
        HuggingFaceImages(str(tmp_path / 'out'), 'train')


@pytest.mark.parametrize('damage', ['bit', 'cut', 'gone', 'rows'])
def test_damage_is_found_and_repaired(folder, tmp_path, capsys, damage):
    arguments = ('folder', '--root', folder, '--out', tmp_path / 'out', '--shard-images', 10)
    assert pack(*arguments) == 0
    before, path = tree(tmp_path / 'out'), tmp_path / 'out' / 'train' / 'data-00001-of-00002.arrow'
    content = bytearray(path.read_bytes())
    if damage == 'bit':
        content[len(content) // 2] ^= 1
    elif damage == 'cut':
        del content[len(content) // 2 :]
    elif damage == 'rows':  # a whole file with fewer rows
        content = bytearray((tmp_path / 'out' / 'val' / 'data-00000-of-00001.arrow').read_bytes())
    path.write_bytes(content)
    if damage == 'gone':
        path.unlink()
    if damage == 'rows':
        with pytest.raises(DataError, match='has 16 images with other labels than the 20 that were packed'):
            HuggingFaceImages(str(tmp_path / 'out'))
    assert check(tmp_path / 'out', '--quick') == 3
    said = capsys.readouterr()
    assert f'wrong: {path} is {"missing" if damage == "gone" else "damaged"}' in said.out
    assert 'delete damaged files, then run the same ' in said.err
    path.unlink(missing_ok=True)
    assert pack(*arguments) == 0
    assert tree(tmp_path / 'out') == before
    assert check(tmp_path / 'out') == 0


def test_a_damaged_record(folder, tmp_path, capsys):
    assert pack('folder', '--root', folder, '--out', tmp_path / 'out') == 0
    for content in ('{', '{"shards": 3}', '{"shards": {"data.arrow": {}}}'):
        (tmp_path / 'out' / 'val' / 'pack.json').write_text(content)
        assert check(tmp_path / 'out') == 3
        assert 'wrong: val: ' in capsys.readouterr().out
        assert pack('folder', '--root', folder, '--out', tmp_path / 'out') == 3
        assert 'pack.json cannot be read' in capsys.readouterr().err


@pytest.mark.slow
def test_kill_9_loses_nothing(tmp_path):
    for k in range(1500):
        path = tmp_path / 'mine' / 'train' / 'ab'[k % 2] / f'{k}.jpg'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(jpeg(k % 250, (60 + k % 7, 80)))
    command = (sys.executable, 'tools/prepare_data.py', 'pack', 'folder', '--root', str(tmp_path / 'mine'))
    options = ('--shard-images', '10', '--short-edge', '40')
    out, done = tmp_path / 'out', 0
    for kills in range(4):
        process = start(*command, *options, '--out', str(out))
        while process.poll() is None and len(list(out.glob('train/*.arrow'))) < done + 7 + 13 * kills:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL, 'it has to be killed in the middle'
        kept = len(list(out.glob('train/*.arrow')))
        assert kept > done
        done = kept
    for folder in (out, tmp_path / 'whole'):
        process = start(*command, *options, '--out', str(folder))
        said = process.communicate(timeout=120)[0]
        assert process.returncode == 0
    assert '(150 of 150 files written now)' in said
    assert tree(out) == tree(Path(tmp_path / 'whole'))
