"""`table.py doctor` names all that is damaged, stale or left over, and nothing of a run that is well."""

import json
import os
import shutil
import time

import pytest
from support.trained_runs import digits_run

from openmix_dm.commands import table
from openmix_dm.runs.doctor import examine, find_runs
from openmix_dm.runs.folder import RunFolder
from openmix_dm.runs.lock import locked


@pytest.fixture
def run(tmp_path):
    tmp_path.chmod(0o755)
    return shutil.copytree(digits_run(), tmp_path / 'digits' / 'r8_mixup' / 'seed0')


def flip(path, place=0.5):
    content = bytearray(path.read_bytes())
    content[int(len(content) * place)] ^= 1
    path.write_bytes(content)


def age_lock(run):
    (run / 'lock.json').write_text('{}')
    os.utime(run / 'lock.json', (time.time() - 5000,) * 2)


def go_stale(run):
    RunFolder(run).update(state='running')
    for name in ('run.json', 'metrics.jsonl'):
        os.utime(run / name, (time.time() - 5000,) * 2)


CASES = {
    'run.json': ('damaged', lambda run: (run / 'run.json').write_bytes(b'')),
    'metrics.jsonl': ('damaged', lambda run: flip(run / 'metrics.jsonl')),
    'config.py': ('damaged', lambda run: (run / 'config.py').write_text('import os\n')),
    'checkpoints.json': ('damaged', lambda run: flip(run / 'checkpoints.json')),
    'epoch_3.pth': ('damaged', lambda run: flip(run / 'epoch_3.pth')),
    'epoch_4.pth.tmp': ('left', lambda run: (run / 'epoch_4.pth.tmp').write_bytes(b'half')),
    'lock.json': ('left', age_lock),
    'preempted': ('left', lambda run: RunFolder(run).mark_preempted('x')),
    'seed0': ('stale', go_stale),
    'train.log': ('unsafe', lambda run: ((run / 'train.log').unlink(), (run / 'train.log').symlink_to('elsewhere'))),
}


def test_a_run_that_is_well_has_no_finding(run, capsys):
    assert find_runs(run.parents[2]) == [run]
    assert examine(run) == []
    assert table.main(['doctor', '--work-dirs', str(run.parents[1])]) == 0
    assert '1 runs: all is well' in capsys.readouterr().out


@pytest.mark.parametrize('name', CASES)
def test_each_finding_names_the_file_and_what_to_do(name, run, capsys):
    kind, spoil = CASES[name]
    spoil(run)
    (finding,) = examine(run)
    assert (finding.kind, finding.place.name) == (kind, name)
    assert finding.advice
    assert table.main(['doctor', '--work-dirs', str(run.parents[1])]) == (3 if kind == 'damaged' else 0)
    assert name in capsys.readouterr().out


def test_a_run_in_progress_is_left_alone(run):
    (run / 'epoch_4.pth.tmp').write_bytes(b'half')
    with locked(run):
        assert examine(run) == []


def test_an_index_that_leads_out_is_named(run):
    (run / 'checkpoints.json').write_text(json.dumps([{'file': '../x', 'iter': 1, 'sha256': None}]))
    assert [finding.place.name for finding in examine(run)] == ['checkpoints.json']


def test_a_folder_that_is_not_there(tmp_path, capsys):
    assert table.main(['doctor', '--work-dirs', str(tmp_path / 'none')]) == 2
