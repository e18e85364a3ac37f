"""A damaged line of metrics.jsonl is counted and left out; every other line counts."""

import pytest

from openmix_dm.runs.records import (
    CHECK,
    count_unreadable,
    final_numbers,
    last_record,
    read_records,
    to_line,
    trim_records,
)

RECORDS = [{'kind': 'val', 'iter': 10 * epoch, 'epoch': epoch, 'top1': 50.0 + epoch} for epoch in range(1, 4)]


@pytest.fixture
def path(tmp_path):
    (tmp_path / 'metrics.jsonl').write_text(''.join(map(to_line, RECORDS)))
    return tmp_path / 'metrics.jsonl'


def test_every_bit_of_a_line_counts(path):
    whole = path.read_bytes()
    first = whole.index(b'\n')
    for place in range(first * 8):
        content = bytearray(whole)
        content[place // 8] ^= 1 << place % 8
        path.write_bytes(content)
        found = read_records(path)
        assert found[-2:] == RECORDS[1:]
        if len(found) == 3:  # a bit of the name of the sum: the numbers are what they were
            assert {key: found[0][key] for key in RECORDS[0]} == RECORDS[0]
        else:
            assert count_unreadable(path) in (1, 2)  # two where the line was broken in two


def test_older_lines_have_no_sum(path):
    path.write_text('{"kind": "val", "iter": 1, "epoch": 1, "top1": 5.0}\n')
    assert read_records(path) == [{'kind': 'val', 'iter': 1, 'epoch': 1, 'top1': 5.0}]
    assert count_unreadable(path) == 0


def test_a_line_that_was_cut_off_is_no_damage_until_another_follows(path):
    with path.open('a') as file:
        file.write(to_line(RECORDS[0])[:20])
    assert (read_records(path), count_unreadable(path)) == (RECORDS, 0)
    with path.open('a') as file:
        file.write('\n' + to_line(RECORDS[0]))
    assert (read_records(path), count_unreadable(path)) == ([*RECORDS, RECORDS[0]], 1)


def test_a_run_that_goes_on_says_what_it_leaves_out(path, capsys):
    path.write_bytes(b'{}\n\xff\n' + path.read_bytes())
    trim_records(path, 20)
    assert '2 lines of' in capsys.readouterr().err
    assert (read_records(path), count_unreadable(path)) == (RECORDS[:2], 0)


def test_the_last_of_a_kind_is_found_from_the_end(path):
    train = [{'kind': 'train', 'iter': i, 'epoch': 1, 'loss': 1.0} for i in range(1000)]
    path.write_text(path.read_text() + ''.join(map(to_line, train)))
    assert last_record(path, 'train') == train[-1]
    assert last_record(path, 'val') == RECORDS[-1]
    assert last_record(path, 'other') is None
    assert last_record(path.with_name('none'), 'val') is None


def test_what_is_no_number_is_in_no_summary(path):
    assert final_numbers([*RECORDS, {'kind': 'val', 'top1': 'high'}])['last'] == 53.0
    assert CHECK not in read_records(path)[0]
