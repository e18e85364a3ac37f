import pytest

from openmix_dm.engine.launch import first_host, join_processes, translate_slurm
from openmix_dm.errors import DistributedError


@pytest.mark.parametrize(
    ('nodes', 'host'),
    [
        ('node1', 'node1'),
        ('gpu[003-007,9],login1', 'gpu003'),
        ('a,b', 'a'),
        ('n[5]', 'n5'),
        ('r1-n[2,4]-ib', 'r1-n2-ib'),
    ],
)
def test_first_host(nodes, host):
    assert first_host(nodes) == host


def test_slurm_variables_are_translated():
    environment = {
        'SLURM_PROCID': '3', 'SLURM_NTASKS': '8', 'SLURM_LOCALID': '1', 'SLURM_STEP_NODELIST': 'gpu[4-5]',
        'SLURM_JOB_ID': '123456',
    }  # fmt: skip
    translate_slurm(environment)
    assert {k: environment[k] for k in ('RANK', 'WORLD_SIZE', 'LOCAL_RANK', 'MASTER_ADDR', 'MASTER_PORT')} == {
        'RANK': '3', 'WORLD_SIZE': '8', 'LOCAL_RANK': '1', 'MASTER_ADDR': 'gpu4', 'MASTER_PORT': '23456',
    }  # fmt: skip


def test_a_launcher_without_its_environment_is_refused(monkeypatch):
    for name in ('RANK', 'SLURM_PROCID'):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(DistributedError, match='torchrun'):
        join_processes('pytorch')
    with pytest.raises(DistributedError, match='srun'):
        join_processes('slurm')
    with pytest.raises(DistributedError, match='NODELIST'):
        translate_slurm({'SLURM_PROCID': '0', 'SLURM_NTASKS': '1'})


def test_alone_without_a_launcher():
    assert join_processes('none') == (0, 1)
