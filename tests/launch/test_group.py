import pytest

from openmix_dm.errors import ConfigError, DistributedError
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
