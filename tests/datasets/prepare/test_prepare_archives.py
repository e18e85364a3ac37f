"""Unpacking: nothing leaves the target, nothing half-written is left, failures say what to do."""

import errno
import hashlib
import io
import re
import tarfile
import zipfile
from pathlib import Path

import pytest

from openmix_dm.datasets.prepare import archives
from openmix_dm.datasets.prepare.imagenet import refuse_others
from openmix_dm.errors import DataError, ResourceError


def make_tar(path: Path, *members: tuple[str, bytes]) -> Path:
    with tarfile.open(path, 'w') as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def unpack_all(path: Path, target: Path) -> int:
    with archives.open_tree(path) as tree:
        refuse_others(tree, r'[a-z]+\.txt')
        return archives.unpack([(tree, {name: target / name for name in tree.sizes})], target, 1, 'unpacking')[0]


def test_files_are_unpacked_and_folders_are_passed_over(tmp_path):
    path = make_tar(tmp_path / 'a.tar', ('./a.txt', b'one'), ('b.txt', b'two'))
    with tarfile.open(path, 'a') as tar:
        folder = tarfile.TarInfo('folder')
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
    assert unpack_all(path, tmp_path / 'out') == 2
    assert {file.name: file.read_bytes() for file in (tmp_path / 'out').iterdir()} == {'a.txt': b'one', 'b.txt': b'two'}


@pytest.mark.parametrize('name', ['../x.txt', '/abs.txt', 'a/../../x.txt', 'sub/x.txt', 'A.TXT', 'a.txt\n', 'x\\a.txt'])
def test_a_name_that_is_not_expected_refuses_the_whole_archive(tmp_path, name):
    path = make_tar(tmp_path / 'a.tar', ('a.txt', b'one'), (name, b'two'))
    with pytest.raises(DataError, match=re.escape(repr(name))):
        unpack_all(path, tmp_path / 'out')
    assert [file.name for file in tmp_path.iterdir()] == ['a.tar']


@pytest.mark.parametrize(
    'kind', [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.CONTTYPE]
)
def test_links_and_devices_are_refused(tmp_path, kind):
    path = tmp_path / 'a.tar'
    with tarfile.open(path, 'w') as tar:
        info = tarfile.TarInfo('a.txt')
        info.type, info.linkname = kind, '/etc/passwd'
        tar.addfile(info)
    with pytest.raises(DataError, match='link or a device'):
        unpack_all(path, tmp_path / 'out')
    assert not (tmp_path / 'out').exists()


@pytest.mark.fault(
    38,
    'A zip of a megabyte with a file of two gigabytes, given to prepare_data.py: refused by what its header promises.',
)
def test_a_file_that_would_fill_the_memory_is_not_read(tmp_path):
    path, size = tmp_path / 'bomb.zip', 1 << 31
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as archive:
        archive.writestr('a.txt', bytes(1 << 20))
    content = path.read_bytes().replace((1 << 20).to_bytes(4, 'little'), size.to_bytes(4, 'little'))
    path.write_bytes(content)
    with (
        archives.open_tree(path) as tree,
        pytest.raises(DataError, match=r'would unpack to 2,147,483,648 bytes'),
    ):
        tree.read('a.txt')


def test_an_archive_that_is_cut_short_is_refused_before_anything_is_written(tmp_path):
    path = make_tar(tmp_path / 'a.tar', ('a.txt', b'one'), ('b.txt', bytes(5000)))
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(DataError, match='cut short'):
        unpack_all(path, tmp_path / 'out')
    assert not (tmp_path / 'out').exists()


def test_files_of_the_right_size_are_kept_and_others_replaced(tmp_path):
    path = make_tar(tmp_path / 'a.tar', ('a.txt', b'one'), ('b.txt', b'two'))
    out = tmp_path / 'out'
    out.mkdir()
    (out / 'a.txt').write_bytes(b'ONE')
    (out / 'b.txt').write_bytes(b't')
    (out / 'b.txt.tmp').write_bytes(b'tw')
    assert unpack_all(path, out) == 1
    assert {file.name: file.read_bytes() for file in out.iterdir()} == {'a.txt': b'ONE', 'b.txt': b'two'}


@pytest.mark.parametrize('stop', [OSError(errno.ENOSPC, 'No space left on device'), KeyboardInterrupt()])
def test_a_write_that_stops_leaves_nothing(tmp_path, monkeypatch, stop):
    def fail(path: Path, target: Path) -> None:
        raise stop

    monkeypatch.setattr(Path, 'replace', fail)
    expected = ResourceError if isinstance(stop, OSError) else KeyboardInterrupt
    with pytest.raises(expected, match='run the same command again' if isinstance(stop, OSError) else None):
        archives.write_file(tmp_path / 'out' / 'a.txt', b'one')
    assert list((tmp_path / 'out').iterdir()) == []


def test_too_small_a_disk_is_found_before_the_work(tmp_path, monkeypatch):
    usage = archives.shutil.disk_usage(tmp_path)
    monkeypatch.setattr(archives.shutil, 'disk_usage', lambda _: usage._replace(free=2_000_000_000))
    archives.check_target(tmp_path / 'out', 2_000_000_000)
    with pytest.raises(ResourceError, match=r'expected 3\.0 GB free, got 2\.0 GB'):
        archives.check_target(tmp_path / 'out', 3_000_000_000)
    (tmp_path / 'out' / 'a.txt').write_bytes(bytes(1000))
    archives.check_target(tmp_path / 'out', 2_000_001_000)  # what is there already needs no room


def test_hashes(tmp_path):
    path = tmp_path / 'a.tar'
    path.write_bytes(b'content')
    right = hashlib.md5(b'content').hexdigest()
    archives.verify_hash(path, right, 'train.tar')
    archives.verify_hash(path, hashlib.sha512(b'content').hexdigest(), 'train.tar')
    with pytest.raises(DataError, match=f'expected md5 {"0" * 32}, got {right}'):
        archives.verify_hash(path, '0' * 32, 'train.tar')
