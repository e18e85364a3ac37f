"""Progress of long work: few lines in a file, a bar on a terminal, nothing on other ranks."""

import io
import math
import re
import sys

from openmix_dm.utils.progress import Progress, duration, track


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_short_work_says_nothing(capsys):
    assert list(track(range(3), 3, 'fgsm a')) == [0, 1, 2]
    assert capsys.readouterr().err == ''


def test_long_work_says_how_far_it_is_and_how_long_it_took(capsys):
    with Progress('fgsm a', 2000, seconds=0) as progress:
        progress.advance(1000)
        progress.advance(1000)
    lines = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r'fgsm a: 1,000 of 2,000 \(50%\)  eta \d:\d\d:\d\d', lines[0])
    assert re.fullmatch(r'fgsm a: 2,000 of 2,000, took \d:\d\d:\d\d', lines[1])
    assert len(lines) == 2


def test_lines_are_few(capsys, monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr('time.monotonic', lambda: float(next(clock)))
    with Progress('work', 100, seconds=30) as progress:
        for _ in range(100):
            progress.advance()
    assert len(capsys.readouterr().err.splitlines()) < 12


def test_numbers_and_lines_that_stay(capsys):
    with Progress('training', 300, seconds=math.inf) as progress:
        progress.update(50)
        progress.note('epoch 2/10  loss 0.5')
        progress.say('epoch 2/10  top1 98.77')
    first, second = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r'epoch 2/10  loss 0.5  eta \d:\d\d:\d\d', first)
    assert second == 'epoch 2/10  top1 98.77'


def test_the_time_left_counts_from_where_a_run_goes_on(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr('time.monotonic', lambda: clock[0])
    progress = Progress('training', 300, done=200, seconds=math.inf).start()
    assert progress.time_left() == ''
    progress.done, clock[0] = 250, 10.0
    assert progress.time_left() == '  eta 0:00:10'  # 50 in 10 s, 50 are left


def test_a_terminal_gets_a_bar(monkeypatch):
    monkeypatch.setattr(sys, 'stderr', terminal := Terminal())
    assert list(track(range(3), 3, 'fgsm a')) == [0, 1, 2]
    assert 'fgsm a' in terminal.getvalue()


def test_a_terminal_gets_bars_of_parts_and_lines_above(monkeypatch):
    monkeypatch.setattr(sys, 'stderr', terminal := Terminal())
    with Progress('runs', 2) as progress:
        progress.show_parts({'digits [a]': (1, 4), 'digits b': (0, 0)})
        progress.show_parts({'digits b': (2, 4)})
        progress.note('loss 0.25')
        progress.say('top1 [98.77]')
    assert 'top1 [98.77]' in terminal.getvalue()
    assert 'digits b' in terminal.getvalue()
    assert 'loss 0.25' in terminal.getvalue()


def test_other_ranks_show_nothing(capsys):
    with Progress('training', 300, seconds=0, shown=False) as progress:
        progress.advance(10)
        progress.note('loss')
        progress.say('top1')
    assert capsys.readouterr().err == ''


def test_lengths_of_time():
    assert [duration(seconds) for seconds in (0, 59.6, 3725)] == ['0:00:00', '0:01:00', '1:02:05']
