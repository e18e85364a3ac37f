import importlib.util
import sys

import cv2
import numpy as np
import pytest
from PIL import Image

from openmix_dm.datasets import ImageFolder, image_files
from openmix_dm.datasets.decode import DECODERS, check_decoder, read_image
from openmix_dm.errors import ConfigError, DataError

decoders = pytest.mark.parametrize(
    'decoder',
    [
        pytest.param(name, marks=pytest.mark.skipif(importlib.util.find_spec(name) is None, reason=f'needs {name}'))
        for name in DECODERS
    ],
)


def photograph(height=45, width=60):
    """Smooth colours, which JPEG keeps well."""
    y, x = np.mgrid[:height, :width]
    return np.stack([4 * x, 5 * y, 255 - 2 * (x + y)], axis=2).clip(0, 255).astype(np.uint8)


@decoders
@pytest.mark.parametrize('mode', ['RGB', 'L', 'CMYK'])
@pytest.mark.parametrize('subsampling', [0, 2])
def test_pixels_are_pillows(tmp_path, decoder, mode, subsampling):
    path = tmp_path / 'a.jpg'
    Image.fromarray(photograph()).convert(mode).save(path, quality=90, subsampling=subsampling)
    expected = np.array(Image.open(path).convert('RGB')).astype(int)
    image = read_image(path, decoder)
    assert (image.shape, image.dtype) == ((45, 60, 3), np.uint8)
    assert np.abs(image - expected).max() <= (2 if mode == 'CMYK' else 1)


@decoders
def test_a_camera_held_upright_changes_nothing(tmp_path, decoder):
    path = tmp_path / 'a.jpg'
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees to look at
    Image.fromarray(photograph()).save(path, exif=exif)
    assert read_image(path, decoder).shape == (45, 60, 3)


@decoders
def test_other_formats_are_read_whatever_their_name(tmp_path, decoder):
    path = tmp_path / 'a.JPEG'
    Image.fromarray(photograph()).save(path, format='PNG')
    assert np.array_equal(read_image(path, decoder), photograph())


@decoders
@pytest.mark.parametrize('content', [b'', b'<html>not found</html>', b'\xff\xd8\xff\xe0broken', 'cut off'])
def test_undecodable_files_are_named(tmp_path, decoder, content):
    path = tmp_path / 'bad.jpg'
    if content == 'cut off':
        cv2.imwrite(str(path), np.random.default_rng(0).integers(0, 256, (80, 80, 3), dtype=np.uint8))
        content = path.read_bytes()[:2000]
    path.write_bytes(content)
    with pytest.raises(DataError, match=r'bad\.jpg cannot be decoded'):
        read_image(path, decoder)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r'gone\.jpg cannot be read: No such file'):
        read_image(tmp_path / 'gone.jpg')


def test_data_sets_decode_by_what_they_are_told(tmp_path, monkeypatch):
    (tmp_path / 'val' / 'a').mkdir(parents=True)
    cv2.imwrite(str(tmp_path / 'val' / 'a' / '0.jpg'), photograph())
    asked = []
    monkeypatch.setattr(image_files, 'check_decoder', lambda name: name)
    monkeypatch.setattr(image_files, 'decode_image', lambda _, label, decoder: asked.append(decoder) or photograph())
    for options in ({}, {'decoder': 'simplejpeg'}):
        assert ImageFolder(str(tmp_path), 'val', **options)[0]['inputs'].shape == (3, 45, 60)
    assert asked == ['cv2', 'simplejpeg']


def test_a_decoder_that_is_not_there_is_refused(monkeypatch):
    with pytest.raises(ValueError, match='decoder must be one of'):
        check_decoder('pillow')
    monkeypatch.setitem(sys.modules, 'simplejpeg', None)
    monkeypatch.setattr(importlib.util, 'find_spec', lambda name: None)
    with pytest.raises(ConfigError, match='pip install simplejpeg'):
        check_decoder('simplejpeg')
    assert check_decoder('cv2') == 'cv2'
