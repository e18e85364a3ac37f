"""Copies on a stream of their own, with stand-ins for the streams."""

from contextlib import contextmanager

import pytest
import torch

from openmix_dm.engine import prefetch

CPU = torch.device('cpu')


class Stream:
    def __init__(self, device=None):
        pass

    def wait_stream(self, other):
        LOG.append('wait')


LOG: list = []


@pytest.fixture(autouse=True)
def streams(monkeypatch):
    @contextmanager
    def entered(stream):
        LOG.append('copy')
        yield

    LOG.clear()
    monkeypatch.setattr(torch.cuda, 'Stream', Stream)
    monkeypatch.setattr(torch.cuda, 'stream', entered)
    monkeypatch.setattr(torch.cuda, 'current_stream', lambda device: Stream())
    monkeypatch.setattr(torch.Tensor, 'record_stream', lambda tensor, stream: LOG.append('kept'))


def batches(count):
    for number in range(count):
        LOG.append(f'load {number}')
        yield {'inputs': (torch.full((2,), number),), 'index': [torch.tensor(number)], 'progress': number / 10}


@pytest.mark.parametrize('count', [0, 1, 4])
def test_batches_come_as_they_are_in_their_order(count):
    got = list(prefetch.prefetched(batches(count), CPU))
    assert [batch['progress'] for batch in got] == [number / 10 for number in range(count)]
    assert [int(batch['inputs'][0][0]) for batch in got] == [int(batch['index'][0]) for batch in got] == [*range(count)]


def test_the_next_batch_is_sent_before_this_one_is_worked_on():
    for batch in prefetch.prefetched(batches(2), CPU):
        LOG.append(f'train {batch["index"][0]}')
    assert LOG[:4] == ['load 0', 'copy', 'load 1', 'copy']
    assert LOG[4:] == ['wait', 'kept', 'kept', 'train 0', 'wait', 'kept', 'kept', 'train 1']
