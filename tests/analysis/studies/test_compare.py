import shutil

import numpy as np
import pytest
from support.study_calls import study
from support.trained_runs import digits_run, vit_run

from openmix_dm.commands.analyze import main
from openmix_dm.commands.test import main as evaluate
from openmix_dm.evaluation.predictions import SavedPredictions, read_predictions
from openmix_dm.runs.folder import RunFolder
from openmix_dm.utils.stats import t_interval


def test_files_of_test_and_the_models_themselves_agree(tmp_path, capsys):
    files = []
    for run in (digits_run(), vit_run()):
        config, checkpoint = run / 'config.py', sorted(run.glob('epoch_*.pth'))[-1]
        files.append(tmp_path / f'{run.parent.name}.npz')
        assert evaluate([str(config), str(checkpoint), '--hits', str(files[-1])]) == 0
        answers = read_predictions(files[-1])
        top1 = float(capsys.readouterr().out.splitlines()[-1].split()[1])
        assert 100 * answers.hits.mean() == pytest.approx(top1, abs=0.01)
    stored = study('compare', tmp_path / 'a.png', files[0], '--against', files[1])
    asked = study('compare', tmp_path / 'b.png', digits_run(), '--against', vit_run())
    (one,), (other,) = stored['pairs'], asked['pairs']
    for key in ('both', 'only_first', 'only_second', 'neither', 'p_value', 'difference'):
        assert one[key] == other[key]
    assert stored['over_seeds'] is None
    assert one['p_value'] < 0.01
    assert 'McNemar' in capsys.readouterr().out


def pretend(folder, seed, top1):
    """A run folder with another seed and another result than the run has."""
    shutil.copytree(digits_run(), folder)
    RunFolder(folder).update(seed=seed, final={'median_last10': top1})
    return folder


def test_seeds_are_paired(tmp_path):
    first = [pretend(tmp_path / 'mine' / f'seed{seed}', seed, 90.0 + seed) for seed in (0, 1)]
    second = [pretend(tmp_path / 'theirs' / f'seed{seed}', seed, 91.0 + 3 * seed) for seed in (1, 0)]
    record = study('compare', tmp_path / 'a.png', *first, '--against', *second)
    assert record['paired_by_seed']
    assert [(row['first'], row['second']) for row in record['pairs']] == [
        ('mine/seed0', 'theirs/seed0'),
        ('mine/seed1', 'theirs/seed1'),
    ]
    expected = t_interval([1.0, 3.0])
    assert record['over_seeds']['mean'] == 2
    assert record['over_seeds']['high'] == pytest.approx(expected.high)


def test_mistakes_are_refused(tmp_path, capsys):
    labels = np.arange(5)
    SavedPredictions(labels, labels).save(tmp_path / 'a.npz')
    SavedPredictions(labels, labels + 1).save(tmp_path / 'b.npz')
    a, b, out = str(tmp_path / 'a.npz'), str(tmp_path / 'b.npz'), ('--out', str(tmp_path / 'c.png'))
    assert main(['compare', a, '--against', b, *out]) == 2
    assert 'labels differ' in capsys.readouterr().err
    assert main(['compare', a, '--against', a, a, *out]) == 2
    assert main(['compare', a, str(digits_run()), '--against', a, a, *out]) == 2
    assert evaluate([str(digits_run() / 'config.py'), str(digits_run() / 'epoch_3.pth'), '--hits', 'a.txt']) == 2
