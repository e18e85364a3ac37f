"""tools/prepare_data.py imagenet, on small archives in the layout of the official ones."""

import hashlib
import io
import shutil
import tarfile
from pathlib import Path

import cv2
import numpy as np
import pytest
from scipy.io import savemat

from openmix_dm.commands.prepare_data import main
from openmix_dm.datasets import ImageNet
from openmix_dm.datasets.prepare.data_set import PUBLISHED
from openmix_dm.datasets.prepare.imagenet import DEVKIT, TRAIN

# As in meta.mat: the order of the IDs is not that of the names, and inner nodes follow after 1000.
SYNSETS = {1: 'n02119789', 2: 'n02100735', 3: 'n01440764', 1001: 'n00001740'}
TRUTH = [3, 1, 2, 2, 3, 1]
TRAIN_IMAGES = 2  # of each class


def jpeg(shade: int) -> bytes:
    return cv2.imencode('.jpg', np.full((8, 12, 3), shade, np.uint8))[1].tobytes()


def tar_bytes(files: dict[str, bytes], mode: str = 'w') -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def meta_mat() -> bytes:
    fields = [
        'ILSVRC2012_ID',
        'WNID',
        'words',
        'gloss',
        'num_children',
        'children',
        'wordnet_height',
        'num_train_images',
    ]
    table = np.zeros((len(SYNSETS), 1), dtype=[(field, object) for field in fields])
    for row, (number, synset) in enumerate(SYNSETS.items()):
        inner = number > 1000
        children = np.array([1.0, 2.0, 3.0]) if inner else np.zeros(0)
        table[row, 0] = (float(number), synset, 'a word', 'a gloss', 3.0 * inner, children, 1.0 * inner, 2.0)
    buffer = io.BytesIO()
    savemat(buffer, {'synsets': table}, do_compression=True)
    return buffer.getvalue()


def shade(synset: str, number: int) -> int:
    return 60 * sorted(SYNSETS.values()).index(synset) + 5 * number


@pytest.fixture
def train(tmp_path: Path) -> Path:
    leaves = [synset for number, synset in SYNSETS.items() if number <= 1000]
    inner = {
        f'{synset}.tar': tar_bytes({f'{synset}_{k}.JPEG': jpeg(shade(synset, k)) for k in range(TRAIN_IMAGES)})
        for synset in leaves
    }
    path = tmp_path / 'ILSVRC2012_img_train.tar'
    path.write_bytes(tar_bytes(inner))
    return path


@pytest.fixture
def val(tmp_path: Path) -> Path:
    images = {f'ILSVRC2012_val_{k:08d}.JPEG': jpeg(shade(SYNSETS[TRUTH[k - 1]], 0)) for k in range(1, len(TRUTH) + 1)}
    path = tmp_path / 'ILSVRC2012_img_val.tar'
    path.write_bytes(tar_bytes(images))
    return path


@pytest.fixture
def devkit(tmp_path: Path) -> Path:
    truth = '\n'.join(str(number) for number in TRUTH) + '\n'
    data = 'ILSVRC2012_devkit_t12/data'
    files = {f'{data}/ILSVRC2012_validation_ground_truth.txt': truth.encode(), f'{data}/meta.mat': meta_mat()}
    path = tmp_path / 'ILSVRC2012_devkit_t12.tar.gz'
    path.write_bytes(tar_bytes(files, 'w:gz'))
    return path


@pytest.fixture
def root_dir(tmp_path: Path) -> Path:
    return tmp_path / 'imagenet'


def run(root: Path, archive: Path, *more: str, verify: bool = False) -> int:
    return main(
        ['imagenet', '--root', str(root), '--archive', str(archive), *more, *([] if verify else ['--no-verify'])]
    )


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob('*') if file.is_file()}


def test_the_loader_reads_what_was_prepared_with_the_right_labels(root_dir, train, val, devkit):
    assert run(root_dir, train) == 0
    assert run(root_dir, val, '--devkit', str(devkit)) == 0
    order = sorted(synset for number, synset in SYNSETS.items() if number <= 1000)
    for split, images in (('train', 6), ('val', 6)):
        data = ImageNet(str(root_dir), split)
        assert (data.classes, len(data)) == (order, images)
        for index in range(len(data)):
            sample = data[index]
            grey = sample['inputs'].float().mean().item()
            assert abs(grey - shade(order[int(sample['labels'])], 0)) <= 5 * TRAIN_IMAGES
    number = [int(path.decode()[-13:-5]) for path in data.paths]
    assert [order[label] for label in data.labels] == [SYNSETS[TRUTH[n - 1]] for n in number]


def test_train_files_are_those_of_the_archive(root_dir, train, capsys):
    assert run(root_dir, train) == 0
    assert files_below(root_dir) == {
        f'train/{synset}/{synset}_{k}.JPEG': jpeg(shade(synset, k))
        for number, synset in SYNSETS.items()
        for k in range(TRAIN_IMAGES)
        if number <= 1000
    }
    assert '6 images' in (said := capsys.readouterr().out)
    assert 'the official archive has 1,281,167' in said


def test_a_second_run_repairs_what_an_interruption_left(root_dir, train, capsys):
    run(root_dir, train)
    whole = files_below(root_dir)
    folder = root_dir / 'train' / 'n01440764'
    kept = (folder.parent / 'n02119789' / 'n02119789_0.JPEG').stat()
    (folder / 'n01440764_0.JPEG').rename(folder / 'n01440764_0.JPEG.tmp')
    (folder / 'n01440764_0.JPEG.tmp').write_bytes(b'half')
    (folder / 'n01440764_1.JPEG').write_bytes(b'cut')
    capsys.readouterr()
    assert run(root_dir, train) == 0
    assert '2 written, 4 already there' in capsys.readouterr().out
    assert files_below(root_dir) == whole
    assert (folder.parent / 'n02119789' / 'n02119789_0.JPEG').stat().st_mtime_ns == kept.st_mtime_ns


def test_the_bar_reaches_its_end_although_headers_are_not_counted(root_dir, train, monkeypatch, capsys):
    monkeypatch.setattr('sys.stderr.isatty', lambda: True)
    assert run(root_dir, train) == 0
    assert 'unpacking train' in (shown := capsys.readouterr().err)
    assert '100%' in shown


def test_a_link_in_the_outer_archive_is_refused(root_dir, val, devkit, capsys):
    with tarfile.open(val, 'a') as tar:
        link = tarfile.TarInfo('ILSVRC2012_val_00000007.JPEG')
        link.type, link.linkname = tarfile.SYMTYPE, '/etc/passwd'
        tar.addfile(link)
    assert run(root_dir, val, '--devkit', str(devkit)) == 3
    assert 'link or a device' in capsys.readouterr().err
    assert files_below(root_dir) == {}


def test_sums_are_verified_by_default(root_dir, train, val, devkit, capsys):
    for archive, more, expected in (
        (train, [], PUBLISHED['imagenet']['hashes'][TRAIN]),
        (val, ['--devkit', str(devkit)], PUBLISHED['imagenet']['hashes'][DEVKIT]),
    ):
        assert run(root_dir, archive, *more, verify=True) == 3
        assert f'expected md5 {expected}, got ' in capsys.readouterr().err
    assert files_below(root_dir) == {}


def test_too_small_a_disk_is_found_before_many_minutes_of_hashing(root_dir, train, monkeypatch, capsys):
    usage = shutil.disk_usage(train.parent)
    monkeypatch.setattr(shutil, 'disk_usage', lambda _: usage._replace(free=train.stat().st_size - 1))
    monkeypatch.setattr('openmix_dm.datasets.prepare.data_set.verify_hash', lambda *_: pytest.fail('it was hashed'))
    assert run(root_dir, train, verify=True) == 7
    assert f'the disk of {root_dir} has too little space' in capsys.readouterr().err
    assert not root_dir.exists()


def test_a_renamed_archive_must_be_one_of_the_official_ones(tmp_path, root_dir, train, monkeypatch, capsys):
    renamed = train.rename(tmp_path / 'imagenet.tar')
    assert run(root_dir, renamed, verify=True) == 3
    hashes = PUBLISHED['imagenet']['hashes']
    assert f'{hashes[DEVKIT]} or {hashes[TRAIN]} or ' in capsys.readouterr().err
    assert not root_dir.exists()
    digest = hashlib.md5(renamed.read_bytes()).hexdigest()
    monkeypatch.setitem(PUBLISHED['imagenet'], 'hashes', {**hashes, TRAIN: digest})
    assert run(root_dir, renamed, verify=True) == 0
