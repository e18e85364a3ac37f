"""tools/prepare_data.py imagenet with what it must refuse: one line, an exit code, nothing written."""

import errno
import io
import tarfile
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from openmix_dm.commands.prepare_data import main

VAL = {'ILSVRC2012_val_00000001.JPEG': b'one', 'ILSVRC2012_val_00000003.JPEG': b'three'}
DATA = 'ILSVRC2012_devkit_t12/data'


def tar_bytes(files: dict[str, bytes], mode: str = 'w') -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def meta_mat(synset: str = 'n01440764') -> bytes:
    buffer = io.BytesIO()
    table = np.array([[(3.0, synset)], [(1001.0, 'n00001740')]], dtype=[('ILSVRC2012_ID', object), ('WNID', object)])
    savemat(buffer, {'synsets': table})
    return buffer.getvalue()


@pytest.fixture
def root_dir(tmp_path: Path) -> Path:
    return tmp_path / 'imagenet'


@pytest.fixture
def val(tmp_path: Path) -> Path:
    path = tmp_path / 'ILSVRC2012_img_val.tar'
    path.write_bytes(tar_bytes(VAL))
    return path


def run(root: Path, archive: Path, *more: str) -> int:
    return main(['imagenet', '--root', str(root), '--archive', str(archive), '--no-verify', *more])


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob('*') if file.is_file()}


@pytest.mark.parametrize('name', ['../x.JPEG', '{outside}/abs.JPEG', 'n01440764_1.PNG'])
def test_a_bad_member_in_an_inner_archive_is_refused(tmp_path, tmp_path_factory, root_dir, capsys, name):
    outside = tmp_path_factory.mktemp('outside')  # an absolute path
    name = name.format(outside=outside)
    inner = tar_bytes({'n01440764_0.JPEG': b'good', name: b'bad'})
    path = tmp_path / 'bad.tar'
    path.write_bytes(tar_bytes({'n01440764.tar': inner}))
    assert run(root_dir, path) == 3
    assert f'{path}:n01440764.tar holds {name!r}' in capsys.readouterr().err
    assert files_below(tmp_path).keys() == {'bad.tar'}
    assert not list(outside.iterdir())


def test_wrong_archives_are_named(tmp_path, root_dir, val, capsys):
    other, empty, devkit = tmp_path / 'other.tar', tmp_path / 'empty.tar', tmp_path / 'devkit.tar.gz'
    devkit.write_bytes(tar_bytes({f'{DATA}/meta.mat': b''}, 'w:gz'))
    other.write_bytes(tar_bytes({'cifar-10/data_batch_1': b'x'}))
    empty.write_bytes(tar_bytes({}))
    for archive, said in (
        (tmp_path / 'missing.tar', 'no such file'),
        (tmp_path, 'a folder'),
        (devkit, "got one of 'ILSVRC2012_devkit_t12/data/meta.mat'"),
        (other, "got one of 'cifar-10/data_batch_1'"),
        (empty, "got one of 'no files'"),
        (val, 'expected --devkit ILSVRC2012_devkit_t12.tar.gz'),
    ):
        assert run(root_dir, archive) == 3
        error = capsys.readouterr().err
        assert said in error
        assert error.count('\n') == 1
        assert str(archive) in error
    assert not root_dir.exists()


@pytest.mark.parametrize(
    ('truth', 'meta', 'said'),
    [
        (b'3\n3\n', meta_mat(), 'has no label: expected a number from 1 to 2'),
        (b'3\n1001\n', meta_mat(), 'must hold IDs of meta.mat, got 1001'),
        (b'3\nx\n', meta_mat(), 'must hold IDs of meta.mat'),
        (b'3\n', meta_mat('../../up'), 'must be like n01440764'),
        (b'3\n', b'no mat file', "meta.mat has no variable 'synsets' with ILSVRC2012_ID, WNID"),
        (b'3\n', None, 'has no ILSVRC2012_devkit_t12/data/meta.mat'),
    ],
)
def test_a_damaged_devkit_is_refused(tmp_path, root_dir, val, capsys, truth, meta, said):
    files = {f'{DATA}/ILSVRC2012_validation_ground_truth.txt': truth} | ({f'{DATA}/meta.mat': meta} if meta else {})
    devkit = tmp_path / 'devkit.tar.gz'
    devkit.write_bytes(tar_bytes(files, 'w:gz'))
    assert run(root_dir, val, '--devkit', str(devkit)) == 3
    error = capsys.readouterr().err
    assert said in error
    assert error.count('\n') == 1
    assert files_below(root_dir) == {}


def test_a_devkit_that_is_no_archive(tmp_path, root_dir, val, capsys):
    (tmp_path / 'devkit.tar.gz').write_bytes(b'a page that asks to log in')
    assert run(root_dir, val, '--devkit', str(tmp_path / 'devkit.tar.gz')) == 3
    assert 'cannot be read: expected ILSVRC2012_devkit_t12.tar.gz' in capsys.readouterr().err


def test_a_full_disk(tmp_path, root_dir, monkeypatch, capsys):
    def no_space(path: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, 'No space left on device')

    archive = tmp_path / 'train.tar'
    archive.write_bytes(tar_bytes({'n01440764.tar': tar_bytes({'n01440764_0.JPEG': b'one'})}))
    monkeypatch.setattr(Path, 'replace', no_space)
    assert run(root_dir, archive) == 7
    assert 'no space left to write' in capsys.readouterr().err


def test_a_root_that_cannot_be_written(tmp_path, capsys):
    train = tmp_path / 'train.tar'
    train.write_bytes(tar_bytes({'n01440764.tar': tar_bytes({})}))
    (tmp_path / 'file').write_bytes(b'')
    assert run(tmp_path / 'file' / 'imagenet', train) == 7
    assert 'give a --root that you may write to' in capsys.readouterr().err


def test_without_an_archive_the_way_to_it_is_told(root_dir, capsys):
    assert main(['imagenet', '--root', str(root_dir)]) == 3
    said = capsys.readouterr().out
    for part in ('image-net.org', 'ILSVRC2012_img_train.tar (138 GB)', 'ILSVRC2012_img_val.tar (6.3 GB)', '--devkit'):
        assert part in said
