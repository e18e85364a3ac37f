import io
import sys

from openmix_dm.analysis import progress


def test_items_come_through_and_lines_are_few(monkeypatch, capsys):
    monkeypatch.setattr(progress, 'SECONDS', -1)
    assert list(progress.track(range(3), 3, 'fgsm a')) == [0, 1, 2]
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(',')[0] for line in lines] == ['fgsm a: 1 of 3', 'fgsm a: 2 of 3']
    monkeypatch.setattr(progress, 'SECONDS', 10)
    assert list(progress.track(range(3), 3, 'fgsm a')) == [0, 1, 2]
    assert capsys.readouterr().err == ''


def test_a_terminal_gets_a_bar(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, 'stderr', Terminal())
    assert list(progress.track(range(3), 3, 'fgsm a')) == [0, 1, 2]
    assert 'fgsm a' in sys.stderr.getvalue()
