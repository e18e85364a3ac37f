"""Downloads that go on where they stopped; torchvision's begin again."""

import http.client
import time
import urllib.error
import urllib.request
from pathlib import Path

from openmix_dm.datasets.prepare.archives import check_target, explain_write_errors
from openmix_dm.errors import DataError
from openmix_dm.utils.progress import Progress

TRIES, PAUSE, TIMEOUT = 4, 2.0, 60.0
CHUNK = 1 << 20
PARTIAL, NOT_SATISFIABLE = 206, 416
BROKEN = (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError)


def fetch(url: str, path: Path) -> None:
    """Download a file; a broken download goes on where it stopped, in this command or the next."""
    part, failure = path.with_name(f'{path.name}.part'), None
    for attempt in range(TRIES):
        time.sleep(PAUSE * 2**attempt if attempt else 0)
        try:
            transfer(url, part)
            part.replace(path)
            return
        except BROKEN as error:
            failure, code = error, getattr(error, 'code', None)
            if code == NOT_SATISFIABLE:  # the server has nothing that comes after the part: it is of another file
                part.unlink(missing_ok=True)
            elif code:  # the server has spoken
                break
    raise DataError(
        f'{url} cannot be downloaded ({failure}); the same command goes on where this one stopped, '
        f'or get {path.name} where there is a network and give it by --archive'
    ) from failure


def transfer(url: str, part: Path) -> None:
    """Append to a file what it lacks; begin again where the server cannot go on in the middle."""
    have = part.stat().st_size if part.is_file() else 0
    request = urllib.request.Request(url, headers={'Range': f'bytes={have}-'} if have else {})
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        have = have if response.status == PARTIAL else 0
        length = int(response.headers.get('Content-Length') or 0)
        check_target(part.parent, length)
        bar = Progress(f'downloading {part.stem}', have + length, have)
        with bar, part.open('ab' if have else 'wb') as file:
            while chunk := response.read(CHUNK):
                with explain_write_errors(part):
                    file.write(chunk)
                bar.advance(len(chunk))
    if length and bar.done != bar.total:
        raise ConnectionError(f'the connection ended after {bar.done} of {bar.total} bytes')
