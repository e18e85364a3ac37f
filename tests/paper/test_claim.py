import subprocess
import sys

from openmix_dm.paper.claim import CLAIM, claim, claimed


def test_one_claim_at_a_time(tmp_path):
    assert claimed(tmp_path) is None
    first = claim(tmp_path)
    assert first is not None
    assert claimed(tmp_path) is True
    assert claim(tmp_path) is None
    first.release()
    assert claimed(tmp_path) is False
    second = claim(tmp_path)
    assert second is not None
    second.release()


def test_a_child_keeps_the_claim(tmp_path):
    held = claim(tmp_path)
    child = subprocess.Popen(
        [sys.executable, '-c', 'input()'], stdin=subprocess.PIPE, pass_fds=(held.handle,), text=True
    )
    held.release()
    assert claim(tmp_path) is None
    child.communicate('\n')
    assert claimed(tmp_path) is False


def test_of_another_node_nothing_can_be_told(tmp_path):
    (tmp_path / CLAIM).write_text('{"node": "somewhere-else", "pid": 1}')
    assert claimed(tmp_path) is None
    (tmp_path / CLAIM).write_text('{"no')
    assert claimed(tmp_path) is None
