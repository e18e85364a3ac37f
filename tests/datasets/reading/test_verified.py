import hashlib

import pytest

from openmix_dm.datasets.reading import verified
from openmix_dm.datasets.reading.verified import has_hash


@pytest.fixture
def path(tmp_path):
    (tmp_path / 'images.npy').write_bytes(b'images' * 1000)
    return tmp_path / 'images.npy'


@pytest.fixture
def hashed(monkeypatch):
    """Count how often a file was hashed."""
    calls, real = [], verified.sha256_of
    monkeypatch.setattr(verified, 'sha256_of', lambda path: calls.append(path) or real(path))
    return calls


def test_hashed_once_a_day_while_it_stays(path, hashed, monkeypatch):
    right = hashlib.sha256(path.read_bytes()).hexdigest()
    assert has_hash(path, right)
    assert has_hash(path, right)
    assert len(hashed) == 1
    now = verified.time.time()
    for moment, count in ((now + 90_000, 2), (now - 5, 3)):  # a day later; a clock that was wrong
        monkeypatch.setattr(verified.time, 'time', lambda moment=moment: moment)
        assert has_hash(path, right)
        assert len(hashed) == count


def test_a_change_is_noticed(path, hashed):
    right = hashlib.sha256(path.read_bytes()).hexdigest()
    assert has_hash(path, right)
    assert not has_hash(path, 'another')
    assert not has_hash(path, None)
    path.write_bytes(b'Images' * 1000)
    assert not has_hash(path, right)


def test_a_note_that_is_damaged_or_made_up_is_not_believed(path, hashed):
    right = hashlib.sha256(path.read_bytes()).hexdigest()
    assert has_hash(path, right)
    note = path.parent / '.openmix_dm' / 'images.npy.verified'
    for content in (b'', b'{}', note.read_bytes().replace(b'6000', b'6001'), b'[]', b'\xff'):
        note.write_bytes(content)
        before = len(hashed)
        assert has_hash(path, right)
        assert len(hashed) == before + 1


def test_nothing_is_written_through_a_link(path, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp('elsewhere')
    (path.parent / '.openmix_dm').symlink_to(elsewhere)
    assert has_hash(path, hashlib.sha256(path.read_bytes()).hexdigest())
    assert not list(elsewhere.iterdir())
