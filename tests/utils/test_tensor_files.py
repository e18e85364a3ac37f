"""Files of tensors: whatever is changed, cut or made up in one is refused, in one way."""

import io
import pickle
import random
import zipfile

import pytest
import torch

from openmix_dm.utils.tensor_files import CONTENT_SUM, content_hash, read_tensor_file

STATE = {
    'state_dict': {'a.weight': torch.arange(12.0).reshape(3, 4), 'b.weight': torch.ones(3, 4), 'n': torch.tensor(3)},
    'optimizer': {'state': {0: {'step': torch.tensor(2.0), 'half': torch.ones(2, dtype=torch.bfloat16)}}},
    'meta': {'iter': 5, 'lr': 0.1, 'name': 'x', 'none': None, 'flags': [True, False]},
}


def write(path, state=STATE):
    torch.save({**state, CONTENT_SUM: content_hash(state)}, path)
    return path


def test_what_was_saved_comes_back_verified(tmp_path):
    state, verified = read_tensor_file(write(tmp_path / 'a.pth'))
    assert verified
    assert content_hash(state) == content_hash(STATE)
    assert list(state) == list(STATE)


@pytest.mark.parametrize(
    'change',
    [
        lambda s: s['state_dict'].update({'a.weight': s['state_dict']['b.weight']}),
        lambda s: s['state_dict']['a.weight'].view(torch.int32)[0, 0].bitwise_xor_(1),
        lambda s: s['state_dict'].update({'a.weight': s['state_dict']['a.weight'].reshape(4, 3)}),
        lambda s: s['state_dict'].update({'a.weight': s['state_dict']['a.weight'].view(torch.int32)}),
        lambda s: s['state_dict'].update({'c.weight': s['state_dict'].pop('a.weight')}),
        lambda s: s['meta'].update(iter=6),
        lambda s: s['meta'].update(iter='5'),
        lambda s: s['meta'].update(flags=[True, 0]),
        lambda s: s['meta'].pop('none'),
        lambda s: s['optimizer']['state'].update({1: s['optimizer']['state'].pop(0)}),
    ],
)
def test_every_change_changes_the_hash(change):
    file = io.BytesIO()
    torch.save(STATE, file)
    file.seek(0)
    changed = torch.load(file, weights_only=True)
    assert content_hash(changed) == content_hash(STATE)
    change(changed)
    assert content_hash(changed) != content_hash(STATE)


def test_the_order_of_names_does_not_count():
    assert content_hash({'a': 1, 'b': 2}) == content_hash({'b': 2, 'a': 1})


def test_entries_that_the_directory_has_swapped_are_noticed(tmp_path):
    """The sums of the zip are right, and the weights are those of another layer."""
    path = write(tmp_path / 'a.pth')
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        entries = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    first, second = [name for name, data in entries.items() if len(data) == 48 and '/data/' in name]
    with zipfile.ZipFile(path, 'w') as archive:
        for name, data in entries.items():
            archive.writestr({first: second, second: first}.get(name, name), data)
    assert path.read_bytes() != content
    assert torch.equal(torch.load(path, weights_only=True)['state_dict']['b.weight'], STATE['state_dict']['a.weight'])
    with pytest.raises(ValueError, match='its own hash'):
        read_tensor_file(path)


def test_flipped_bits_and_cuts_change_nothing_unnoticed(tmp_path):
    path, dice = write(tmp_path / 'a.pth'), random.Random(0)
    whole, right = path.read_bytes(), content_hash(STATE)
    for _ in range(400):
        content = bytearray(whole)
        if dice.random() < 0.8:
            content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
        else:
            del content[dice.randrange(len(content)) :]
        path.write_bytes(content)
        try:
            state, _ = read_tensor_file(path)
        except ValueError:
            continue
        assert content_hash(state) == right  # a bit that nothing depends on


def test_a_file_without_a_hash_has_the_sums_of_its_format_checked(tmp_path):
    path = tmp_path / 'a.pth'
    torch.save(STATE, path)
    assert not read_tensor_file(path)[1]
    content = bytearray(path.read_bytes())
    content[content.index(STATE['state_dict']['a.weight'].numpy().tobytes()) + 5] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match='check sum'):
        read_tensor_file(path)


@pytest.mark.fault(
    50,
    'A checkpoint that is a zip bomb is not unpacked.',
)
def test_an_archive_that_unpacks_to_more_than_it_has_is_not_unpacked(tmp_path):
    path = tmp_path / 'bomb.pth'
    torch.save({'w': torch.zeros(10**6)}, path)
    with zipfile.ZipFile(path) as archive:
        entries = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    assert path.stat().st_size < 10**5
    with pytest.raises(ValueError, match='unpack to more'):
        read_tensor_file(path)


def deep(levels=100_000):
    inner = b''.join((b'\x80\x02', b']' * levels, b'a' * (levels - 1), b'.'))
    return pickle.dumps(1) and inner


@pytest.mark.parametrize(
    'content',
    [
        {'w': torch.zeros(1).expand(10**12)},
        {'w': torch.zeros(2, 2).to_sparse()},
        {'w': torch.zeros(5, device='meta')},
        {'w': torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.qint8)},
    ],
    ids=['absurdly large', 'sparse', 'meta', 'quantised'],
)
def test_tensors_without_plain_values_are_refused(content, tmp_path):
    torch.save(content, tmp_path / 'a.pth')
    with pytest.raises(ValueError, match='cannot be loaded as plain data'):
        read_tensor_file(tmp_path / 'a.pth')


@pytest.mark.parametrize('content', [b'', b'PK\x03\x04', b'\x80\x02.', b'\xff' * 100, deep(), b'{"a": 1}'])
def test_what_is_no_such_file_is_refused(content, tmp_path):
    (tmp_path / 'a.pth').write_bytes(content)
    with pytest.raises(ValueError, match=r'cannot be|damaged'):
        read_tensor_file(tmp_path / 'a.pth')
