"""Folders that somebody has changed, or a disk: what is wrong is refused, and named; what is right goes on."""

import json
import shutil

import pytest
from support.fault_cases import CONFIG, check_failed, tool, train

from openmix_dm.runs.folder import RunFolder

pytestmark = pytest.mark.faults


@pytest.fixture(scope='module')
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp('good') / 'run'
    outcome = train(folder)
    assert outcome.code == 0, outcome.err
    return folder


@pytest.fixture
def run(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / 'run')


def swap_two_weights(path):
    """Exchange names of equal length in the directory of the zip and its headers: all of its sums stay right."""
    content = path.read_bytes()
    swapped = content.replace(b'/data/4', b'/data/#').replace(b'/data/5', b'/data/4').replace(b'/data/#', b'/data/5')
    path.write_bytes(swapped)


def test_f41_weights_exchanged(run, tmp_path):
    """Two weights of a checkpoint that was copied elsewhere are exchanged in the directory of its archive, whose sums
    stay right: exit 4 for test.py, load_from and --resume."""
    copied = tmp_path / 'elsewhere.pth'
    shutil.copy(run / 'epoch_2.pth', copied)
    swap_two_weights(copied)
    assert copied.read_bytes() != (run / 'epoch_2.pth').read_bytes()
    check_failed(tool('test', CONFIG, copied), 4, 'checkpoint', 'elsewhere.pth')
    check_failed(train(tmp_path / 'a', f'load_from={copied}'), 4, 'checkpoint', 'elsewhere.pth')
    check_failed(train(tmp_path / 'b', arguments=('--resume', copied)), 4, 'checkpoint', 'elsewhere.pth')


@pytest.mark.parametrize('content', [b'', b'{"state": "do', bytes(range(256))], ids=['empty', 'cut', 'binary'])
def test_f42_run_json_damaged(content, run):
    """run.json is empty, cut or binary: --resume says so and goes on from the checkpoints."""
    (run / 'run.json').write_bytes(content)
    longer = ('--resume', '--allow-change', 'train_cfg.max_epochs')
    outcome = train(run, 'train_cfg.max_epochs=3', arguments=longer)
    assert outcome.code == 0, outcome.err
    assert 'run.json cannot be read' in outcome.err
    assert RunFolder(run).read()['state'] == 'done'
    assert len(RunFolder(run).records('val')) == 3


@pytest.mark.parametrize('name', ['lock.json', 'train.log', 'metrics.jsonl', 'run.json', 'tensorboard'])
def test_f43_links_planted(name, tmp_path):
    """A link to a precious file is planted under the name of one of ours: exit 2 or 7, and the file stays as it is."""
    (tmp_path / 'precious').write_text('precious')
    (tmp_path / 'run').mkdir()
    (tmp_path / 'run' / name).symlink_to(tmp_path / 'precious')
    outcome = train(tmp_path / 'run')
    assert outcome.code in (2, 7), outcome.err
    assert 'Traceback' not in outcome.err
    assert (tmp_path / 'precious').read_text() == 'precious'


def test_f44_an_index_that_leads_elsewhere(run, tmp_path):
    """checkpoints.json names a file outside of its folder: exit 4, and nothing is removed."""
    (tmp_path / 'precious').write_text('precious')
    (run / 'checkpoints.json').write_text(json.dumps([{'file': str(tmp_path / 'precious'), 'iter': 0, 'sha256': None}]))
    longer = ('--resume', '--allow-change', 'train_cfg.max_epochs')
    outcome = train(run, 'train_cfg.max_epochs=3', arguments=longer)
    check_failed(outcome, 4, 'checkpoint', 'checkpoints.json')
    assert (tmp_path / 'precious').read_text() == 'precious'
