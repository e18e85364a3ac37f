"""Files that cannot be decoded: named, or passed over up to a limit; and the decoders."""

import cv2
import numpy as np
import pytest
import torch
from support.archive_layouts import jpeg

from openmix_dm.datasets import ImageFolder, SampleIndex
from openmix_dm.datasets.reading.decode import read_image
from openmix_dm.engine.loader import collate
from openmix_dm.errors import DataError

BROKEN = {
    'truncated': jpeg(90)[:-40],
    'empty': b'',
    'page': b'<!DOCTYPE html><html>not found</html>',
    'header': b'\xff\xd8\xff\xe0broken',
}
SKIP = {'on_error': 'skip', 'skip_limit': 2}


@pytest.fixture
def root_dir(tmp_path):
    """Six images of two classes, 20 grey levels apart."""
    for k in range(6):
        path = tmp_path / 'data' / 'train' / 'ab'[k // 3] / f'{k}.jpg'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(jpeg(20 * k))
    return tmp_path / 'data'


def spoil(root, *numbers, content=b''):
    for k in numbers:
        (root / 'train' / 'ab'[k // 3] / f'{k}.jpg').write_bytes(content)


def shades(data):
    return [round(data[SampleIndex(k, 7)]['inputs'].float().mean().item() / 20) for k in range(len(data))]


@pytest.mark.parametrize('kind', BROKEN)
def test_a_broken_file_is_named(root_dir, kind):
    spoil(root_dir, 4, content=BROKEN[kind])
    data = ImageFolder(str(root_dir), 'train')
    with pytest.raises(DataError, match=r'b/4\.jpg cannot be decoded as an image'):
        data[SampleIndex(4, 7)]


def test_a_file_that_went_away_is_named(root_dir):
    data = ImageFolder(str(root_dir), 'train')
    (root_dir / 'train' / 'a' / '1.jpg').unlink()
    with pytest.raises(DataError, match=r'a/1\.jpg cannot be read: No such file'):
        data[1]


def test_skipping_takes_the_next_good_image_with_its_label(root_dir, capfd):
    spoil(root_dir, 2, 5)
    data = ImageFolder(str(root_dir), 'train', **SKIP)
    assert shades(data) == shades(data) == [0, 1, 3, 3, 4, 0]
    assert int(data[SampleIndex(2, 7)]['labels']) == 1
    said = capfd.readouterr().err
    assert said.count('skipped') == 2  # once each, however often they are asked for
    assert '(2 of at most 2)' in said


def test_more_than_the_limit_stops(root_dir):
    spoil(root_dir, 0, 1, 2)
    data = ImageFolder(str(root_dir), 'train', **SKIP)
    with pytest.raises(DataError, match=r'a/2\.jpg .* number 3, more than skip_limit=2'):
        data[SampleIndex(0, 7)]


def test_an_evaluation_never_skips(root_dir):
    spoil(root_dir, 2)
    with pytest.raises(DataError, match=r'a/2\.jpg'):
        ImageFolder(str(root_dir), 'train', **SKIP)[2]


def test_workers_count_together(root_dir):
    spoil(root_dir, 1, 3, 5)
    data = ImageFolder(str(root_dir), 'train', on_error='skip', skip_limit=2)
    batches = [[SampleIndex(k, 7)] for k in range(6)]
    loader = torch.utils.data.DataLoader(data, batch_sampler=batches, num_workers=2, collate_fn=collate)
    with pytest.raises(DataError, match='number 3, more than skip_limit=2'):
        list(loader)


def test_simplejpeg_sees_rot_inside_a_jpeg(tmp_path):
    pytest.importorskip('simplejpeg')
    picture = np.random.default_rng(0).integers(0, 256, (60, 80, 3), dtype=np.uint8)
    encoded = bytearray(cv2.imencode('.jpg', picture)[1].tobytes())
    middle = len(encoded) // 2
    encoded[middle : middle + 400] = bytes(400)
    (tmp_path / 'a.jpg').write_bytes(encoded)
    with pytest.raises(DataError, match=r'a\.jpg cannot be decoded'):
        read_image(tmp_path / 'a.jpg', 'simplejpeg')


def test_bad_settings_are_refused(root_dir):
    for wrong in ({'imdecode_backend': 'pil'}, {'on_error': 'ignore'}, {'skip_limit': -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            ImageFolder(str(root_dir), 'train', **wrong)


def test_a_class_folder_that_only_another_split_has_is_named(root_dir):
    (root_dir / 'val' / 'a').mkdir(parents=True)
    (root_dir / 'val' / 'a' / 'x.jpg').write_bytes(jpeg(0))
    with pytest.raises(DataError, match=r'data/val/b is missing'):
        ImageFolder(str(root_dir), 'val')
    (root_dir / 'val' / 'b').mkdir()
    assert ImageFolder(str(root_dir), 'val').num_classes == 2


def test_images_of_different_sizes_without_a_resize_are_named(tmp_path):
    for number, size in enumerate(((20, 30), (20, 31))):
        (tmp_path / 'train' / f'c{number}').mkdir(parents=True)
        cv2.imwrite(str(tmp_path / 'train' / f'c{number}' / '0.png'), np.zeros((*size, 3), dtype=np.uint8))
    with pytest.raises(DataError, match=r'c0/0\.png \(30 x 20 pixels\) and .*c1/0\.png \(31 x 20 pixels\); end the'):
        ImageFolder(str(tmp_path), 'train').__getitems__([0, 1])
    small = [{'type': 'Resize', 'size': 8}]
    assert ImageFolder(str(tmp_path), 'train', small).__getitems__([0, 1])['inputs'].shape == (2, 3, 8, 8)
