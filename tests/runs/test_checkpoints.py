import json

import pytest
import torch

from openmix_dm.errors import CheckpointError
from openmix_dm.runs.checkpoints import INDEX, CheckpointStore, load_file, usable, weights_in
from openmix_dm.utils.files import sha256_of, write_atomically


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


def test_a_checkpoint_is_checked_wherever_it_lies(store, tmp_path_factory):
    copied = tmp_path_factory.mktemp('other') / 'weights.pth'
    copied.write_bytes((store.folder / 'epoch_3.pth').read_bytes())
    assert load_file(copied)['meta']['iter'] == 3
    flip_a_bit(copied)
    with pytest.raises(CheckpointError, match=r'weights\.pth is damaged'):
        load_file(copied)


def test_one_without_a_hash_is_told_once(tmp_path, capsys):
    torch.save(state(1), tmp_path / 'foreign.pth')
    for _ in range(2):
        load_file(tmp_path / 'foreign.pth')
    assert capsys.readouterr().err.count('carries no hash') == 1
    CheckpointStore(tmp_path).save(state(1), 'epoch_1.pth', 1, keep=None)
    load_file(tmp_path / 'epoch_1.pth')
    assert capsys.readouterr().err == ''


def test_a_damaged_index_is_done_without(store):
    index = store.folder / INDEX
    whole = index.read_bytes()
    for place in range(0, len(whole) * 8, 3):
        content = bytearray(whole)
        content[place // 8] ^= 1 << place % 8
        index.write_bytes(content)
        assert [(entry.file, entry.iter) for entry in store.entries()] == [('epoch_2.pth', 2), ('epoch_3.pth', 3)]
    index.write_bytes(b'')
    store.save(state(4), 'epoch_4.pth', 4, keep=2)
    assert [entry.file for entry in store.entries()] == ['epoch_3.pth', 'epoch_4.pth']


def test_an_index_of_an_older_version_has_hashes_of_files(store, capsys):
    torch.save(state(4), store.folder / 'epoch_4.pth')
    listed = [{'file': 'epoch_4.pth', 'iter': 4, 'sha256': sha256_of(store.folder / 'epoch_4.pth')}]
    (store.folder / INDEX).write_text(json.dumps(listed))
    assert newest(store) == ('epoch_4.pth', [])
    assert capsys.readouterr().err == ''
    flip_a_bit(store.folder / 'epoch_4.pth')
    assert newest(store)[0] == 'epoch_3.pth'


@pytest.mark.parametrize('weights', [None, 3, [1], {3: torch.ones(2)}])
def test_what_holds_no_named_weights_is_said(weights):
    with pytest.raises(CheckpointError, match='no named weights'):
        weights_in({'state_dict': weights})


def test_a_checkpoint_is_blamed_for_what_it_makes_go_wrong():
    for error in (KeyError('lr'), TypeError('x'), RuntimeError('y'), AttributeError('z')):
        with pytest.raises(CheckpointError, match=r'a\.pth does not fit'), usable('a.pth'):
            raise error
    with pytest.raises(KeyboardInterrupt), usable('a.pth'):
        raise KeyboardInterrupt
