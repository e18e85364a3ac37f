"""Labelled images: how many of each class, from which file, and what is refused."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT
from support import archive_layouts as layouts

from openmix_dm.commands.prepare_data import main
from openmix_dm.datasets import CUB200, Digits
from openmix_dm.datasets.prepare.data_set import PUBLISHED
from openmix_dm.datasets.splits import labelled_indices
from openmix_dm.datasets.splits.draw import draw
from openmix_dm.datasets.splits.labelled import SEEDS, STANDARD
from openmix_dm.datasets.splits.split_files import PACKAGE, SplitName, encode, labels_hash, read
from openmix_dm.errors import ConfigError, DataError
from openmix_dm.utils.sealed import read_sealed

LABELS = np.random.default_rng(0).permutation(np.repeat(np.arange(10), 30))  # 30 of each class


@pytest.fixture(autouse=True)
def _no_data(tmp_path, monkeypatch):
    monkeypatch.setenv('OPENMIX_DM_DATA', str(tmp_path))


def per_class(labels, indices):
    return np.bincount(labels[indices], minlength=labels.max() + 1).tolist()


@pytest.mark.parametrize('count', [10, 40, 250, 300])
def test_a_count_is_divided_equally(count):
    indices = labelled_indices('mine', LABELS, count=count)
    assert per_class(LABELS, indices) == [count // 10] * 10
    assert np.array_equal(indices, np.unique(indices))  # sorted, none twice


@pytest.mark.parametrize(('fraction', 'share'), [(0.15, 4), (0.3, 9), (0.5, 15), (1.0, 30), (0.001, 1)])
def test_a_fraction_is_taken_of_each_class(fraction, share):
    assert per_class(LABELS, labelled_indices('mine', LABELS, fraction=fraction)) == [share] * 10


def test_the_rounding_is_that_of_each_class():
    labels = np.repeat([0, 1, 2, 3], [29, 30, 60, 41])  # as in CUB, where 0.15 * 30 = 4.5 goes to the even 4
    assert per_class(labels, labelled_indices('mine', labels, fraction=0.15)) == [4, 4, 9, 6]


def test_a_random_fraction_is_of_all_images():
    indices = labelled_indices('mine', LABELS, fraction=0.15, balanced=False)
    assert len(indices) == 45
    assert len(set(per_class(LABELS, indices))) > 1
    assert len(labelled_indices('mine', LABELS, count=33, balanced=False)) == 33


def test_seeds_are_trials_and_fractions_are_nested():
    first, second = (labelled_indices('mine', LABELS, fraction=0.3, seed=seed) for seed in (0, 1))
    assert not np.array_equal(first, second)
    small, large = (labelled_indices('mine', LABELS, fraction=fraction) for fraction in (0.15, 0.5))
    assert set(small) < set(first) < set(large)
    few, more = (labelled_indices('mine', LABELS, count=count) for count in (40, 200))
    assert not set(few) < set(more)


def test_every_image_is_drawn_about_as_often():
    times = np.zeros(300)
    for seed in range(400):
        times[draw(LABELS, 30, None, seed, balanced=True)] += 1
    assert abs(times.mean() - 40) < 1e-9
    assert np.abs(times - 40).max() < 5 * 6  # the deviation of one is 6


def test_a_draw_stays_what_it_is():
    """Golden numbers: a new version of numpy must not move the labels of a run that goes on."""
    assert draw(np.arange(20) % 2, 6, None, 0, balanced=True).tolist() == [8, 10, 13, 17, 18, 19]


@pytest.mark.parametrize(
    ('options', 'said'),
    [
        ({'count': 45}, '45 labels cannot be divided equally over 10 classes'),
        ({'count': 310}, 'expected 1 to 300, the images that there are, got 310'),
        ({'count': 0}, 'expected 1 to 300'),
        ({}, 'expected either count or fraction'),
        ({'count': 10, 'fraction': 0.5}, 'expected either count or fraction'),
        ({'fraction': 1.5}, 'fraction must be in'),
        ({'fraction': 0.0}, 'fraction must be in'),
    ],
)
def test_impossible_splits_are_refused(options, said):
    with pytest.raises((ConfigError, ValueError), match=re.escape(said)):
        labelled_indices('mine', LABELS, **options)


def test_more_labels_than_a_class_has_are_refused():
    labels = np.repeat([0, 1, 2], [50, 3, 50])
    with pytest.raises(ConfigError, match='5 labelled images of class 1 are asked for, but it has 3'):
        labelled_indices('mine', labels, count=15)


# ---- files ----


@pytest.mark.parametrize('path', sorted(PACKAGE.glob('*.json')), ids=lambda path: path.name)
def test_the_files_of_the_package_are_balanced(path):
    fields = json.loads(path.read_text())
    assert len(fields['indices']) == fields['count']
    assert fields['indices'] == sorted(set(fields['indices']))
    assert fields['indices'][-1] < (50_000 if fields['dataset'] == 'cifar10' else 1437)
    assert path.name == f'{fields["dataset"]}_{fields["count"]}_s{fields["seed"]}.json'


def test_the_package_has_the_splits_of_known_labels():
    names = {
        f'{name}_{options["count"]}_s{seed}.json'
        for name in ('digits', 'cifar10')
        for options in STANDARD[name]
        for seed in SEEDS
    }
    assert {path.name for path in PACKAGE.glob('*.json')} == names


@pytest.mark.parametrize('seed', SEEDS)
def test_a_file_of_the_package_is_what_is_served(seed, monkeypatch):
    labels = Digits('train').labels
    stored = json.loads((PACKAGE / f'digits_40_s{seed}.json').read_text())
    assert stored['labels_sha256'] == labels_hash(labels.numpy())
    assert per_class(labels.numpy(), stored['indices']) == [4] * 10
    assert draw(labels.numpy(), 40, None, seed, balanced=True).tolist() == stored['indices']
    monkeypatch.setattr('openmix_dm.datasets.splits.labelled.draw', lambda *_, **__: np.arange(3))
    assert labelled_indices('digits', labels, count=40, seed=seed).tolist() == stored['indices']
    assert labelled_indices('digits', labels[:-1], count=40, seed=seed).tolist() == [
        0,
        1,
        2,
    ]  # other labels, other draw


@pytest.fixture
def birds(tmp_path, monkeypatch):
    """A tiny CUB whose numbers are taken for the official ones."""
    monkeypatch.setitem(PUBLISHED['cub200'], 'classes', 3)
    monkeypatch.setitem(PUBLISHED['cub200'], 'counts', {'train': 6, 'test': 6})
    return layouts.folder(tmp_path / 'cub200', layouts.cub200())


def test_splits_are_stored_beside_a_data_set_and_verified(birds):
    assert main(['cub200', '--root', str(birds)]) == 0
    assert len(list((birds / 'splits').iterdir())) == 9
    data = CUB200()
    path = birds / 'splits' / 'cub200_50pct_s1.json'
    fields = json.loads(path.read_text())
    assert labelled_indices('cub200', data.labels, fraction=0.5, seed=1).tolist() == fields['indices']
    del fields['sha256']  # as one writes it by hand
    path.write_text(json.dumps({**fields, 'indices': [0, 5]}))  # what is stored is what counts
    for place in ({}, {'folder': birds}):
        assert labelled_indices('cub200', data.labels, fraction=0.5, seed=1, **place).tolist() == [0, 5]
    other = data.labels[::-1]
    assert labelled_indices('cub200', other, fraction=0.5, seed=1).tolist() != [0, 5]
    with pytest.raises(DataError, match=r'cub200_50pct_s1\.json was drawn for other labels'):
        labelled_indices('cub200', other, fraction=0.5, seed=1, folder=birds)
    for wrong in ([0, 0], [0, 6], [-1], 'x', None):
        path.write_text(json.dumps({**fields, 'indices': wrong}))
        with pytest.raises(DataError, match=r'cub200_50pct_s1\.json'):
            labelled_indices('cub200', data.labels, fraction=0.5, seed=1)


def test_published_lists_are_taken_where_they_are(birds, capsys):
    (birds / 'train_15.txt').write_text(
        f'images/{layouts.BIRDS[2]}/bird_0011.jpg 2\nimages/{layouts.BIRDS[0]}/bird_0001.jpg 0\n'
    )
    assert main(['cub200', '--root', str(birds)]) == 0
    assert 'labelled images from train_15.txt' in capsys.readouterr().out
    for seed in SEEDS:
        assert labelled_indices('cub200', CUB200().labels, fraction=0.15, seed=seed).tolist() == [0, 5]
    (birds / 'train_15.txt').write_text('images/bird_0002.jpg 0\n')  # a test image
    assert main(['cub200', '--root', str(birds)]) == 3
    assert 'train_15.txt lists bird_0002.jpg, which is no training image' in capsys.readouterr().err


@pytest.mark.slow
def test_the_files_are_installed(tmp_path):
    command = (
        sys.executable,
        'setup.py',
        '-q',
        'build',
        '--build-base',
        str(tmp_path),
        '--build-lib',
        str(tmp_path / 'lib'),
    )
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    built = tmp_path / 'lib' / PACKAGE.relative_to(ROOT)
    assert {path.name for path in built.glob('*.json')} == {path.name for path in PACKAGE.glob('*.json')}


@pytest.mark.fault(
    48,
    'Each single bit of a file of labelled images is flipped in turn: the same images, or refused.',
)
def test_a_split_carries_a_hash_of_itself(tmp_path, capsys):
    folder = tmp_path / 'mine'
    name = SplitName('mine', 40, None, 0, balanced=True)
    path = folder / 'splits' / name.file
    path.parent.mkdir(parents=True)
    chosen = np.sort(draw(LABELS, 40, None, 7, True))
    path.write_bytes(encode(name, LABELS, chosen, 'by hand'))
    assert np.array_equal(labelled_indices('mine', LABELS, count=40, folder=folder), chosen)
    assert capsys.readouterr().err == ''
    whole = path.read_bytes()
    for place in range(len(whole) * 8):
        content = bytearray(whole)
        content[place // 8] ^= 1 << place % 8
        path.write_bytes(content)
        try:
            found = read(path, LABELS)
        except DataError:
            continue
        assert found is not None
        assert np.array_equal(found, chosen)  # white space, or the name of the hash
    fields = json.loads(whole)
    del fields['sha256']
    path.write_text(json.dumps(fields))
    assert np.array_equal(labelled_indices('mine', LABELS, count=40, folder=folder), chosen)
    assert 'carries no hash' in capsys.readouterr().err


@pytest.mark.parametrize('path', sorted(PACKAGE.glob('*.json')), ids=lambda path: path.stem)
def test_the_splits_of_the_package_carry_their_hashes(path):
    read_sealed(path, sealed=True)
