import time

import pytest

from openmix_dm.commands.dist_ranks import main
from openmix_dm.errors import ConfigError
from openmix_dm.launch.ranks import End, first_failure, launch, rank_variables


@pytest.mark.parametrize(
    ('ends', 'local'),
    [
        ([End(0, 0), End(1, 0)], None),
        ([End(0, 6), End(1, 3)], 1),  # rank 0 only lost rank 1
        ([End(1, 6), End(0, -9)], 0),
        ([End(1, 5), End(0, 5)], 1),
        ([End(0, 6), End(1, -9, had_to_be_killed=True)], 0),
    ],
)
def test_the_first_failure_is_the_cause(ends, local):
    found = first_failure(ends)
    assert (found.local if found else None) == local


def test_variables_of_one_machine():
    first, second = rank_variables(2, {})
    assert (first['RANK'], second['RANK'], second['LOCAL_RANK'], second['WORLD_SIZE']) == ('0', '1', '1', '2')
    assert first['MASTER_PORT'] == second['MASTER_PORT']
    assert rank_variables(1, {'PORT': '1234'})[0]['MASTER_PORT'] == '1234'


def test_variables_of_several_machines():
    environment = {'NNODES': '3', 'NODE_RANK': '2', 'MASTER_ADDR': 'first'}
    assert [each['RANK'] for each in rank_variables(4, environment)] == ['8', '9', '10', '11']
    each = rank_variables(4, environment)[0]
    assert (each['WORLD_SIZE'], each['MASTER_ADDR'], each['MASTER_PORT']) == ('12', 'first', '29500')


@pytest.mark.parametrize(
    ('ranks', 'environment', 'said'),
    [
        (0, {}, '1 or above'),
        (2, {'NNODES': '2'}, 'needs NODE_RANK and MASTER_ADDR'),
        (2, {'NNODES': 'two'}, 'NNODES must be a whole number'),
        (2, {'NNODES': '2', 'NODE_RANK': '2', 'MASTER_ADDR': 'a'}, 'from 0 to NNODES - 1 = 1'),
    ],
)
def test_wrong_numbers_are_refused(ranks, environment, said):
    with pytest.raises(ConfigError, match=said):
        rank_variables(ranks, environment)


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.setattr('openmix_dm.launch.ranks.forward_signals', lambda processes: None)

    def write(text):
        path = tmp_path / 'script.py'
        path.write_text(f'import os, signal, sys, time\nrank = os.environ["RANK"]\n{text}\n')
        return [str(path)]

    return write


def test_the_exit_code_of_the_cause_is_returned_and_named_last(script, capfd):
    assert main(['2', *script('print(rank)')]) == 0
    assert main(['2', *script('time.sleep(int(rank) / 2); sys.exit(6 if rank == "0" else 3)')]) == 3
    assert capfd.readouterr().err.splitlines()[-1].startswith('openmix_dm: FAILED rank=1: exit code 3')
    assert main(['2', *script('sys.exit(75)')]) == 75
    assert main(['0', *script('')]) == 2


def test_a_rank_that_hangs_is_ended(script, capfd):
    began = time.monotonic()
    command = script('signal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(60 if rank == "1" else 0); sys.exit(6)')
    assert launch(2, command, {}) == 6
    assert time.monotonic() - began < 15
    assert 'ended because they did not end by themselves: 1' in capfd.readouterr().err


def test_a_killed_rank_is_a_failure_of_the_processes(script, capfd):
    assert launch(2, script('os.kill(os.getpid(), signal.SIGKILL) if rank == "0" else sys.exit(6)'), {}) == 6
    assert 'rank=0: killed by signal 9' in capfd.readouterr().err
