import errno

import pytest
import torch

from openmix_dm.errors import DataError, DistributedError, ResourceError
from openmix_dm.launch.failures import explain


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
