"""Fetch published files, going on where a broken download stopped."""

import contextlib
import http.client
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openmix_dm.datasets.prepare import archives
from openmix_dm.errors import DataError

TRIES, PAUSE, TIMEOUT = 4, 2.0, 60.0
CHUNK = 1 << 20
OK, PARTIAL, NOT_SATISFIABLE = 200, 206, 416


@dataclass(frozen=True)
class Remote:
    """A published file and its md5."""

    name: str
    url: str
    md5: str


def fetch(remote: Remote, folder: Path) -> Path:
    """Download a file into a folder, if it is not there yet; return its path."""
    path, part = folder / remote.name, folder / f'{remote.name}.part'
    if path.is_file():
        return path
    archives.check_target(folder, 0)
    for attempt in range(TRIES):
        try:
            transfer(remote.url, part)
            break
        except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
            if attempt == TRIES - 1 or isinstance(error, urllib.error.HTTPError):  # the server has spoken
                raise DataError(
                    f'{remote.url} cannot be downloaded ({error}); the same command goes on where this one stopped, '
                    f'or get {remote.name} where there is a network and give it by --archive'
                ) from error
            time.sleep(PAUSE * 2**attempt)
    part.replace(path)
    return path


def transfer(url: str, part: Path) -> None:
    """Append to a file what it lacks; begin again where the server cannot go on in the middle."""
    have = part.stat().st_size if part.is_file() else 0
    request = urllib.request.Request(url, headers={'Range': f'bytes={have}-'} if have else {})
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code != NOT_SATISFIABLE:
            raise
        if error.headers.get('Content-Range') != f'bytes */{have}':  # else all of it is there
            part.unlink()
            raise ConnectionError('the file has changed on the server') from error
        return
    with contextlib.closing(response):
        append(response, part, have if response.status == PARTIAL else 0)


def append(response: Any, part: Path, have: int) -> None:
    """Write a response behind the first `have` bytes of a file."""
    length = response.headers.get('Content-Length')
    total = have + int(length) if length else 0
    archives.check_target(part.parent, total - have)
    with archives.explain_write_errors(part):
        file = part.open('ab' if have else 'wb')
    with file, archives.meter(f'downloading {part.stem}', max(total, 1)) as advance:
        advance(have)
        while chunk := response.read(CHUNK):
            with archives.explain_write_errors(part):
                file.write(chunk)
            advance(len(chunk))
            have += len(chunk)
    if total and have != total:
        raise ConnectionError(f'the connection ended after {have} of {total} bytes')
