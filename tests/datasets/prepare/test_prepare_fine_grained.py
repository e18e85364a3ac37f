"""tools/prepare_data.py cub200, aircraft and cars, on tiny copies of the published archives."""

import shutil

import pytest
from support import archive_layouts as layouts

from openmix_dm.commands.prepare_data import main
from openmix_dm.datasets import CUB200, Aircraft, Cars
from openmix_dm.datasets.prepare.data_set import PUBLISHED
from openmix_dm.errors import DataError

FILES = {'cub200': layouts.cub200, 'aircraft': layouts.aircraft, 'cars': layouts.cars, 'cars-joint': layouts.cars_joint}
FACTS = {**PUBLISHED, 'cars-joint': PUBLISHED['cars']}
CLASSES = {'cub200': CUB200, 'aircraft': Aircraft, 'cars': Cars, 'cars-joint': Cars}
COUNTS = {'cub200': (6, 6), 'aircraft': (9, 3), 'cars': (6, 3), 'cars-joint': (6, 3)}
NAMES = {'cub200': layouts.BIRDS, 'aircraft': layouts.VARIANTS, 'cars': layouts.MODELS, 'cars-joint': layouts.MODELS}


def prepare(name, root, *more):
    return main([name.split('-')[0], '--root', str(root), '--no-verify', *map(str, more)])


def archives(name, folder):
    """The files of a data set in the archives in which they are published."""
    files = FILES[name]()
    if not name.startswith('cars'):
        return [layouts.tar(folder / 'all.tgz', files)]
    parts = {}
    for path, content in files.items():
        top = path.split('/')[0]
        parts.setdefault(f'{top}.tgz' if '/' in path else top, {})[path] = content
    return [
        layouts.tar(folder / part, content) if part.endswith('.tgz') else layouts.folder(folder, content) / part
        for part, content in parts.items()
    ]


@pytest.mark.parametrize('name', FILES)
@pytest.mark.parametrize('how', ['archives', 'folder'])
def test_the_loader_serves_the_published_split(tmp_path, name, how, monkeypatch, capsys):
    monkeypatch.setenv('OPENMIX_DM_DATA', str(tmp_path))
    default = tmp_path / name.split('-')[0]
    if how == 'archives':
        downloads = tmp_path / 'downloaded'
        downloads.mkdir()
        assert prepare(name, default, '--archive', *archives(name, downloads)) == 0
    else:
        layouts.folder(default, FILES[name]())
        assert prepare(name, default) == 0
    for split, count in zip(('train', 'test'), COUNTS[name], strict=True):
        data = CLASSES[name](split=split)
        assert len(data) == count
        assert data.classes == list(NAMES[name])
        for index in range(count):
            sample = data[index]
            assert abs(sample['inputs'].float().mean().item() - 60 * int(sample['labels'])) < 3
        assert sorted(set(data.labels.tolist())) == [0, 1, 2]
    monkeypatch.setitem(FACTS[name], 'classes', 3)
    monkeypatch.setitem(FACTS[name], 'counts', dict(zip(('train', 'test'), COUNTS[name], strict=True)))
    assert main(['check', name.split('-')[0]]) == 0
    assert 'is complete, each image can be decoded' in capsys.readouterr().out


def test_only_what_is_needed_is_unpacked_and_nothing_twice(tmp_path, capsys):
    archive = layouts.tar(tmp_path / 'a.tgz', layouts.cub200())
    assert prepare('cub200', tmp_path / 'cub', '--archive', archive) == 0
    assert '(17 files written)' in capsys.readouterr().out
    files = layouts.below(tmp_path / 'cub')
    assert not {'attributes.txt', 'CUB_200_2011/parts/part_locs.txt'} & files
    assert {'train.txt', 'test.txt', 'classes.txt'} < files
    image = tmp_path / 'cub' / 'CUB_200_2011' / 'images' / layouts.BIRDS[0] / 'bird_0001.jpg'
    image.write_bytes(b'cut')
    assert prepare('cub200', tmp_path / 'cub', '--archive', archive) == 0
    assert '(1 files written)' in capsys.readouterr().out
    assert image.read_bytes() == layouts.jpeg(0)


@pytest.mark.parametrize('name', ['cub200', 'aircraft', 'cars'])
def test_sums_and_counts_are_those_of_the_published_set(tmp_path, name, capsys):
    layouts.folder(tmp_path / name, FILES[name]())
    assert main([name, '--root', str(tmp_path / name)]) == 3
    said = capsys.readouterr().err
    expected = {
        'cub200': '200 classes and 5,994',
        'aircraft': '100 classes and 6,667',
        'cars': '196 classes and 8,144',
    }
    assert f'train: expected {expected[name]} images, got 3 and {COUNTS[name][0]}' in said
    assert not (tmp_path / name / 'train.txt').exists()
    archive = layouts.tar(tmp_path / 'cars_train.tgz', FILES[name]())
    assert main([name, '--root', str(tmp_path / 'other'), '--archive', str(archive)]) == 3
    assert 'expected md5' in capsys.readouterr().err
    assert not (tmp_path / 'other').exists()


CUB, DATA = 'CUB_200_2011', 'fgvc-aircraft-2013b/data'
OTHER_VARIANT = "val.txt, line 4: expected the number of an image and a variant of variants.txt, got '1000004 Boeing"
NO_NAMES = layouts.mat(annotations=layouts.table([{'a': 1}]))
TWO_LABELS = layouts.mat(annotations=layouts.table([{'fname': '00001.jpg', 'class': [1, 2]}]))


@pytest.mark.parametrize(
    ('name', 'file', 'content', 'said'),
    [
        ('cub200', f'{CUB}/image_class_labels.txt', b'1 1\n', 'list different images'),
        ('cub200', f'{CUB}/images.txt', b'one two\n', "images.txt, line 1: expected a number and a path, got"),
        ('cub200', f'{CUB}/image_class_labels.txt', b'1 a\n', "labels.txt, line 1: expected two numbers, got '1 a'"),
        ('cub200', f'{CUB}/train_test_split.txt', b'7\n', 'train_test_split.txt, line 1: expected'),
        ('cub200', f'{CUB}/classes.txt', b'1 001.Black_footed_Albatross\n', 'labels out of range (0 to 0): CUB_200'),
        ('cub200', f'{CUB}/images/{layouts.BIRDS[1]}/bird_0005.jpg', None, f'train: missing files: {CUB}/images/002'),
        ('cub200', f'{CUB}/images.txt', None, 'has no CUB_200_2011/images.txt; expected the published layout'),
        ('aircraft', f'{DATA}/variants.txt', b'707-320\n', OTHER_VARIANT),
        ('aircraft', f'{DATA}/images_variant_test.txt', b'x y\n', 'images_variant_test.txt, line 1: expected the'),
        ('aircraft', f'{DATA}/images/1000003.jpg', None, f'missing files: {DATA}/images/1000003'),
        ('cars', 'devkit/cars_meta.mat', b'no mat', "cars_meta.mat has no variable 'class_names'"),
        ('cars', 'devkit/cars_train_annos.mat', layouts.mat(other=1), "has no variable 'annotations'"),
        ('cars', 'devkit/cars_train_annos.mat', NO_NAMES, 'no field of name fname'),
        ('cars', 'devkit/cars_train_annos.mat', None, 'has no devkit/cars_train_annos.mat'),
        ('cars', 'devkit/cars_train_annos.mat', TWO_LABELS, "annotations' with fname, class (ValueError"),
        ('cars', 'cars_train/00002.jpg', None, 'train: missing files: cars_train/00002.jpg'),
    ],
)  # fmt: skip
def test_a_damaged_layout_is_refused_by_name(tmp_path, capsys, name, file, content, said):
    files = {**FILES[name](), file: content}
    layouts.folder(tmp_path / name, {path: value for path, value in files.items() if value is not None})
    assert prepare(name, tmp_path / name) == 3
    assert said in capsys.readouterr().err
    assert not (tmp_path / name / 'train.txt').exists()


def test_cars_without_labels_say_which_are_missing(tmp_path, capsys):
    downloads = tmp_path / 'downloaded'
    downloads.mkdir()
    given = [archive for archive in archives('cars', downloads) if archive.suffix == '.tgz']
    assert prepare('cars', tmp_path / 'cars', '--archive', *given) == 3
    assert 'neither cars_test_annos_withlabels.mat nor cars_annos.mat; give one of them' in capsys.readouterr().err
    labels = downloads / 'cars_test_annos_withlabels.mat'
    assert prepare('cars', tmp_path / 'cars', '--archive', labels) == 0  # the archives were unpacked before
    assert '(1 files written)' in capsys.readouterr().out


def test_cars_that_are_nowhere_say_what_is_needed(tmp_path, capsys):
    assert prepare('cars', tmp_path / 'cars') == 3
    assert (
        '--archive cars_train.tgz cars_test.tgz car_devkit.tgz cars_test_annos_withlabels.mat'
        in capsys.readouterr().out
    )


@pytest.mark.parametrize('name', ['cub200', 'aircraft', 'cars'])
def test_what_is_not_prepared_names_folder_and_command(tmp_path, name):
    with pytest.raises(DataError, match=rf'\bdata {name} --root {tmp_path}/x'):
        CLASSES[name](str(tmp_path / 'x'))


def test_check_lists_what_is_wrong(tmp_path, monkeypatch, capsys):
    root = layouts.folder(tmp_path / 'cub200', layouts.cub200())
    assert prepare('cub200', root) == 0
    monkeypatch.setitem(PUBLISHED['cub200'], 'classes', 3)
    monkeypatch.setitem(PUBLISHED['cub200'], 'counts', {'train': 6, 'test': 7})
    images = root / 'CUB_200_2011' / 'images'
    (images / layouts.BIRDS[0] / 'bird_0001.jpg').write_bytes(layouts.jpeg(9)[:-20])
    (images / layouts.BIRDS[0] / 'bird_0002.jpg').write_bytes(b'')
    shutil.rmtree(images / layouts.BIRDS[2])
    (root / 'train.txt').write_text((root / 'train.txt').read_text().replace(' 2\n', ' 1\n'))
    capsys.readouterr()
    assert main(['check', 'cub200', '--root', str(root)]) == 3
    said = capsys.readouterr().out
    for part in (
        'wrong: train: missing files: CUB_200_2011/images/003.Sooty_Albatross/bird_0009.jpg',
        'wrong: train: classes with a wrong number of images: 003.Sooty_Albatross (0)',
        'wrong: test: expected 3 classes and 7 images, got 3 and 6',
        'bird_0001.jpg cannot be decoded as an image',
        'bird_0002.jpg cannot be decoded as an image (0 bytes)',
    ):
        assert part in said
    (root / 'train.txt').write_text((root / 'train.txt').read_text().replace(' 1\n', ' 7\n'))
    assert main(['check', 'cub200', '--root', str(root)]) == 3
    assert 'train.txt, line 3: label 7 is out of range, expected 0 to 2' in capsys.readouterr().out
    with pytest.raises(DataError, match=r'train\.txt, line 3: label 7 is out of range, expected 0 to 2'):
        CUB200(str(root), 'train')
    (root / 'classes.txt').unlink()
    assert main(['check', 'cub200', '--root', str(root)]) == 3
    assert '(classes.txt is missing); to make it, run' in capsys.readouterr().out
