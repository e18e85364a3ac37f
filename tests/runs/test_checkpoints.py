import json

import pytest
import torch

from openmix_dm.errors import CheckpointError
from openmix_dm.runs.checkpoints import INDEX, CheckpointStore, load_file, weights_in
from openmix_dm.utils.files import write_atomically


def state(iteration):
    return {'state_dict': {'w': torch.full((1000,), float(iteration))}, 'meta': {'iter': iteration, 'epoch': iteration}}


@pytest.fixture
def store(tmp_path):
    store = CheckpointStore(tmp_path)
    for iteration in (1, 2, 3):
        store.save(state(iteration), f'epoch_{iteration}.pth', iteration, keep=2)
    return store


def newest(store):
    warnings = []
    found = store.newest(warnings.append)
    return (found[0].name if found else None), warnings


def test_keeps_the_newest_and_nothing_temporary(store):
    assert sorted(path.name for path in store.folder.iterdir()) == [INDEX, 'epoch_2.pth', 'epoch_3.pth']
    assert newest(store) == ('epoch_3.pth', [])
    assert next(iter(load_file(store.folder / 'epoch_3.pth'))) == 'state_dict'


def test_an_empty_folder_has_none(tmp_path):
    assert CheckpointStore(tmp_path).newest(print) is None


def test_the_folder_can_move(store, tmp_path_factory):
    moved = store.folder.rename(tmp_path_factory.mktemp('other') / 'place')
    assert newest(CheckpointStore(moved)) == ('epoch_3.pth', [])


def truncate(path):
    path.write_bytes(path.read_bytes()[:-100])


def flip_a_bit(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize('damage', [truncate, flip_a_bit, lambda path: path.write_bytes(b'')])
@pytest.mark.parametrize('indexed', [True, False])
def test_a_damaged_checkpoint_is_passed_over_with_a_warning(store, damage, indexed):
    if not indexed:
        (store.folder / INDEX).unlink()
    damage(store.folder / 'epoch_3.pth')
    name, warnings = newest(store)
    assert name == 'epoch_2.pth'
    assert 'epoch_3.pth' in warnings[0]
    assert warnings[1].startswith('1 iterations are lost')


def test_a_damaged_file_that_the_index_does_not_know_yet_is_told_too(store):
    (store.folder / 'iter_7.pth').write_bytes(b'half')
    name, warnings = newest(store)
    assert name == 'epoch_3.pth'
    assert 'iter_7.pth' in warnings[0]


def test_all_damaged_is_an_error_not_a_fresh_start(store):
    for path in store.folder.glob('*.pth'):
        truncate(path)
    with pytest.raises(CheckpointError, match='none of the 2'):
        store.newest(lambda text: None)


def test_a_file_that_the_index_does_not_know_yet_counts(store):
    torch.save(state(4), store.folder / 'epoch_4.pth')
    assert newest(store)[0] == 'epoch_4.pth'


def test_a_crash_in_the_middle_of_a_save_costs_nothing(store, monkeypatch):
    def crash(state, file):
        file.write(b'half')
        raise KeyboardInterrupt

    monkeypatch.setattr(torch, 'save', crash)
    with pytest.raises(KeyboardInterrupt):
        store.save(state(4), 'epoch_4.pth', 4, keep=1)
    assert newest(store) == ('epoch_3.pth', [])
    store.clean()
    assert not list(store.folder.glob('*.tmp'))


def test_older_files_go_only_after_the_new_one_is_there(store, monkeypatch):
    def crash(path, text):
        raise OSError('no space left')

    monkeypatch.setattr('openmix_dm.runs.checkpoints.write_atomically', crash)
    with pytest.raises(OSError, match='space'):
        store.save(state(4), 'epoch_4.pth', 4, keep=1)
    assert len(list(store.folder.glob('*.pth'))) == 3


def test_objects_are_refused(tmp_path):
    torch.save({'state_dict': {}, 'meta': pytest.Item}, tmp_path / 'a.pth')
    with pytest.raises(CheckpointError, match='could run code'):
        load_file(tmp_path / 'a.pth')
    torch.save([1, 2], tmp_path / 'b.pth')
    with pytest.raises(CheckpointError, match='holds a list'):
        load_file(tmp_path / 'b.pth')
    with pytest.raises(CheckpointError, match='no checkpoint'):
        load_file(tmp_path / 'c.pth')


def test_weights_with_and_without_a_wrapping():
    assert weights_in({'state_dict': {'w': 1}}) == {'w': 1}
    assert weights_in({'w': 1}) == {'w': 1}
    with pytest.raises(CheckpointError, match='EMA'):
        weights_in({'state_dict': {}}, ema=True)


def test_small_files_are_replaced_whole(tmp_path):
    write_atomically(tmp_path / 'a.json', json.dumps({'a': 1}))
    assert json.loads((tmp_path / 'a.json').read_text()) == {'a': 1}
    assert [path.name for path in tmp_path.iterdir()] == ['a.json']
