"""Turn what other packages raise into failures that say what happened and what to do."""

import errno
import multiprocessing
import os
import re
import resource
import shutil
import signal
import sys
import time

import torch

from openmix_dm.errors import DataError, Failure, ResourceError, first_line
from openmix_dm.launch.group import lost_connection

FULL = {errno.ENOSPC: 'no space is left', errno.EDQUOT: 'the quota is used up', errno.EFBIG: 'a file became too large'}
TOO_MANY = 'Too many open files'
SHARED = '/dev/shm'  # through which the batches of workers travel
UNWRITABLE = {errno.EROFS, errno.EACCES, errno.EPERM}


def explain(error: BaseException) -> BaseException:
    """Return the failure behind an error, or the error itself where nothing is known about it."""
    if isinstance(error, Failure):
        return _without_worker_traceback(error)
    if isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in str(error):
        return ResourceError(
            f'memory has run out ({first_line(error)}); lower global_batch_size, or keep it and set '
            'optim_wrapper.accumulative_counts'
        )
    if isinstance(error, OSError) and error.errno in FULL:
        return ResourceError(f'{FULL[error.errno]} ({first_line(error)}); make room, then go on with --resume')
    if TOO_MANY in str(error):
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return ResourceError(f'{limit} files may be open at once, and more are needed: `ulimit -n 4096` allows them')
    if isinstance(error, OSError) and error.errno in UNWRITABLE:
        return ResourceError(f'cannot write ({first_line(error)})')
    if isinstance(error, RuntimeError):
        return _worker_failure(f'{error}\n{error.__cause__}') or lost_connection(error) or error
    if isinstance(error, OSError | EOFError):
        return _death_in_a_hand_over() or error
    return error


def _death_in_a_hand_over() -> Failure | None:
    """Explain a connection that broke because a worker died while it gave a batch away: torch says so soon after."""
    try:
        time.sleep(0.2)
    except RuntimeError as told:  # raised where its handler of SIGCHLD finds this thread
        return _worker_failure(str(told))
    return None


def _worker_failure(text: str) -> Failure | None:
    """Explain the death or the silence of a worker of a data loader."""
    if re.search(r'DataLoader worker .*(killed by signal|exited unexpectedly)', text, re.DOTALL):
        how = re.search(r'killed by signal: ([^.\n]*)', text)
        if how and 'Bus error' in how[1]:
            return ResourceError(_full_shared_memory())
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**10
        return ResourceError(
            f'a worker of the data loader was killed{f" by signal: {how[1].strip()}" if how else " or gave up"} (the '
            f'largest used {used:.0f} MB); it may have said why above. If memory ran out, lower num_workers or '
            'prefetch_factor of the data loader; the last checkpoint is good, go on with --resume'
        )
    timeout = re.search(r'DataLoader timed out after (\d+) seconds', text)
    if timeout:
        show_workers(timeout[1])
        return DataError(
            f'a worker of the data loader was silent for {timeout[1]} s (what it was doing is above): is the file '
            'system slow? A longer wait: train_dataloader.timeout'
        )
    return None


def _full_shared_memory() -> str:
    print(file=sys.stderr, flush=True)  # what torch says of a bus error ends in the middle of a line
    free, total = shutil.disk_usage(SHARED).free, shutil.disk_usage(SHARED).total
    return (
        f'a worker of the data loader was killed by a bus error: its batches do not fit into {SHARED} '
        f'({total / 2**20:.0f} MB, {free / 2**20:.0f} free now). Give it more (docker run --shm-size=8g), or lower '
        'num_workers, prefetch_factor or global_batch_size; num_workers=0 needs none; then go on with --resume'
    )


def show_workers(seconds: str) -> None:
    """Let each worker print where it is, and end it: one that hangs would keep this process from ending."""
    print(f'openmix_dm: no batch for {seconds} s; this is what the workers are doing:', file=sys.stderr, flush=True)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # torch would raise for each of them
    workers = [child for child in multiprocessing.active_children() if child.daemon and child.pid]
    for worker in workers:
        os.kill(worker.pid or 0, signal.SIGQUIT)
    time.sleep(0.5)
    for worker in workers:
        worker.kill()
        worker.join()


def _without_worker_traceback(failure: Failure) -> Failure:
    """Keep what a worker has to say, without the traceback that torch puts before it."""
    text = str(failure)
    if 'Original Traceback' not in text:
        return failure
    last = text[text.rindex(type(failure).__name__ + ': ') :]
    return type(failure)(last.partition(': ')[2].strip())
