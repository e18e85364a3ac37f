"""tools/prepare_data.py check folder and check list: data sets of a user's own."""

import pytest
from support import archive_layouts as layouts

from openmix_dm.commands.prepare_data import main
from openmix_dm.datasets import ImageFolder


@pytest.fixture
def folder(tmp_path):
    names = [f'{split}/{name}/{k}.jpg' for split in ('train', 'val') for name in 'ab' for k in range(2)]
    return layouts.folder(tmp_path / 'mine', {name: layouts.jpeg(9) for name in names})


def check(*arguments):
    return main(['check', *map(str, arguments)])


def test_a_good_folder(folder, capsys, monkeypatch):
    assert check('folder', '--root', folder) == 0
    said = capsys.readouterr().out
    assert 'train: 2 classes, 4 images' in said
    assert 'is complete, each image can be decoded' in said
    monkeypatch.setenv('OPENMIX_DM_DATA', str(folder.parent))
    assert check('folder', '--root', 'mine', '--quick') == 0


def test_a_bad_folder(folder, capsys):
    (folder / 'train' / 'a' / '0.jpg').write_bytes(layouts.jpeg(9)[:-30])
    (folder / 'train' / 'a' / '1.jpg').write_bytes(b'')
    (folder / 'train' / 'c').mkdir()
    (folder / 'val' / 'b' / 'notes.txt').write_text('x')
    assert check('folder', '--root', folder) == 3
    said = capsys.readouterr().out
    for part in (
        'wrong: val: missing class folders: c',
        'wrong: train: classes without images: c',
        'note: val: skipped 1 .txt: b/notes.txt (',
        'a/0.jpg cannot be decoded as an image',
        'a/1.jpg cannot be decoded as an image (0 bytes)',
    ):
        assert part in said
    assert check('folder', '--root', folder / 'train') == 3
    assert 'has no folder train, val or test' in capsys.readouterr().out


def test_what_loaders_skip_is_counted_by_type(folder, capsys):
    """None of it is wrong, and all that is left can be trained on."""
    more = [
        'train/a/1.gif',
        'train/a/2.GIF',
        'train/b/3.tiff',
        'train/b/.DS_Store',
        'train/a/deep/4.jpg',
        'train/5.jpg',
    ]
    layouts.folder(folder, {name: layouts.jpeg(9) for name in more})
    assert check('folder', '--root', folder) == 0
    said = capsys.readouterr().out
    listed = 'train/5.jpg, a/1.gif, a/2.GIF, a/deep, b/.DS_Store, b/3.tiff'
    assert f'note: train: skipped 2 .gif, 1 .jpg, 1 folder, 1 without ending, 1 .tiff: {listed} (read is' in said
    assert '(read is <class>/*.jpg, *.jpeg, *.png' in said
    assert 'note: val' not in said
    assert len(ImageFolder(str(folder), 'train')) == 4
    layouts.folder(folder, {f'val/a/{k}.avif': b'' for k in range(20)})
    assert check('folder', '--root', folder, '--quick') == 0
    assert 'note: val: skipped 20 .avif: a/0.avif, ' in (said := capsys.readouterr().out)
    assert ' and 10 more (' in said


def test_one_class_only_and_classes_without_images_are_said(tmp_path, capsys):
    folder = layouts.folder(tmp_path / 'mine', {'train/images/0.jpg': layouts.jpeg(9)})
    assert check('folder', '--root', folder) == 0
    assert 'note: train: one class only (images)' in capsys.readouterr().out
    layouts.folder(folder, {'train/gifs/0.gif': b'GIF89a'})
    assert check('folder', '--root', folder) == 3
    said = capsys.readouterr().out
    assert 'wrong: train: classes without images: gifs' in said
    assert 'note: train: skipped 1 .gif: gifs/0.gif' in said
    assert 'one class only' not in said


def test_lists(folder, capsys):
    (folder / 'good.txt').write_text('train/a/0.jpg 0\ntrain/b/1.jpg 1\n')
    assert check('list', '--root', folder, '--list', 'good.txt') == 0
    assert 'good.txt: 2 classes, 2 images' in capsys.readouterr().out
    (folder / 'train' / 'b' / '1.jpg').write_text('<html>')
    (folder / 'bad.txt').write_text('train/b/1.jpg 0\ntrain/a/9.jpg 2\ntrain/b/1.jpg 0\n')
    assert check('list', '--root', folder, '--list', 'bad.txt', '--classes', 3) == 3
    said = capsys.readouterr().out
    for part in (
        'bad.txt: classes without images: 1',
        'bad.txt: images that are listed more than once: train/b/1.jpg',
        'bad.txt: missing files: train/a/9.jpg',
        'b/1.jpg cannot be decoded as an image',
    ):
        assert part in said
    assert check('list', '--root', folder, '--list', 'bad.txt', '--classes', 2) == 3
    assert 'bad.txt, line 2: label 2 is out of range, expected 0 to 1' in capsys.readouterr().out
    assert check('list', '--root', folder) == 3
    assert 'expected --list FILE' in capsys.readouterr().err
