import json

import pytest

from openmix_dm.utils.sealed import SEAL, read_sealed, seal

VALUES = {'state': 'done', 'final': {'best': 91.5, 3: 1e-300}, 'list': (1, 2), 'none': None, 'text': 'ä'}


def test_every_bit_counts(tmp_path):
    path = tmp_path / 'a.json'
    path.write_text(json.dumps(seal(VALUES), indent=1))
    whole, values = path.read_bytes(), read_sealed(path)
    assert values == json.loads(json.dumps(VALUES))
    for place in range(len(whole) * 8):
        content = bytearray(whole)
        content[place // 8] ^= 1 << place % 8
        path.write_bytes(content)
        try:
            found = read_sealed(path)
        except ValueError:
            continue
        assert {key: found[key] for key in values} == values  # white space, or the name of the hash


def test_sealing_again_is_the_same():
    assert seal(seal(VALUES)) == seal(VALUES)


@pytest.mark.parametrize('content', [b'', b'  ', b'[]', b'3', b'{', b'\xff', b'[' * 10**5])
def test_what_is_no_such_file_is_a_value_error(content, tmp_path):
    (tmp_path / 'a.json').write_bytes(content)
    with pytest.raises(ValueError, match='it '):
        read_sealed(tmp_path / 'a.json')


def test_older_files_have_no_hash_unless_one_is_asked_for(tmp_path):
    (tmp_path / 'a.json').write_text('{"a": 1}')
    assert read_sealed(tmp_path / 'a.json') == {'a': 1}
    with pytest.raises(ValueError, match='own hash'):
        read_sealed(tmp_path / 'a.json', sealed=True)
    assert SEAL not in read_sealed(tmp_path / 'a.json')
