"""Turn what other packages raise into failures that say what happened and what to do."""

import errno
import multiprocessing
import os
import re
import resource
import signal
import sys
import time

import torch

from openmix_dm.errors import DataError, Failure, ResourceError, first_line
from openmix_dm.launch.group import lost_connection

FULL = {errno.ENOSPC: 'no space is left', errno.EDQUOT: 'the quota is used up', errno.EFBIG: 'a file became too large'}
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
    if isinstance(error, OSError) and error.errno in UNWRITABLE:
        return ResourceError(f'cannot write ({first_line(error)})')
    if isinstance(error, RuntimeError):
        return _worker_failure(str(error)) or lost_connection(error) or error
    return error


def _worker_failure(text: str) -> Failure | None:
    """Explain the death or the silence of a worker of a data loader."""
    if re.search(r'DataLoader worker .*(killed by signal|exited unexpectedly)', text, re.DOTALL):
        how = re.search(r'killed by signal: ([^.\n]*)', text)
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**10
        return ResourceError(
            f'a worker of the data loader was killed{f" by signal: {how[1].strip()}" if how else ""} (the largest used '
            f'{used:.0f} MB). If memory ran out, lower num_workers or prefetch_factor of the data loader; '
            'the last checkpoint is good, go on with --resume'
        )
    timeout = re.search(r'DataLoader timed out after (\d+) seconds', text)
    if timeout:
        show_workers(timeout[1])
        return DataError(
            f'a worker of the data loader was silent for {timeout[1]} s (what it was doing is above): is the file '
            'system slow? A longer wait: train_dataloader.timeout'
        )
    return None


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
