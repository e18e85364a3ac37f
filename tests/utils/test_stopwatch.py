import time

import pytest

from openmix_dm.utils.stopwatch import Stopwatch


def test_adds_up_and_starts_anew():
    watch = Stopwatch()
    for _ in range(2):
        with watch.span('mix'):
            time.sleep(0.01)
    watch.add('data', 0.5)
    seconds = watch.read()
    assert seconds['mix'] >= 0.02
    assert seconds['data'] == pytest.approx(0.5)
    assert watch.read() == {}
