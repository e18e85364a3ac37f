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
import traceback
from collections.abc import Collection
from typing import NamedTuple

import torch

from openmix_dm.errors import DataError, DistributedError, Failure, ResourceError, first_line
from openmix_dm.launch.group import lost_connection

FULL = {errno.ENOSPC: 'no space is left', errno.EDQUOT: 'the quota is used up', errno.EFBIG: 'a file became too large'}
TOO_MANY = 'Too many open files'
SHARED = '/dev/shm'  # through which the batches of workers travel
MORE_SHARED_MEMORY = (
    'Give it more (docker run --shm-size=8g, or a larger tmpfs), or lower num_workers, prefetch_factor or '
    'global_batch_size; num_workers=0 needs none'
)
UNWRITABLE = {
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
    errno.EIO,
}  # the last: a disk that fails


class Cause(NamedTuple):
    """A failure of a device by what is said of it: the first row that fits is told, with the line that fits."""

    said: str  # a pattern
    kind: type[Failure]
    told: str


LESS_MEMORY = (
    'lower global_batch_size, or keep it and set optim_wrapper.accumulative_counts, optim_wrapper.amp or '
    'activation_checkpointing'
)
GO_ON = 'the last checkpoint is good, go on with --resume'
# What CUDA and the libraries around it say; nccl's words about other ranks are for `lost_connection`.
CAUSES = (
    Cause(
        r"can't allocate memory|(CUDA|HIP) out of memory|CUDA error: out of memory|Cuda failure( \d+)? 'out of memory'"
        r'|CU(BLAS|DNN)_STATUS_ALLOC_FAILED',
        ResourceError,
        f'memory has run out ({{}}); {LESS_MEMORY}',
    ),
    Cause(
        r'CU(BLAS|DNN)_STATUS_NOT_INITIALIZED|unable to find an engine to execute this computation',
        ResourceError,
        'cuBLAS or cuDNN could not start on the GPU ({}), mostly because its memory is used up, perhaps by another '
        f'process (nvidia-smi); {LESS_MEMORY}',
    ),
    Cause(
        r'Duplicate GPU detected',
        DistributedError,
        'two ranks were given one GPU ({}); start as many ranks on each machine as it has GPUs, or let Slurm give one '
        'to each (--gpus-per-task=1)',
    ),
    Cause(
        r'no kernel image is available|PTX was compiled with an unsupported toolchain',
        ResourceError,
        'this build of torch has no code for this kind of GPU ({}); install one that has: https://pytorch.org',
    ),
    Cause(
        r'CUDA driver version is insufficient|NVIDIA driver on your system is too old|Found no NVIDIA driver',
        ResourceError,
        'the driver of the GPU does not fit this build of torch ({}); update the driver, or install torch for the CUDA '
        'version that nvidia-smi shows: https://pytorch.org',
    ),
    Cause(
        r'CUDA-capable device(s|\(s\)) (is/)?are busy or unavailable|no CUDA-capable device is detected'
        r'|invalid device ordinal',
        ResourceError,
        'a GPU cannot be used ({}); is it taken by another process, or missing in CUDA_VISIBLE_DEVICES?',
    ),
    Cause(
        r'device-side assert triggered',
        DataError,
        'the GPU was given a number out of range, such as a label ({}); CUDA_LAUNCH_BLOCKING=1 shows where',
    ),
    Cause(
        r'uncorrectable (ECC|NVLink) error|CUDA error: (an illegal|misaligned address|unspecified launch failure|the '
        r'launch timed out|unknown error|hardware stack error)|CU(BLAS|DNN)_STATUS_(EXECUTION_FAILED|INTERNAL_ERROR)',
        ResourceError,
        f'the GPU failed while it computed ({{}}); {GO_ON}. Always on one machine, the GPU is broken; on all of them, '
        'CUDA_LAUNCH_BLOCKING=1 shows where',
    ),
)


def explain(error: BaseException) -> BaseException:
    """Return the failure behind an error, or the error itself where nothing is known about it."""
    if isinstance(error, Failure):
        return _without_worker_traceback(error)
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return ResourceError(f'memory has run out ({first_line(error)}); {LESS_MEMORY}')
    if isinstance(error, OSError) and error.errno in FULL:
        return ResourceError(f'{FULL[error.errno]} ({first_line(error)}); make room, then go on with --resume')
    if TOO_MANY in str(error):
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return ResourceError(f'{limit} files may be open at once, and more are needed: `ulimit -n 4096` allows them')
    if isinstance(error, OSError) and error.errno in UNWRITABLE:
        return ResourceError(f'cannot write ({first_line(error)})')
    if isinstance(error, RuntimeError):
        return (
            _worker_failure(f'{error}\n{error.__cause__}', _signals_of_workers(error))
            or _device_failure(str(error))
            or lost_connection(error)
            or error
        )
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


def _device_failure(text: str) -> Failure | None:
    """Explain what CUDA or a library around it says."""
    for cause in CAUSES:
        line = re.search(rf'^.*({cause.said}).*$', text, re.MULTILINE)
        if line:
            return cause.kind(cause.told.format(line[0].strip()[:300]))
    return None


def _signals_of_workers(error: RuntimeError) -> set[int]:
    """Return the signals that ended workers of the loader in which an error was raised.

    torch raises what killed a worker wherever the main thread happens to be, and a library that is just importing
    something may swallow that; what torch then finds ("exited unexpectedly") leaves the signal out.
    """
    loaders = [frame.f_locals.get('self') for frame, _ in traceback.walk_tb(error.__traceback__)]
    workers = [worker for loader in loaders for worker in getattr(loader, '_workers', ())]
    return {-worker.exitcode for worker in workers if (worker.exitcode or 0) < 0}


def _worker_failure(text: str, signals: Collection[int] = ()) -> Failure | None:
    """Explain the death or the silence of a worker of a data loader."""
    if re.search(r'DataLoader worker .*(killed by signal|exited unexpectedly)', text, re.DOTALL):
        how = re.search(r'killed by signal: ([^.\n]*)', text)
        if (how and 'Bus error' in how[1]) or signal.SIGBUS in signals:
            return ResourceError(_full_shared_memory())
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**10
        return ResourceError(
            f'a worker of the data loader was killed{f" by signal: {how[1].strip()}" if how else " or gave up"} (the '
            f'largest used {used:.0f} MB); it may have said why above. If memory ran out, lower num_workers or '
            f'prefetch_factor of the data loader; {GO_ON}'
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
        f'({total / 2**20:.0f} MB, {free / 2**20:.0f} free now). {MORE_SHARED_MEMORY}; then go on with --resume'
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
