"""Archives that lead out of the target, hold links or are damaged: refused by name before anything is written."""

import stat
import tarfile
import zipfile

import numpy as np
import pytest
from support import archive_layouts as layouts

from openmix_dm.commands.prepare_data import main
from openmix_dm.datasets.prepare.archives import open_tree
from openmix_dm.errors import DataError

FILES = {
    'cifar10': layouts.cifar10,
    'cifar100': layouts.cifar100,
    'tiny-imagenet': layouts.tiny_imagenet,
    'cub200': layouts.cub200,
    'aircraft': layouts.aircraft,
    'cars': layouts.cars,
}
BAD_NAMES = ['../x.jpg', '/abs/x.jpg', 'a/../../x.jpg', 'a\\..\\x.jpg', 'C:/x.jpg']


@pytest.mark.parametrize('name', FILES)
@pytest.mark.parametrize(('kind', 'bad'), [('tar', '../x.jpg'), *(('zip', name) for name in BAD_NAMES)])
def test_a_name_that_leads_out_refuses_the_whole_archive(tmp_path, capsys, name, kind, bad):
    make = layouts.tar if kind == 'tar' else layouts.zipped
    work = tmp_path / 'work'
    work.mkdir()
    archive = make(work / 'a.archive', {**FILES[name](), bad: b'x'})
    refused(name, work, archive, capsys, f'a.archive holds {bad!r}, which leads out of the target folder')
    assert layouts.below(tmp_path) == {'work/a.archive'}


@pytest.mark.parametrize('name', FILES)
@pytest.mark.parametrize('kind', [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_a_link_in_a_tar_refuses_it(tmp_path, capsys, name, kind):
    archive = layouts.tar(tmp_path / 'a.tar', FILES[name](), 'w')
    with tarfile.open(archive, 'a') as tar:
        link = tarfile.TarInfo('cars_train/00009.jpg')
        link.type, link.linkname = kind, '/etc/passwd'
        tar.addfile(link)
    refused(name, tmp_path, archive, capsys, "holds 'cars_train/00009.jpg', expected plain files, got a link")


def test_a_link_in_a_zip_refuses_it(tmp_path, capsys):
    archive = layouts.zipped(tmp_path / 'a.zip', layouts.tiny_imagenet())
    with zipfile.ZipFile(archive, 'a') as more:
        link = zipfile.ZipInfo('tiny-imagenet-200/link')
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        more.writestr(link, '/etc/passwd')
    refused('tiny-imagenet', tmp_path, archive, capsys, "holds 'tiny-imagenet-200/link', expected plain files")


def test_an_encrypted_file_in_a_zip_refuses_it_before_any_is_read(tmp_path, capsys):
    archive = layouts.zipped(tmp_path / 'a.zip', layouts.tiny_imagenet())
    content = bytearray(archive.read_bytes())
    content[content.rindex(b'PK\1\2') + 8] |= 1  # the flags of the last file, which nothing asks for
    archive.write_bytes(content)
    said = (
        "holds 'tiny-imagenet-200/test/images/test_0.JPEG', expected plain files, got a link or a device, or it is enc"
    )
    refused('tiny-imagenet', tmp_path, archive, capsys, said)


def refused(name, folder, archive, capsys, said):
    assert main([name, '--root', str(folder / 'root'), '--no-verify', '--archive', str(archive)]) == 3
    assert said in capsys.readouterr().err
    assert not (folder / 'root').exists()


@pytest.mark.parametrize('name', FILES)
def test_what_is_no_archive_or_another_one_is_refused(tmp_path, capsys, name):
    page = tmp_path / 'page.tgz'
    page.write_text('<html>please log in</html>')
    refused(name, tmp_path, page, capsys, f'{page} cannot be read')
    refused(
        name, tmp_path, layouts.tar(tmp_path / 'other.tgz', {'a/b.txt': b''}), capsys, 'expected the published layout'
    )
    refused(name, tmp_path, tmp_path / 'missing.tgz', capsys, 'no such file')


@pytest.mark.parametrize('kind', ['tar', 'zip'])
def test_an_archive_that_is_cut_short_is_refused(tmp_path, kind):
    files = {'a.txt': bytes(range(256)) * 400, 'b.txt': b'end'}
    path = (layouts.tar if kind == 'tar' else layouts.zipped)(tmp_path / 'a', files)
    path.write_bytes(path.read_bytes()[:-600])
    with pytest.raises(DataError, match='cannot be read'), open_tree(path) as tree:
        assert [tree.read(name) for name in ('a.txt', 'b.txt')]


@pytest.mark.parametrize('mode', ['w:gz', 'w:xz', 'w:bz2'])
def test_an_archive_that_is_damaged_inside_is_refused(tmp_path, mode):
    files = {f'{k}.txt': np.random.default_rng(k).bytes(100_000) for k in range(20)}
    path = layouts.tar(tmp_path / 'a', files, mode)
    content = bytearray(path.read_bytes())
    content[1_000_000:1_000_050] = bytes(50)
    path.write_bytes(content)
    with pytest.raises(DataError, match='cannot be read'), open_tree(path) as tree:
        assert [tree.read(name) for name in files]


@pytest.mark.parametrize('kind', ['tar', 'zip', 'folder'])
def test_trees_are_alike(tmp_path, kind):
    files = {'b/one.txt': b'1\n2\n\n', 'a.txt': b'two'}
    path = {'tar': layouts.tar, 'zip': layouts.zipped, 'folder': layouts.folder}[kind](tmp_path / 'x', files)
    with open_tree(path) as tree:
        assert tree.sizes == {'a.txt': 3, 'b/one.txt': 5}
        assert {name: tree.read(name) for name in tree.sizes} == files
        assert tree.lines('b/one.txt') == ['1', '2']
        with pytest.raises(DataError, match=r'has no c\.txt'):
            tree.read('c.txt')
