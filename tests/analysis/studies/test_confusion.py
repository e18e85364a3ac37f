import numpy as np
from support.study_calls import study
from support.trained_runs import digits_run, vit_run

from openmix_dm.analysis.studies.confusion import confusion_matrix, most_confused
from openmix_dm.commands.analyze import main


def test_counts_by_a_loop():
    rng = np.random.default_rng(0)
    labels, predictions = rng.integers(0, 4, 200), rng.integers(0, 4, 200)
    slow = np.zeros((4, 4), dtype=int)
    for label, prediction in zip(labels, predictions, strict=True):
        slow[label, prediction] += 1
    assert np.array_equal(confusion_matrix(labels, predictions, 4), slow)
    first = most_confused(slow, list('abcd'))[0]
    assert first['images'] == max(slow[i, j] for i in range(4) for j in range(4) if i != j)
    assert most_confused(np.diag([1, 2]), ['a', 'b']) == []


def test_one_and_the_difference_of_two(tmp_path):
    one = study('confusion', tmp_path / 'a.png', digits_run())
    assert np.sum(one['runs'][0]['matrix']) == 360
    two = study('confusion', tmp_path / 'b.png', digits_run(), vit_run())
    matrices = [np.array(row['matrix']) for row in two['runs']]
    assert np.array_equal(np.array(two['difference']), matrices[1] - matrices[0])
    assert two['runs'][0]['accuracy'] == 100 * np.trace(matrices[0]) / 360
    assert main(['confusion', *[str(digits_run())] * 3, '--out', str(tmp_path / 'c.png')]) == 2
