import errno
import logging
import os
import stat

import pytest
import torch

from openmix_dm.engine.trackers import ContinuedTensorboard
from openmix_dm.errors import ResourceError
from openmix_dm.runs import checkpoints
from openmix_dm.runs.checkpoints import tensor_bytes
from openmix_dm.runs.records import RecordFile, to_line
from openmix_dm.utils.files import (
    Dispensable,
    append_plainly,
    be_quiet_when_full,
    create_anew,
    write_atomically,
    written_by_name,
)

FULL = OSError(errno.ENOSPC, 'No space left on device')


def test_bytes_of_nested_tensors():
    assert tensor_bytes({'a': torch.zeros(3), 'b': [torch.zeros(2, dtype=torch.uint8), 5, 'x']}) == 14


def test_a_save_is_tried_once_more_after_old_rests_are_gone(tmp_path, monkeypatch):
    (tmp_path / 'older.pth.tmp').write_bytes(b'rest')
    save = torch.save

    def full_while_rests_are_there(state, file):
        file.write(b'half')
        if (tmp_path / 'older.pth.tmp').exists():
            raise FULL
        file.seek(0)
        save(state, file)

    monkeypatch.setattr(torch, 'save', full_while_rests_are_there)
    checkpoints.save_file({'w': torch.ones(3)}, tmp_path / 'a.pth')
    assert torch.equal(checkpoints.load_file(tmp_path / 'a.pth')['w'], torch.ones(3))
    assert [path.name for path in tmp_path.iterdir()] == ['a.pth']


def test_no_room_is_told_in_bytes_and_the_old_file_stays(tmp_path, monkeypatch):
    checkpoints.save_file({'w': torch.ones(3)}, tmp_path / 'a.pth')

    def full(state, file):
        raise RuntimeError('PytorchStreamWriter failed writing file')

    monkeypatch.setattr(torch, 'save', full)
    with pytest.raises(ResourceError, match=r'needs about 4,000 bytes, [\d,]+ are free'):
        checkpoints.save_file({'w': torch.zeros(1000)}, tmp_path / 'a.pth')
    assert torch.equal(checkpoints.load_file(tmp_path / 'a.pth')['w'], torch.ones(3))
    assert [path.name for path in tmp_path.iterdir()] == ['a.pth']


def test_what_can_be_done_without_is_told_once(capsys):
    dispensable = Dispensable('the diary')
    for _ in range(3):
        with dispensable.writing():
            raise FULL
    assert capsys.readouterr().err.count('the diary cannot be written') == 1
    with pytest.raises(ValueError), dispensable.writing():
        raise ValueError


def test_the_board_goes_on(tmp_path, capsys):
    (tmp_path / 'file').touch()
    board = ContinuedTensorboard(str(tmp_path / 'file' / 'board'))
    board.add_scalars({'a': 1.0, 'b': 2.0}, step=1)
    board.close()
    assert capsys.readouterr().err.count('TensorBoard cannot be written') == 1


def test_the_log_goes_on(capsys):
    handler = logging.FileHandler('/dev/full')
    be_quiet_when_full(handler)
    for _ in range(2):
        handler.emit(logging.LogRecord('a', logging.INFO, 'b', 1, 'words', None, None))
    said = capsys.readouterr().err
    assert said.count('the log cannot be written') == 1
    assert 'Traceback' not in said


def test_records_wait_for_room_and_are_all_there_then(tmp_path):
    file = tmp_path / 'none' / 'metrics.jsonl'  # no such folder: as unwritable as a full disk
    records = RecordFile(file)
    records.append({'a': 1})
    records.append({'a': 2})
    file.parent.mkdir()
    file.write_text('{"cut o')
    records.append({'a': 3})
    records.append({'a': 4})
    whole = [to_line({'a': value}).strip() for value in (1, 2, 3, 4)]
    assert file.read_text().splitlines() == ['{"cut o', *whole]


@pytest.fixture(params=[0o022, 0o027, 0o077], ids=oct)
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def by_a_library(path):
    from safetensors.torch import save_file

    with written_by_name(path) as name:
        save_file({'w': torch.ones(2)}, name)


WAYS = {
    'at once': lambda path: write_atomically(path, 'text'),
    'at once, by several processes': lambda path: write_atomically(path, b'text', shared=True),
    'line by line': lambda path: append_plainly(path).close(),
    'anew': lambda path: create_anew(path).close(),
    'a checkpoint': lambda path: checkpoints.save_file({'w': torch.ones(2)}, path),
    'by a library': by_a_library,
}


@pytest.mark.parametrize('way', WAYS)
def test_files_follow_the_umask(way, umask, tmp_path):
    WAYS[way](tmp_path / 'file')
    assert stat.S_IMODE((tmp_path / 'file').stat().st_mode) == 0o666 & ~umask
    assert [path.name for path in tmp_path.iterdir()] == ['file']


def test_what_a_library_left_half_written_is_removed_and_the_old_file_stays(tmp_path):
    (tmp_path / 'file').write_text('old')

    def half(name):
        name.write_text('half')
        raise RuntimeError

    with pytest.raises(RuntimeError), written_by_name(tmp_path / 'file') as name:
        half(name)
    assert [path.read_text() for path in tmp_path.iterdir()] == ['old']
