import re

from openmix_dm.engine.display import Bar, Lines, describe, duration, make_display

TRAIN = {
    'kind': 'train', 'iter': 50, 'epoch': 2, 'lr': 0.1, 'loss_cls': 0.5, 'loss': 0.5, 'images_per_s': 1234.5,
}  # fmt: skip
VAL = {'kind': 'val', 'iter': 60, 'epoch': 2, 'top1': 98.7654, 'top5': 100.0}


def test_records_in_words():
    assert describe(TRAIN, 10) == 'epoch 2/10  iter 50  lr 0.1  loss 0.5000  1234 images/s'
    assert describe({**TRAIN, 'loss_mixer': 0.25}, 10).count('loss') == 3
    assert describe(VAL, 10) == 'epoch 2/10  validation  top1 98.77  top5 100.00'
    assert duration(3725) == '1:02:05'


def test_plain_lines_without_a_terminal(capsys):
    display = make_display(enabled=True)
    assert isinstance(display, Lines)
    display.start(epochs=10, iterations=300, done=0)
    display.show(TRAIN)
    display.show(VAL)
    lines = capsys.readouterr().err.splitlines()
    assert re.search(r'eta \d:\d\d:\d\d$', lines[0])
    assert lines[1].endswith('top5 100.00')


def test_a_bar_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr('sys.stderr.isatty', lambda: True)
    display = make_display(enabled=True)
    assert isinstance(display, Bar)
    display.start(epochs=10, iterations=300, done=0)
    display.advance(50)
    display.show(TRAIN)
    display.show(VAL)
    display.stop()
    assert 'top1 98.77' in capsys.readouterr().err


def test_other_ranks_show_nothing(capsys):
    display = make_display(enabled=False)
    display.start(10, 300, 0)
    display.show(TRAIN)
    display.stop()
    assert capsys.readouterr().err == ''
