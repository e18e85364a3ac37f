import errno
import signal

import pytest
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader

from openmix_dm.errors import DataError, DistributedError, ResourceError
from openmix_dm.launch.failures import CAUSES, explain

ASYNCHRONOUS = (
    '\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be '
    'incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1\n'
    'Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n'
)
NCCL = 'NCCL error in: /pytorch/torch/csrc/distributed/c10d/NCCLUtils.hpp:268, '
# As torch 2, CUDA 12 and nccl 2 print them: (class, text, what it becomes, words that have to be told).
DEVICE_TEXTS = {
    'memory of the allocator': (
        torch.OutOfMemoryError,
        'CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 31.75 GiB of which 14.75 MiB '
        'is free. Including non-PyTorch memory, this process has 31.72 GiB memory in use.',
        ResourceError,
        ('Tried to allocate 20.00 MiB', 'activation_checkpointing'),
    ),
    'memory of the driver': (
        torch.AcceleratorError,
        f'CUDA error: out of memory{ASYNCHRONOUS}',
        ResourceError,
        ('memory has run out (CUDA error: out of memory)', 'accumulative_counts'),
    ),
    'memory while pinning': (
        RuntimeError,
        'Caught RuntimeError in pin memory thread for device 0.\nOriginal Traceback (most recent call last):\n'
        f'  File "pin_memory.py", line 37, in do_one_step\nRuntimeError: CUDA error: out of memory{ASYNCHRONOUS}',
        ResourceError,
        ('memory has run out',),
    ),
    'memory of cuBLAS': (
        RuntimeError,
        'CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`',
        ResourceError,
        ('memory has run out', 'cublasCreate'),
    ),
    'memory of nccl': (
        dist.DistBackendError,
        f'{NCCL}unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5\n'
        "ncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nCuda failure 2 'out of memory'",
        ResourceError,
        ("Cuda failure 2 'out of memory'",),
    ),
    'cuBLAS without memory': (
        RuntimeError,
        'CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`',
        ResourceError,
        ('nvidia-smi',),
    ),
    'cuDNN without memory': (
        RuntimeError,
        'cuDNN error: CUDNN_STATUS_NOT_INITIALIZED',
        ResourceError,
        ('CUDNN_STATUS_NOT_INITIALIZED', 'nvidia-smi'),
    ),
    'two ranks on a GPU': (
        dist.DistBackendError,
        f'{NCCL}invalid usage (run with NCCL_DEBUG=WARN for details), NCCL version 2.21.5\n'
        'ncclInvalidUsage: This usually reflects invalid usage of NCCL library.\nLast error:\n'
        'Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 10',
        DistributedError,
        ('rank 1 and rank 0 both on CUDA device 10', '--gpus-per-task=1'),
    ),
    'another kind of GPU': (
        RuntimeError,
        f'CUDA error: no kernel image is available for execution on the device{ASYNCHRONOUS}',
        ResourceError,
        ('has no code for this kind of GPU',),
    ),
    'an old driver': (
        RuntimeError,
        'The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver by '
        'downloading and installing a new version from the URL: http://www.nvidia.com/Download/index.aspx',
        ResourceError,
        ('found version 11040', 'update the driver'),
    ),
    'an older driver': (
        RuntimeError,
        'CUDA error: CUDA driver version is insufficient for CUDA runtime version',
        ResourceError,
        ('update the driver',),
    ),
    'a GPU that is taken': (
        RuntimeError,
        f'CUDA error: all CUDA-capable devices are busy or unavailable{ASYNCHRONOUS}',
        ResourceError,
        ('taken by another process',),
    ),
    'a GPU that is taken, in newer words': (
        torch.AcceleratorError,
        f'CUDA error: CUDA-capable device(s) is/are busy or unavailable{ASYNCHRONOUS}',
        ResourceError,
        ('taken by another process',),
    ),
    'a label out of range': (
        torch.AcceleratorError,
        f'CUDA error: device-side assert triggered{ASYNCHRONOUS}',
        DataError,
        ('label', 'CUDA_LAUNCH_BLOCKING=1'),
    ),
    'an illegal access': (
        torch.AcceleratorError,
        f'CUDA error: an illegal memory access was encountered{ASYNCHRONOUS}',
        ResourceError,
        ('an illegal memory access', '--resume'),
    ),
    'a broken GPU': (
        RuntimeError,
        f'CUDA error: uncorrectable ECC error encountered{ASYNCHRONOUS}',
        ResourceError,
        ('ECC', 'the GPU is broken', '--resume'),
    ),
}
RANK_TEXTS = {
    'a rank that hangs': (
        dist.DistBackendError,
        '[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5, OpType=ALLREDUCE, NumelIn=1, '
        'NumelOut=1, Timeout(ms)=600000) ran for 600013 milliseconds before timing out.',
        ('ran for 600013 milliseconds', 'env_cfg.dist_cfg.timeout'),
    ),
    'a communicator that was aborted': (
        RuntimeError,
        'NCCL communicator was aborted on rank 2.  Original reason for failure was: [Rank 2] Watchdog caught '
        'collective operation timeout: WorkNCCL(SeqNum=10, OpType=BROADCAST, Timeout(ms)=1800000) ran for 1805457 '
        'milliseconds before timing out.',
        ('aborted on rank 2', 'env_cfg.dist_cfg.timeout'),
    ),
    'a network': (
        dist.DistBackendError,
        f'{NCCL}unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.18.6\n'
        'ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error. \n'
        'Last error:\nsocketStartConnect: Connect to 192.0.2.14<52822> failed : No route to host',
        ('failed : No route to host', 'NCCL_SOCKET_IFNAME'),
    ),
    'a rank that is gone': (
        dist.DistBackendError,
        f'{NCCL}remote process exited or there was a network error, NCCL version 2.21.5\n'
        'ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.\n'
        'Last error:\nsocketProgressOpt: Call to recv from 192.0.2.7<33759> failed : Connection reset by peer',
        ('Connection reset by peer', 'NCCL_DEBUG=INFO'),
    ),
    'a rank that never came': (
        dist.DistBackendError,
        "[4] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', "
        "but store->get('0') got error: Socket Timeout",
        ('Socket Timeout', 'env_cfg.dist_cfg.timeout'),
    ),
    'an error inside nccl': (
        RuntimeError,
        'NCCL error: unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.25.1\n'
        'ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error. \n'
        'Last error:\n\nException raised from checkForNCCLErrorsInternal at ProcessGroupNCCL.cpp:2501',
        ('unhandled system error', 'NCCL_SOCKET_IFNAME'),
    ),
}


@pytest.mark.parametrize(
    ('error', 'kind', 'said'),
    [
        (MemoryError('big'), ResourceError, 'accumulative_counts'),
        (torch.OutOfMemoryError('CUDA out of memory. Tried to allocate'), ResourceError, 'Tried to allocate'),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"), ResourceError, 'memory has run out'),
        (OSError(errno.ENOSPC, 'No space left on device', 'a'), ResourceError, 'no space is left'),
        (OSError(errno.EROFS, 'Read-only file system', 'a'), ResourceError, 'Read-only'),
        (RuntimeError('DataLoader worker (pid 7) is killed by signal: Killed. '), ResourceError, 'by signal: Killed'),
        (RuntimeError('DataLoader worker (pid(s) 7) exited unexpectedly'), ResourceError, 'num_workers'),
        (RuntimeError('DataLoader worker (pid 7) is killed by signal: Bus error. '), ResourceError, '--shm-size'),
        (OSError(errno.EMFILE, 'Too many open files'), ResourceError, 'ulimit -n'),
        (RuntimeError('Too many open files. Communication with the workers is no longer'), ResourceError, 'ulimit -n'),
        (RuntimeError('[gloo/pair.cc:5] Connection closed by peer'), DistributedError, 'Connection closed'),
    ],
)
def test_what_others_raise_is_explained(error, kind, said):
    failure = explain(error)
    assert type(failure) is kind
    assert said in str(failure)


@pytest.mark.parametrize('name', DEVICE_TEXTS)
def test_what_a_gpu_says_is_explained(name):
    raised, text, kind, told = DEVICE_TEXTS[name]
    failure = explain(raised(text))
    assert type(failure) is kind
    assert all(words in str(failure) for words in told)
    assert 'asynchronously' not in str(failure)


def test_every_cause_is_met_by_a_text():
    told = [str(explain(raised(text))) for raised, text, _, _ in DEVICE_TEXTS.values()]
    assert all(any(each.startswith(cause.told.partition('(')[0]) for each in told) for cause in CAUSES)


@pytest.mark.parametrize('name', RANK_TEXTS)
def test_what_nccl_says_of_other_ranks_is_explained(name):
    raised, text, told = RANK_TEXTS[name]
    failure = explain(raised(text))
    assert type(failure) is DistributedError
    assert all(words in str(failure) for words in told)


class EndsByABusError(list):
    def __getitem__(self, index):
        signal.raise_signal(signal.SIGBUS)


def test_a_bus_error_is_told_where_its_first_report_was_swallowed():
    """torch raises the death of a worker wherever the main thread is, also inside of a library that catches it; the
    loader then finds a worker that is gone, and does not say why."""
    batches = iter(DataLoader(EndsByABusError([0]), num_workers=1))
    before = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        with pytest.raises(RuntimeError, match='exited unexpectedly') as raised:
            next(batches)
    finally:
        signal.signal(signal.SIGCHLD, before)
    failure = explain(raised.value)
    assert type(failure) is ResourceError
    assert '--shm-size' in str(failure)


def test_what_a_worker_says_comes_without_its_traceback():
    wrapped = DataError(
        'Caught DataError in DataLoader worker process 0.\nOriginal Traceback (most recent call last):\n'
        '  File "a.py", line 1, in b\nopenmix_dm.errors.DataError: a.jpg cannot be decoded: bad\n'
    )
    assert str(explain(wrapped)) == 'a.jpg cannot be decoded: bad'
    assert type(explain(wrapped)) is DataError


@pytest.mark.parametrize('error', [ValueError('x'), RuntimeError('shapes'), FileNotFoundError('a'), KeyError('k')])
def test_what_is_not_known_stays_as_it_is(error):
    assert explain(error) is error
