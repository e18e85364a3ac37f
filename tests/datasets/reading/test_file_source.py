"""Images from other places than the local disk, by mmengine's file backends."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import cv2
import numpy as np
import pytest
from mmengine.fileio.backends import BaseStorageBackend
from mmengine.fileio.backends.registry_utils import backends

from openmix_dm.datasets import ImageFolder, ImageList
from openmix_dm.errors import ConfigError, DataError


@pytest.fixture
def folder(tmp_path):
    for number in range(3):
        cv2.imwrite(str(tmp_path / f'{number}.png'), np.full((4, 5, 3), 10 * number, dtype=np.uint8))
    (tmp_path / 'list.txt').write_text('0.png 0\n1.png 1\n2.png 1\n')
    return tmp_path


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture
def url(folder):
    server = ThreadingHTTPServer(('127.0.0.1', 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f'http://127.0.0.1:{server.server_port}'
    server.shutdown()


def brightness(data):
    return [int(data[number]['inputs'].max()) for number in range(len(data))]


def test_a_backend_of_the_local_disk_reads_what_none_does(folder):
    plain, asked = (
        ImageList(str(folder), 'list.txt'),
        ImageList(str(folder), 'list.txt', backend_args={'backend': 'local'}),
    )
    assert brightness(plain) == brightness(asked) == [0, 10, 20]


def test_images_and_list_over_http(url):
    data = ImageList(url, 'list.txt', backend_args={'backend': 'http'})
    assert brightness(data) == [0, 10, 20]
    assert data.labels.tolist() == [0, 1, 1]
    assert data.path(1) == f'{url}/1.png'


def test_the_prefix_of_the_root_names_the_backend(url):
    assert brightness(ImageList(url, 'list.txt', backend_args={})) == [0, 10, 20]


def test_the_list_may_be_on_the_local_disk(url, folder):
    (folder / 'mine.txt').write_text('2.png 0\n')
    assert brightness(ImageList(url, str(folder / 'mine.txt'), backend_args={'backend': 'http'})) == [20]


def test_what_is_not_there_is_named(url, folder):
    with pytest.raises(DataError, match=r'no\.txt cannot be read by HTTPBackend: .*404'):
        ImageList(url, 'no.txt', backend_args={'backend': 'http'})
    (folder / 'more.txt').write_text('gone.png 0\n')
    with pytest.raises(DataError, match=r'gone\.png cannot be read by HTTPBackend'):
        ImageList(url, 'more.txt', backend_args={'backend': 'http'})[0]


class Dictionary(BaseStorageBackend):
    """A store of keys, which has no folders and answers None, as LMDB does."""

    def __init__(self, values):
        self.values = values

    def get(self, filepath):
        return self.values.get(str(filepath))

    def get_text(self, filepath):
        raise NotImplementedError


def test_a_store_of_keys(folder, monkeypatch):
    monkeypatch.setitem(backends, 'dictionary', Dictionary)
    values = {f'{number}.png': (folder / f'{number}.png').read_bytes() for number in range(2)}
    options = {'backend_args': {'backend': 'dictionary', 'values': values}}
    data = ImageList('', str(folder / 'list.txt'), **options)
    assert int(data[1]['inputs'].max()) == 10
    with pytest.raises(DataError, match=r'2\.png cannot be read: Dictionary has no such file'):
        data[2]


@pytest.mark.parametrize(
    ('backend_args', 'said'),
    [
        ({'backend': 'htpp'}, 'no file backend .htpp.; did you mean http'),
        ({'backend': 'local', 'port': 8}, 'cannot be used: .*'),
        ({'backend': 'petrel'}, 'backend_args=.*petrel_client'),
    ],
)
def test_wrong_settings_are_refused(backend_args, said):
    with pytest.raises(ConfigError, match=said):
        ImageList('x', 'list.txt', backend_args=backend_args)


def test_class_folders_are_listed_by_the_backend(folder):
    for name in ('b', 'a'):
        (folder / 'train' / name).mkdir(parents=True)
        cv2.imwrite(str(folder / 'train' / name / '0.png'), np.zeros((4, 5, 3), dtype=np.uint8))
        (folder / 'train' / name / 'notes.txt').write_text('')
    data = ImageFolder(str(folder), 'train', backend_args={'backend': 'local'})
    assert (data.classes, data.labels.tolist(), len(data)) == (['a', 'b'], [0, 1], 2)
    assert data[1]['inputs'].shape == (3, 4, 5)
    with pytest.raises(DataError, match='nowhere/train'):
        ImageFolder('/nowhere', 'train', backend_args={'backend': 'local'})


def test_a_backend_without_folders_is_told_of_lists(url):
    with pytest.raises(ConfigError, match='HTTPBackend cannot list folders; use ImageList'):
        ImageFolder(url, 'train', backend_args={'backend': 'http'})
