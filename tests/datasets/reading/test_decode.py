import importlib.util
import struct

import cv2
import mmcv
import numpy as np
import pytest
from PIL import Image
from support.archive_layouts import promising_png

from openmix_dm.datasets import ImageFolder, image_files
from openmix_dm.datasets.reading import decode
from openmix_dm.datasets.reading.decode import BACKENDS, check_backend, decode_image, jpeg_size, read_image
from openmix_dm.errors import ConfigError, DataError


def usable(name):
    try:
        return bool(check_backend(name))
    except ConfigError:
        return False


decoders = pytest.mark.parametrize(
    'decoder',
    [
        pytest.param(name, marks=pytest.mark.skipif(not usable(name), reason=f'needs the package of {name}'))
        for name in BACKENDS
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
    monkeypatch.setattr(image_files, 'check_backend', lambda name: name)
    monkeypatch.setattr(image_files, 'decode_image', lambda content, label, *how: asked.append(how) or photograph())
    for options in ({}, {'imdecode_backend': 'pillow', 'max_pixels': 9}):
        assert ImageFolder(str(tmp_path), 'val', **options)[0]['inputs'].shape == (3, 45, 60)
    assert asked == [('cv2', 178_956_970), ('pillow', 9)]


def test_a_decoder_that_is_not_there_is_refused(monkeypatch):
    with pytest.raises(ValueError, match='imdecode_backend must be one of'):
        check_backend('libjpeg')
    monkeypatch.setattr(importlib.util, 'find_spec', lambda name: None)
    with pytest.raises(ConfigError, match='pip install simplejpeg'):
        check_backend('simplejpeg')
    with pytest.raises(ConfigError, match='pip install PyTurboJPEG'):
        check_backend('turbojpeg')
    assert check_backend('cv2') == 'cv2'


def test_a_library_that_is_not_there_is_named(monkeypatch):
    def absent(name):
        raise RuntimeError('Unable to locate turbojpeg library\nmore')

    decode.load_turbojpeg.cache_clear()
    monkeypatch.setattr(importlib.util, 'find_spec', lambda name: True)
    monkeypatch.setattr(mmcv, 'use_backend', absent)
    with pytest.raises(ConfigError, match=r'libturbojpeg, .*Unable to locate turbojpeg library\); install it'):
        check_backend('turbojpeg')


def test_what_others_read_by_mmcv_stays_as_it_was():
    from mmcv.image import io

    for name in filter(usable, BACKENDS):
        check_backend(name)
        assert io.imread_backend == 'cv2'


def jpeg(width, height):
    """A small JPEG whose frame header promises other sizes."""
    content = bytearray(cv2.imencode('.jpg', photograph())[1].tobytes())
    place = content.index(b'\xff\xc0')
    content[place + 5 : place + 9] = struct.pack('>HH', height, width)
    return bytes(content)


@pytest.mark.fault(
    38,
    'An image of some bytes that promises 10^10 or 9 * 10^8 pixels, with each decoder: exit 3 by its '
    'name, before any memory is taken.',
)
@decoders
@pytest.mark.parametrize(
    'content', [promising_png(100_000, 100_000), promising_png(30_000, 30_000), jpeg(30_000, 30_000)]
)
def test_bombs_are_refused_before_any_memory_is_taken(decoder, content):
    with pytest.raises(DataError, match=r'^bomb\.png is refused: .*pixels'):
        decode_image(content, 'bomb.png', decoder)


def test_the_limit_of_pixels_is_a_setting(tmp_path):
    (tmp_path / 'val' / 'a').mkdir(parents=True)
    cv2.imwrite(str(tmp_path / 'val' / 'a' / '0.jpg'), photograph())
    with pytest.raises(DataError, match=r'0\.jpg is refused: its header promises 60 x 45 pixels, more than max_pixels'):
        ImageFolder(str(tmp_path), 'val', max_pixels=45 * 60 - 1)[0]
    assert ImageFolder(str(tmp_path), 'val', max_pixels=45 * 60)[0]['inputs'].shape == (3, 45, 60)
    with pytest.raises(ValueError, match='max_pixels'):
        ImageFolder(str(tmp_path), 'val', max_pixels=0)


@pytest.mark.parametrize(
    'options', [{}, {'progressive': True}, {'exif': b'Exif\0\0' + b'x' * 500}, {'comment': b'c' * 99}]
)
def test_sizes_of_jpegs_are_read_from_their_header(tmp_path, options):
    path = tmp_path / 'a.jpg'
    Image.fromarray(photograph()).save(path, **options)
    assert jpeg_size(path.read_bytes()) == (60, 45)
    assert jpeg_size(path.read_bytes()[:30]) is None
    assert jpeg_size(b'\xff\xd8\xff' + b'\xff' * 50) is None
    assert jpeg_size(b'') is None
