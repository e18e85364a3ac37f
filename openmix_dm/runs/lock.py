"""One job in a run folder at a time: a lock with a sign of life.

The kernel's lock tells jobs of one machine apart and ends with its process, however that ends. Jobs on other machines
are told by the time stamp of the file, which the holder renews.
"""

import fcntl
import json
import os
import platform
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from openmix_dm.errors import ConfigError, ResourceError
from openmix_dm.utils.files import read_plainly

LOCK = 'lock.json'
HEARTBEAT, STALE = 30.0, 600.0  # seconds


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a run folder; refuse one that another job holds, and one that cannot be written."""
    made = not folder.exists()
    handle = _acquire(folder)
    ended = threading.Event()
    threading.Thread(target=_show_life, args=(folder / LOCK, ended), daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        with suppress(OSError):  # the folder may be gone, or read-only by now: that is for others to tell
            (folder / LOCK).unlink(missing_ok=True)
            if made and not any(folder.iterdir()):
                folder.rmdir()  # nothing came of the run
        os.close(handle)


def held(folder: Path) -> bool | None:
    """Say, without touching the lock, whether a living job holds a run folder; None where there is no lock."""
    path = folder / LOCK
    try:
        holder, age = _parse(read_plainly(path)), time.time() - path.stat().st_mtime
    except OSError:
        return None
    here = holder.get('host') == platform.node()
    return abs(age) <= STALE and (not here or Path('/proc', str(holder.get('pid'))).exists())


def _acquire(folder: Path) -> int:
    path = folder / LOCK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise ResourceError(
            f'the run folder {folder} cannot be written ({error.strerror}); choose another --work-dir'
        ) from None
    held = _read(handle)
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not path.exists() or path.stat().st_ino != os.fstat(handle).st_ino:  # its holder has just left
            os.close(handle)
            return _acquire(folder)
        free = _free(held, _now(folder) - path.stat().st_mtime)
    except OSError:
        free = False
    if not free:
        age = time.time() - path.stat().st_mtime
        os.close(handle)
        raise ConfigError(_refusal(folder, held, age))
    try:
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps(_ourselves()).encode(), 0)
    except OSError as error:
        os.close(handle)
        raise ResourceError(f'the run folder {folder} cannot be written ({error.strerror}); make room there') from None
    return handle


def _free(held: dict[str, Any], age: float) -> bool:
    """Say whether a lock that the kernel gives us is really free: its holder may be on another machine."""
    us = _ourselves()
    same_job = us['job'] is not None and held.get('job') == us['job']  # the same job, queued anew
    # a sign of life from the future is none: nobody who lives has given it
    return not held or held.get('host') == us['host'] or same_job or abs(age) > STALE


def _now(folder: Path) -> float:
    """Return the time by the clock of the file system, which dates the signs of life: ours may be another."""
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            return os.fstat(probe.fileno()).st_mtime
    except OSError:  # a full disk is told of elsewhere
        return time.time()


def _refusal(folder: Path, held: dict[str, Any], age: float) -> str:
    job = f'job {held["job"]}' if held.get('job') else f'process {held.get("pid", "?")}'
    return (
        f'{folder} is held by {job} on {held.get("host", "?")} since {held.get("since", "?")} (last sign of life '
        f'{max(age, 0):.0f} s ago; {STALE:.0f} s of silence free it). Wait for it, or choose another --work-dir'
    )


def _ourselves() -> dict[str, Any]:
    return {
        'pid': os.getpid(),
        'host': platform.node(),
        'job': os.environ.get('SLURM_JOB_ID'),
        'since': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime()),
    }


def _read(handle: int) -> dict[str, Any]:
    try:
        return _parse(os.pread(handle, 4096, 0))
    except OSError:
        return {}


def _parse(content: bytes) -> dict[str, Any]:
    """Return who holds a lock, nobody if it is damaged: then its age tells."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _show_life(path: Path, ended: threading.Event) -> None:
    while not ended.wait(HEARTBEAT):
        try:
            os.utime(path)
        except OSError:
            return
