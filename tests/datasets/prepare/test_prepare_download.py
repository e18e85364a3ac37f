"""Downloads from a server on this machine: whole, broken off, gone on with, refused."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from support import archive_layouts as layouts

from openmix_dm.commands.prepare_data import main
from openmix_dm.datasets import CUB200
from openmix_dm.datasets.prepare import download
from openmix_dm.datasets.prepare.data_set import PUBLISHED
from openmix_dm.errors import DataError

CONTENT = bytes(range(256)) * 4000


class Server(BaseHTTPRequestHandler):
    """Serve CONTENT; `breaks` answers end early, and ranges can be off."""

    content, breaks, ranges = CONTENT, 0, True
    asked: list[str | None] = []

    def do_GET(self):
        where = self.headers.get('Range')
        Server.asked.append(where)
        start = int(where.split('=')[1].rstrip('-')) if where and Server.ranges else 0
        if self.path != '/file':
            return self.send_error(404)
        if start >= len(Server.content):
            self.send_response(416)
            self.send_header('Content-Range', f'bytes */{len(Server.content)}')
            return self.end_headers()
        body = Server.content[start:]
        self.send_response(206 if start else 200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        if Server.breaks:
            Server.breaks -= 1
            body = body[: len(body) // 2]
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def url(monkeypatch):
    Server.content, Server.breaks, Server.ranges, Server.asked = CONTENT, 0, True, []
    server = ThreadingHTTPServer(('127.0.0.1', 0), Server)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setattr(download, 'PAUSE', 0)
    for variable in ('http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'):
        monkeypatch.delenv(variable, raising=False)
    yield f'http://127.0.0.1:{server.server_port}'
    server.shutdown()
    server.server_close()


def get(url, folder, file='file'):
    download.fetch(f'{url}/{file}', folder / 'file.bin')
    return folder / 'file.bin'


def test_a_download_that_breaks_goes_on(url, tmp_path):
    Server.breaks = 2
    assert get(url, tmp_path).read_bytes() == CONTENT
    half, rest = len(CONTENT) // 2, len(CONTENT) * 3 // 4
    assert Server.asked == [None, f'bytes={half}-', f'bytes={rest}-']
    assert [file.name for file in tmp_path.iterdir()] == ['file.bin']


def test_the_next_command_goes_on(url, tmp_path):
    (tmp_path / 'file.bin.part').write_bytes(CONTENT[:1000])
    assert get(url, tmp_path).read_bytes() == CONTENT
    assert Server.asked == ['bytes=1000-']


def test_a_server_without_ranges_starts_again(url, tmp_path):
    Server.ranges = False
    (tmp_path / 'file.bin.part').write_bytes(b'other')
    assert get(url, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize('extra', [b'', b'more than the server has'])
def test_a_part_that_is_as_long_or_longer(url, tmp_path, extra):
    (tmp_path / 'file.bin.part').write_bytes(CONTENT + extra)
    assert get(url, tmp_path).read_bytes() == CONTENT


def test_a_server_that_refuses_every_range_is_no_crash(url, tmp_path):
    Server.content = b''
    with pytest.raises(DataError, match='416'):
        get(url, tmp_path)


def test_failures_say_what_to_do(url, tmp_path):
    with pytest.raises(DataError, match=r'404.*get file\.bin where there is a network and give it by --archive'):
        get(url, tmp_path, 'gone')
    assert len(Server.asked) == 1
    with pytest.raises(DataError, match='refused'):
        get('http://127.0.0.1:9', tmp_path)
    Server.breaks = 100
    with pytest.raises(DataError, match='the connection ended after'):
        get(url, tmp_path)
    assert (tmp_path / 'file.bin.part').stat().st_size > len(CONTENT) // 2  # kept for the next time


def test_a_data_set_is_downloaded_checked_and_unpacked(url, tmp_path, monkeypatch, capsys):
    Server.content = layouts.tar(tmp_path / 'a.tgz', layouts.cub200()).read_bytes()
    Server.breaks = 1
    sums = {'CUB_200_2011.tgz': hashlib.md5(Server.content).hexdigest()}
    monkeypatch.setitem(PUBLISHED['cub200'], 'url', f'{url}/file')
    monkeypatch.setitem(PUBLISHED['cub200'], 'hashes', {'CUB_200_2011.tgz': '0' * 32})
    root = tmp_path / 'cub200'
    command = ['cub200', '--root', str(root), '--no-verify']
    assert main(command) == 3  # a download is always verified
    assert f'is not the official CUB_200_2011.tgz: expected md5 {"0" * 32}' in capsys.readouterr().err
    assert not list(root.iterdir())  # nor is it kept to be taken for the right one next time
    monkeypatch.setitem(PUBLISHED['cub200'], 'hashes', sums)
    assert main(command) == 0
    assert len(CUB200(str(root), 'train')) == 6
    assert not (root / 'downloads').exists()
