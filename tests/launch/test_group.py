import threading
import time
from types import SimpleNamespace

import pytest
import torch.distributed as dist

from openmix_dm.errors import ConfigError, DistributedError
from openmix_dm.launch import group
from openmix_dm.launch.group import join_processes, lost_connection
from openmix_dm.utils.dist import agree, decide_together


def test_a_launcher_without_its_environment_is_refused(monkeypatch):
    for name in ('RANK', 'SLURM_PROCID'):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(DistributedError, match='torchrun'):
        join_processes('pytorch')
    with pytest.raises(DistributedError, match='srun'):
        join_processes('slurm')


def test_alone_without_a_launcher():
    assert join_processes('none') == (0, 1)
    agree(lambda: pytest.fail('one rank has nobody to agree with'))
    with pytest.raises(ConfigError, match='no'):
        decide_together(refuse)


def refuse():
    raise ConfigError('no')


@pytest.fixture
def two_ranks(monkeypatch):
    """The variables of one of two ranks; the other one never comes."""
    for name, value in {'WORLD_SIZE': '2', 'LOCAL_RANK': '0', 'MASTER_ADDR': '127.0.0.1'}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv('MASTER_PORT', '29533')
    return monkeypatch


def test_ranks_that_do_not_come_are_named(two_ranks):
    two_ranks.setenv('RANK', '0')
    with pytest.raises(DistributedError, match=r'after 0.5 s rank 1 of 2 had not joined'):
        join_processes('pytorch', init_timeout=0.5)


def test_a_first_rank_that_cannot_be_reached_is_said(two_ranks):
    two_ranks.setenv('RANK', '1')
    with pytest.raises(DistributedError, match=r'rank 1 of 2 cannot reach rank 0 at 127.0.0.1:29533 within 1 s'):
        join_processes('pytorch', init_timeout=1)


def test_other_errors_are_no_lost_connection():
    assert lost_connection(RuntimeError('shapes do not fit')) is None
    assert lost_connection(ValueError('gloo')) is None
    assert lost_connection(RuntimeError('[gloo/transport/tcp/pair.cc:547] Connection closed by peer')) is not None


class CountingStore:
    """A store that counts what it is asked, and says when all of its ranks have reported."""

    def __init__(self, ranks):
        self.store, self.ranks, self.requests, self.appended = dist.HashStore(), ranks, 0, 0
        self.lock, self.all_there = threading.Lock(), threading.Event()

    def append(self, name, value):
        with self.lock:
            self.store.append(name, value)
            self.requests += 1
            self.appended += 1
            if self.appended == self.ranks:
                self.all_there.set()

    def get(self, name):
        with self.lock:
            self.requests += 1
            return self.store.get(name)


def test_each_rank_asks_a_few_times_however_many_there_are(monkeypatch):
    """Each of 64 ranks reports, looks, waits and looks: a request for each other rank would be 4,096 of them."""
    store, absent = CountingStore(64), []
    pauses = SimpleNamespace(monotonic=time.monotonic, sleep=lambda seconds: store.all_there.wait(60))
    monkeypatch.setattr(group, 'time', pauses)
    threads = [
        threading.Thread(target=lambda rank=rank: absent.append(group.report(store, 'joined', rank, 64, 60)))
        for rank in range(64)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert absent == [[]] * 64
    assert 2 * 64 <= store.requests <= 3 * 64
    assert store.store.num_keys() == 1


def test_a_rank_that_reports_twice_stands_for_itself_alone():
    """As where two processes were started as the same rank, or a rank loses the others twice."""
    store = CountingStore(4)
    for rank in (2, 0, 2):
        assert group.report(store, 'joined', rank, 4, 0) != []
    assert group.report(store, 'joined', 2, 4, 0) == [1, 3]


def test_neighbours_are_named_by_the_first_and_the_last():
    absent = [3, 8, 9, 10, 11, 12, 13, 14, 15, 1023]
    assert group._ranks(absent) == 'ranks 3, 8-15, 1023'
    assert group._ranks([1]) == 'rank 1'
    assert group._ranks([0, 1]) == 'ranks 0-1'
