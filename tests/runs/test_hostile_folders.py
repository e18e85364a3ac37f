"""A run folder of anybody is data: it names no code, leads nowhere else, and nothing is removed by its wish."""

import json
import os
import shutil

import pytest
import torch
from support.table_folders import write_run
from support.trained_runs import digits_run

import openmix_dm
from openmix_dm.commands import table
from openmix_dm.config.plain import check_names, read_plain_values
from openmix_dm.errors import CheckpointError, ConfigError
from openmix_dm.runs.checkpoints import INDEX, CheckpointStore
from openmix_dm.runs.folder import RunFolder
from openmix_dm.runs.lock import LOCK, held, locked
from openmix_dm.runs.records import RecordFile, read_records
from openmix_dm.tables.catalogue import find_table
from openmix_dm.tables.plan import runs_of
from openmix_dm.utils.files import others_can_write, read_plainly, write_atomically


@pytest.fixture
def copy(tmp_path):
    return shutil.copytree(digits_run(), tmp_path / 'run')


@pytest.fixture
def elsewhere(tmp_path):
    path = tmp_path / 'elsewhere'
    path.write_text('precious')
    return path


@pytest.mark.fault(
    37,
    "A config.py of a folder that names a package of the folder's author (`_scope_`): openmix_dm.load "
    'refuses it, and imports nothing.',
)
def test_a_scope_is_refused_and_not_imported(copy, tmp_path, monkeypatch):
    (tmp_path / 'modelz').mkdir()
    (tmp_path / 'modelz' / '__init__.py').write_text('')
    (tmp_path / 'modelz' / 'registry.py').write_text(f'open({str(tmp_path / "marker")!r}, "w")\n')
    monkeypatch.syspath_prepend(tmp_path)
    good = (copy / 'config.py').read_text()
    (copy / 'config.py').write_text(good.replace("'type': 'ThinResNet'", "'type': 'ThinResNet', '_scope_': 'modelz'"))
    with pytest.raises(ConfigError, match="_scope_ 'modelz'"):
        openmix_dm.load(copy)
    assert not (tmp_path / 'marker').exists()


@pytest.mark.parametrize('kind', ['torchvision/ColorJitter', 'CutMix', 'mine.nets.Net'])
def test_registered_names_and_those_of_trusted_packages_pass(kind):
    check_names({'a': [{'type': kind, '_scope_': 'mine'}]}, 'config.py', {'mine'})


@pytest.mark.parametrize('kind', ['os.system', 'a/b/c', '/etc/passwd', '../x', 'x y', '', 3, ['a']])
def test_other_names_are_refused_at_any_depth(kind):
    with pytest.raises(ConfigError, match='registered classes'):
        check_names({'a': [({'b': {'type': kind}},)]}, 'config.py', ())


@pytest.mark.parametrize(
    'text',
    [
        b'\xff\xfe',
        b'a = 1\0',
        b'a = {[]: 1}\n',
        b'a = ' + b'-' * 100_000 + b'1\n',
        b'a = ' + b'[' * 5000,
        b'a, b = 1, 2\n',
    ],
)
def test_odd_configs_are_refused_in_one_way(text, tmp_path):
    (tmp_path / 'config.py').write_bytes(text)
    with pytest.raises(ConfigError, match=r'config\.py is not the plain config'):
        read_plain_values(tmp_path / 'config.py')


@pytest.mark.fault(
    37,
    'A config.py of a run folder with a line of code: status, collect and run --dry-run read it as data '
    'and do not run it.',
)
def test_a_table_reads_its_run_folders_and_runs_none(tmp_path, capsys):
    run = runs_of(find_table('digits'), tmp_path)[0]
    write_run(run)
    marker = tmp_path / 'marker'
    with (run.folder / 'config.py').open('a') as file:
        file.write(f'open({str(marker)!r}, "w")\n')
    for command in ('status', 'collect'):
        assert table.main([command, 'digits', '--work-dirs', str(tmp_path)]) == 0
    assert table.main(['run', 'digits', '--dry-run', '--work-dirs', str(tmp_path)]) in (0, 2)
    assert not marker.exists()


@pytest.mark.parametrize('name', ['../elsewhere', '/elsewhere', '..', '', 'a/b.pth', 'a\0b', 3])
def test_an_index_that_leads_out_of_its_folder_is_refused_and_removes_nothing(name, tmp_path, elsewhere):
    folder = tmp_path / 'run'
    folder.mkdir()
    named = str(elsewhere) if name == '/elsewhere' else name
    (folder / INDEX).write_text(json.dumps([{'file': named, 'iter': 1, 'sha256': None}]))
    store = CheckpointStore(folder)
    with pytest.raises(CheckpointError, match=rf'{INDEX} lists'):
        store.newest(print)
    with pytest.raises(CheckpointError, match=rf'{INDEX} lists'):
        store.save({'state_dict': {'w': torch.ones(2)}, 'meta': {'iter': 5}}, 'epoch_1.pth', 5, keep=1)
    assert elsewhere.read_text() == 'precious'


def test_no_temporary_file_is_written_through_a_link(tmp_path, elsewhere):
    for name in ('run.json', 'epoch_1.pth'):
        (tmp_path / f'{name}.tmp').symlink_to(elsewhere)
    write_atomically(tmp_path / 'run.json', 'new')
    CheckpointStore(tmp_path).save({'meta': {'iter': 1}}, 'epoch_1.pth', 1, keep=1)
    assert (tmp_path / 'run.json').read_text() == 'new'
    assert elsewhere.read_text() == 'precious'


def test_records_do_not_follow_a_link(tmp_path, elsewhere, capsys):
    (tmp_path / 'metrics.jsonl').symlink_to(elsewhere)
    RecordFile(tmp_path / 'metrics.jsonl').append({'kind': 'val'})
    assert 'is a link' in capsys.readouterr().err
    assert elsewhere.read_text() == 'precious'


def test_a_lock_does_not_follow_a_link(tmp_path, elsewhere):
    (tmp_path / LOCK).symlink_to(elsewhere)
    with pytest.raises(openmix_dm.errors.ResourceError), locked(tmp_path):
        pass
    assert elsewhere.read_text() == 'precious'


def test_a_checkpoint_that_is_a_link_is_passed_over(copy, tmp_path):
    (copy / 'epoch_3.pth').rename(tmp_path / 'moved.pth')
    (copy / 'epoch_3.pth').symlink_to(tmp_path / 'moved.pth')
    said = []
    assert CheckpointStore(copy).newest(said.append)[0].name == 'epoch_2.pth'
    assert 'epoch_3.pth is a link' in said[0]


@pytest.mark.parametrize('name', ['train.log', 'metrics.jsonl', 'run.json', 'tensorboard'])
def test_links_in_place_of_our_files_are_refused_before_anything_is_written(name, tmp_path, elsewhere):
    (tmp_path / name).symlink_to(elsewhere)
    with pytest.raises(ConfigError, match=rf'{name} is a link'):
        RunFolder(tmp_path).check_place()


def test_pipes_and_sizes_that_cannot_be_are_refused(tmp_path):
    os.mkfifo(tmp_path / 'pipe')
    with pytest.raises(OSError, match='no plain file'):
        read_plainly(tmp_path / 'pipe')
    with (tmp_path / 'large').open('wb') as file:
        file.truncate(2**40)
    with pytest.raises(OSError, match='expected at most'):
        read_plainly(tmp_path / 'large')


def test_a_folder_that_others_can_write_is_told(tmp_path, capsys):
    tmp_path.chmod(0o755)
    RunFolder(tmp_path).check_place()
    assert capsys.readouterr().err == ''
    tmp_path.chmod(0o777)
    assert others_can_write(tmp_path)
    RunFolder(tmp_path).check_place()
    assert 'others can write' in capsys.readouterr().err
    tmp_path.chmod(0o1777)
    assert not others_can_write(tmp_path)


@pytest.mark.parametrize('content', ['[]', '3', 'nothing', '[' * 100_000, ''])
def test_an_odd_lock_is_a_lock_of_nobody(content, tmp_path):
    (tmp_path / LOCK).write_text(content)
    assert held(tmp_path) is True  # fresh: somebody may be about to write it
    os.utime(tmp_path / LOCK, (0, 0))
    assert held(tmp_path) is False
    with locked(tmp_path):
        pass


def test_what_is_no_record_is_left_out(tmp_path):
    (tmp_path / 'm').write_bytes(
        b'[]\n3\nnull\n\xff\xfe\n{"kind": "val", "iter": 1, "epoch": 1}\n{"a": 1}\n' + b'[' * 10**5
    )
    assert read_records(tmp_path / 'm') == [{'kind': 'val', 'iter': 1, 'epoch': 1}]
