import contextlib
import json
import subprocess

import pytest

from openmix_dm.config import load as configs
from openmix_dm.errors import ConfigError
from openmix_dm.runs import folder as runs_folder
from openmix_dm.runs.folder import RunFolder
from openmix_dm.runs.records import METRICS, summarise, to_line, trim_records


@pytest.fixture
def folder(tmp_path, root):
    folder = RunFolder(tmp_path / 'run')
    folder.start(configs.load_config(root / 'configs/digits/r8_mixup_dm.py'), seed=3, world_size=2)
    return folder


def record(folder, *lines):
    with (folder.path / METRICS).open('a') as file:
        file.writelines(to_line(line) for line in lines)


def val(epoch, top1, **more):
    return {'kind': 'val', 'iter': 10 * epoch, 'epoch': epoch, 'top1': top1, **more}


def test_start_writes_what_the_run_is(folder):
    run = folder.read()
    assert (run['state'], run['seed'], run['world_size']) == ('running', 3, 2)
    assert configs.load_config(folder.path / 'config.py').global_batch_size == 100


def test_commits_of_all_starts_are_kept(folder, root, monkeypatch):
    git = ['git', '-C', root, 'rev-parse', 'HEAD']
    (commit,) = folder.read()['commits']
    assert commit.removesuffix(' with changes') == subprocess.run(git, capture_output=True, text=True).stdout.strip()
    monkeypatch.setattr(runs_folder, 'source_commit', lambda: 'another')
    for _ in range(2):
        folder.start(configs.load_config(root / 'configs/digits/r8_mixup_dm.py'), seed=3, world_size=2)
    assert folder.read()['commits'] == [commit, 'another']


def test_a_used_folder_is_refused(folder, tmp_path):
    with pytest.raises(ConfigError, match='--resume'):
        folder.check_unused()
    RunFolder(tmp_path / 'new').check_unused()


def test_a_start_that_came_to_nothing_is_no_run(folder, root):
    """Out of memory in the first iteration: the next start, with a smaller batch, may have the folder."""
    changed = configs.load_config(root / 'configs/digits/r8_mixup_dm.py', ['global_batch_size=50'])
    first = folder.read()['id']
    assert folder.changes(changed)
    folder.finish('failed: ResourceError: out of memory', 3600.0, 7)
    folder.check_unused()
    folder.check_same(changed)
    folder.start(changed, seed=4, world_size=1)
    run = folder.read()
    assert configs.load_config(folder.path / 'config.py').global_batch_size == 50
    assert (run['state'], run['seed'], run['resumed'], run['hours_before']) == ('running', 4, [], 0.0)
    assert run['id'] != first
    assert 'end' not in run


@pytest.mark.parametrize('left', [METRICS, 'iter_1.pth', 'epoch_1.pth', 'best_top1.pth'])
def test_a_failed_run_with_a_number_or_weights_is_a_run(folder, root, left):
    folder.finish('failed: DataError: a damaged image', 60.0, 3)
    (folder.path / left).touch()
    with pytest.raises(ConfigError, match='holds a run already'):
        folder.check_unused()
    with pytest.raises(ConfigError, match='the config differs'):
        folder.check_same(configs.load_config(root / 'configs/digits/r8_mixup_dm.py', ['global_batch_size=50']))
    folder.start(configs.load_config(root / 'configs/digits/r8_mixup_dm.py'), seed=3, world_size=2)
    assert len(folder.read()['resumed']) == 1


def test_a_run_that_was_stopped_before_its_first_number_is_a_run(folder):
    folder.finish('preempted', 1.0, 75)
    with pytest.raises(ConfigError, match='holds a run already'):
        folder.check_unused()


def test_final_numbers(folder):
    record(folder, *(val(epoch, float(epoch % 7), ema_top1=50.0 + epoch) for epoch in range(1, 21)))
    final = folder.final()
    assert final['best'] == 6
    assert final['last'] == 20 % 7
    last = sorted(epoch % 7 for epoch in range(11, 21))
    assert final['median_last10'] == (last[4] + last[5]) / 2
    assert final['ema_median_last10'] == 65.5


def test_median_of_fewer_than_ten():
    assert summarise([1.0, 5.0, 3.0]) == {'median_last10': 3.0, 'best': 5.0, 'last': 3.0}


def test_trim_forgets_what_comes_after(folder):
    record(folder, val(1, 1.0), val(2, 2.0), val(3, 3.0))
    trim_records(folder.path / METRICS, 20)
    assert [line['epoch'] for line in folder.records()] == [1, 2]


def test_a_line_that_a_crash_cut_off_is_left_out(folder):
    record(folder, val(1, 1.0))
    with (folder.path / METRICS).open('a') as file:
        file.write('{"kind": "val", "it')
    assert len(folder.records()) == 1


def test_lines_are_strict_json():
    line = to_line({'kind': 'train', 'loss': float('nan'), 'lr': 0.1})
    found = json.loads(line, parse_constant=lambda name: pytest.fail(name))
    assert found.pop('crc')
    assert found == {'kind': 'train', 'loss': None, 'lr': 0.1}


def test_hours_add_up_over_continuations(folder, root):
    folder.finish('preempted', 1800)
    folder.start(configs.load_config(root / 'configs/digits/r8_mixup_dm.py'), seed=3, world_size=2)
    folder.finish('done', 1800)
    run = folder.read()
    assert run['hours'] == pytest.approx(1.0)
    assert len(run['resumed']) == 1
    assert run['state'] == 'done'


def damaged(path):
    content = bytearray(path.read_bytes())
    content[content.index(b'3')] ^= 1
    path.write_bytes(content)


def test_sums_of_config_and_metrics(folder):
    record(folder, val(1, 31.0), val(2, 32.0))
    folder.finish('done', 10)
    assert (folder.config_problem(), folder.metrics_problem()) == ('', '')
    whole = (folder.path / METRICS).read_text()
    (folder.path / METRICS).write_text(whole.splitlines()[0] + '\n')
    assert 'lines are missing' in folder.metrics_problem()
    (folder.path / METRICS).write_text(whole)
    damaged(folder.path / METRICS)
    assert '1 lines of metrics.jsonl are damaged' in folder.metrics_problem()
    damaged(folder.path / 'config.py')
    assert 'was changed' in folder.config_problem()


@pytest.mark.parametrize('content', [b'', b'{"state": "do', b'\xff\x00', b'[]', b'{"state": 3}', b'{"final": [1]}'])
def test_a_damaged_run_json_is_said_and_written_anew(folder, content, root, capsys):
    (folder.path / 'run.json').write_bytes(content)
    values, problem = folder.open()
    assert values == {}
    assert 'run.json cannot be read' in problem
    folder.check_place()
    assert 'goes on from its checkpoints' in capsys.readouterr().err
    folder.start(configs.load_config(root / 'configs/digits/r8_mixup_dm.py'), seed=3, world_size=2)
    assert folder.read()['state'] == 'running'


def test_no_kill_makes_a_good_run_look_damaged(folder, root, monkeypatch):
    """Stop after each of the writes of a start and of an end: all that is there is taken for whole."""
    record(folder, val(1, 31.0))
    config = configs.load_config(root / 'configs/digits/r8_mixup_dm.py', ['train_cfg.max_epochs=7'])
    write = runs_folder.write_atomically

    def starts_and_ends():
        folder.finish('preempted', 10)
        folder.start(config, seed=3, world_size=2)
        trim_records(folder.path / METRICS, 0)
        record(folder, val(1, 33.0))
        folder.finish('done', 10)

    for allowed in range(8):
        left = iter(range(allowed))

        def kill(path, text, left=left):
            if next(left, None) is None:
                raise KeyboardInterrupt
            write(path, text)

        monkeypatch.setattr(runs_folder, 'write_atomically', kill)
        with contextlib.suppress(KeyboardInterrupt):
            starts_and_ends()
        assert (folder.open()[1], folder.config_problem(), folder.metrics_problem()) == ('', '', '')
    assert folder.read()['state'] == 'done'
