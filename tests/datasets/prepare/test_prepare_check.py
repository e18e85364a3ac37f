"""tools/prepare_data.py check imagenet."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from openmix_dm.commands.prepare_data import main
from openmix_dm.datasets.prepare.data_set import PUBLISHED

SYNSETS = ('n01440764', 'n02100735', 'n02119789')


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch) -> Path:
    image = np.zeros((8, 8, 3), np.uint8)
    for number, synset in enumerate(SYNSETS * 2):
        for path in (
            f'train/{synset}/{synset}_{number // 3}.JPEG',
            f'val/{synset}/ILSVRC2012_val_{number + 1:08d}.JPEG',
        ):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(cv2.imencode('.jpg', image)[1].tobytes())
    monkeypatch.setitem(PUBLISHED['imagenet'], 'classes', 3)
    monkeypatch.setitem(PUBLISHED['imagenet'], 'counts', {'train': 6, 'val': 6})
    return tmp_path


def check(root: Path, *more: str) -> int:
    return main(['check', 'imagenet', '--root', str(root), *more])


def test_check_of_a_complete_set(prepared, capsys):
    capsys.readouterr()
    assert check(prepared, '--quick') == 0
    assert capsys.readouterr().out.splitlines()[-1] == f'ImageNet-1k in {prepared} is complete'
    assert check(prepared) == 0
    assert 'each image can be decoded' in capsys.readouterr().out


def test_check_lists_what_is_wrong(prepared, capsys):
    folder = prepared / 'val' / 'n01440764'
    image = folder / 'ILSVRC2012_val_00000001.JPEG'
    image.rename(folder / f'.{image.name}.part')
    (prepared / 'train' / 'extra').mkdir()
    (prepared / 'train' / 'n02119789' / 'n02119789_0.JPEG').write_bytes(b'no image')
    capsys.readouterr()
    assert check(prepared) == 3
    said = capsys.readouterr()
    for part in (
        'wrong: train: expected 3 classes and 6 images, got 4 and 6',
        'wrong: train: folders that are no synsets: extra',
        'wrong: train: classes with a wrong number of images: extra (0)',
        'wrong: train: classes without images: extra',
        'wrong: val: missing class folders: extra',
        'wrong: val: expected 3 classes and 6 images, got 3 and 5',
        'wrong: val: classes with a wrong number of images: n01440764 (1)',
        'note: val: skipped 1 .part: n01440764/.ILSVRC2012_val_00000001.JPEG.part (',
        'n02119789_0.JPEG cannot be decoded as an image (8 bytes)',
    ):
        assert part in said.out
    assert 'is not complete: 8 wrong' in said.err.splitlines()[-1]


def test_check_of_nothing(tmp_path, capsys):
    assert check(tmp_path / 'missing') == 3
    assert 'expected 1,000 classes and 1,281,167 images, got 0 and 0' in capsys.readouterr().out
